import { countsAsAway } from "../../shared/database/away.js";
import type { Log } from "../../shared/log/log.js";
import { singleFlight } from "../../shared/process/single-flight.js";
import { stackOf } from "../../shared/process/user-error.js";

/** A scraper waits for ten seconds by default, and all else should reach it when the database does not answer. */
const answerWithinMs = 3_000;

/**
 * What own metrics ask the database at every scrape: all of one scrape ask at once, and get the same answer.
 *
 * @returns null where the database does not answer, or not in time: nothing is known then
 */
export function queryAtScrape<Row>(ask: () => Promise<Row[]>, log: Log): () => Promise<Row | null> {
  return singleFlight(async () => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(
        () =>
          reject(
            Object.assign(new Error(`no answer within ${answerWithinMs} ms`), {
              code: "ETIMEDOUT",
            }),
          ),
        answerWithinMs,
      );
    });
    try {
      const [row] = await Promise.race([ask(), late]);
      return row!;
    } catch (error) {
      if (!countsAsAway(log, "scrapes", error))
        log.error("own metrics lack what was asked of the database", {
          stack: stackOf(error),
        });
      return null;
    } finally {
      clearTimeout(timer);
    }
  });
}
