import { countsAsAway } from "../../shared/database/away.js";
import type { Log } from "../../shared/log/log.js";
import { singleFlight } from "../../shared/process/single-flight.js";
import { stackOf } from "../../shared/process/user-error.js";

/** Scrapers wait ten seconds by default. They should get all other metrics when the database does not answer. */
const answerWithinMs = 3_000;

/**
 * Makes the query that a program's own metrics send to the database at each scrape. Concurrent callers, such as all
 * metrics of one scrape, share one query.
 *
 * @returns null if the database does not answer, or not in time: the values are unknown then
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
        log.error("own metrics lack the values from the database", {
          stack: stackOf(error),
        });
      return null;
    } finally {
      clearTimeout(timer);
    }
  });
}
