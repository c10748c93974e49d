/** Runs the dispatcher, or its database steps one by one, at the times that a test chooses. */
import { startDispatcher } from "../../server/core/alerts/dispatcher.js";
import { makePoster } from "../../server/core/alerts/post.js";
import { deliveryRules } from "../../server/core/alerts/retry-rules.js";
import { formatAlert } from "../../server/core/alerts/formats/format-alert.js";
import type { Pool } from "../../shared/database/pool.js";
import { makeLog } from "../../shared/log/log.js";
import { sealing } from "./alerts.js";

/** Delivers alerts to receivers on this machine until it is closed. */
export function startAlerts(pool: Pool): { close: () => Promise<void> } {
  const poster = makePoster({ allowLoopback: true });
  const options = { baseUrl: "https://status.example", userAgent: "venuewatch/test" };
  const dispatcher = startDispatcher({
    ...{ db: pool, poster, sealing, log: makeLog("test", "error", () => {}) },
    write: (to, alert, sent) => formatAlert(to, alert, { ...sent, ...options }),
    rules: { ...deliveryRules, look_ms: 20 },
  });
  return {
    async close() {
      await poster.close();
      await dispatcher.close();
    },
  };
}

export async function expand(pool: Pool, at: Date): Promise<void> {
  await pool.file("expand_alerts", [at, 100]);
}

/** @returns the numbers of the attempts */
export async function claim(pool: Pool, at: Date, most = 100): Promise<number[]> {
  const rows = await pool.file<{ attempt_id: number; state: string }>("claim_deliveries", [
    at,
    "test",
    deliveryRules.lease_ms,
    most,
    JSON.stringify(deliveryRules.pace_ms),
    sealing.head,
  ]);
  return rows.filter(({ state }) => state === "due").map(({ attempt_id: attempt }) => attempt);
}

/** @param at may be text, with microseconds */
export async function settle(
  pool: Pool,
  at: Date | string,
  attempts: number[],
  result: "delivered" | "refused" | "timeout",
  { attempts: most = deliveryRules.attempts } = {},
): Promise<void> {
  await pool.file("settle_or_retry_deliveries", [
    at,
    JSON.stringify(attempts.map((attemptId) => ({ ...{ attemptId, result, durationMs: 5, agoMs: 0, spread: 1 } }))),
    JSON.stringify({ ...deliveryRules, attempts: most, switch_off_failures: 1_000 }),
  ]);
}
