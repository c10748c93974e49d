import type { Db } from "../../../shared/database/pool.js";
import type { Log } from "../../../shared/log/log.js";
import type { Sealing } from "../channels/sealing.js";
import type { DeliveryRules } from "./retry-rules.js";

/** Ends deliveries that will not be sent. */
export async function endUnsent(db: Pick<Db, "file">, log: Log): Promise<void> {
  const rows = await db.file<{ channel_id: number; state: string; deliveries: number }>("end_deliveries", [null]);
  for (const { channel_id: channel, state, deliveries } of rows)
    log.warn("alerts were not sent; see venuewatch delivery list", { channel, state, deliveries });
}

/** Returns a function that logs which channels wait for a core with another key. It logs only changes. */
export function watchUnreadable(db: Pick<Db, "file">, sealing: Sealing | null, rules: DeliveryRules, log: Log) {
  let unreadable: string | null = null;
  return async (): Promise<void> => {
    const head = sealing?.head ?? Buffer.alloc(0);
    const [row] = await db.file<{ channels: number[] | null }>("unreadable_channels", [head, rules.lease_ms]);
    const channels = row!.channels?.join(", ") ?? null;
    if (channels !== null && channels !== unreadable)
      log.error(
        `deliveries wait unsent: ${sealing ? "this core's CHANNEL_KEY is not the one" : "CHANNEL_KEY is not set for this core; set the one"} with which these channels were added`,
        { channels },
      );
    unreadable = channels;
  };
}
