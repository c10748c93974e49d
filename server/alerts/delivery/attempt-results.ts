import type { Db } from "../../../shared/database/pool.js";
import type { DeliveryOutcome } from "./attempt-outcome.js";
import type { DeliveryRules } from "./retry-rules.js";
import type { Settled } from "./settled-attempt.js";

/** Results of attempts, kept until the database has them. */
export interface AttemptResults {
  add: (attemptId: number, outcome: DeliveryOutcome) => void;
  /**
   * Records all results with one statement. When that fails, the next call records them.
   *
   * @returns null when there were none
   */
  record: () => Promise<Settled[] | null>;
}

/** @param random from 0 to 1, for the jitter of the backoff */
export function makeAttemptResults(db: Pick<Db, "file">, rules: DeliveryRules, random: () => number): AttemptResults {
  let ended: { attemptId: number; outcome: DeliveryOutcome; atMs: number }[] = [];
  return {
    add(attemptId, outcome) {
      ended.push({ attemptId, outcome, atMs: performance.now() });
    },
    async record() {
      if (ended.length === 0) return null;
      const settling = ended;
      ended = [];
      const nowMs = performance.now();
      const results = settling.map(({ attemptId, outcome, atMs }) => ({
        attemptId,
        ...outcome,
        agoMs: Math.round(nowMs - atMs),
        spread: 0.8 + 0.4 * random(),
      }));
      try {
        return await db.file<Settled>("settle_or_retry_deliveries", [
          null,
          JSON.stringify(results),
          JSON.stringify(rules),
        ]);
      } catch (error) {
        ended = [...settling, ...ended];
        throw error;
      }
    },
  };
}
