import type { Log } from "./log.js";
import { singleFlight } from "./single-flight.js";

/** A scraper waits for ten seconds by default, and all else should reach it when the database does not answer. */
const answerWithinMs = 3_000;

/**
 * What own metrics ask the database at every scrape: all of one scrape ask at once, and get the same answer.
 *
 * @returns null where the database does not answer, or not in time: nothing is known then
 */
export function askedAtScrape<Row>(
  ask: () => Promise<Row[]>,
  log: Log,
): () => Promise<Row | null> {
  return singleFlight(async () => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(
        () => reject(new Error(`no answer within ${answerWithinMs} ms`)),
        answerWithinMs,
      );
    });
    try {
      const [row] = await Promise.race([ask(), late]);
      return row!;
    } catch (error) {
      log.warn("own metrics lack what the database did not tell", { error });
      return null;
    } finally {
      clearTimeout(timer);
    }
  });
}
