import type { Db } from "../../../shared/database/pool.js";

/** Rows of alert_event and incident, as `to_jsonb` writes them. */
type Row = Record<string, unknown>;

/** What of a claimed delivery is remembered. */
interface Claimed {
  event_id: number;
  channel_id: number;
  event: Row;
  incident: Row;
}

/** One row of `restore_sent.sql`: slugs. */
export interface Restored {
  restored: string[];
  closed: string[];
  skipped: string[];
}

export interface RecentlySent {
  /** To be called before it leaves. */
  leaves: (claimed: Claimed) => void;
  delivered: (claimed: Claimed) => void;
  /** Writes what the database does not know (any more). */
  restore: (db: Db) => Promise<Restored>;
}

/** Counted back from what was sent last, so that nothing is forgotten while a failover takes its time. */
const rememberMs = 5 * 60_000;

/** Of some kilobytes each. */
const rememberAtMost = 2_000;

interface Sent {
  event: Row;
  incident: Row;
  leftAtMs: number;
  /** By channel: whether its receiver has taken it. */
  channels: Map<number, boolean>;
}

/**
 * What this program has sent of late, kept outside of the database: after a failover with asynchronous replication the
 * new primary may lack incidents that receivers have been told of.
 */
export function makeRecentlySent(): RecentlySent {
  /** By event, the latest last. */
  const sent = new Map<number, Sent>();

  function forgetOld(nowMs: number): void {
    for (const [eventId, { leftAtMs }] of sent) {
      if (sent.size <= rememberAtMost && nowMs - leftAtMs <= rememberMs) return;
      sent.delete(eventId);
    }
  }

  return {
    leaves({ event_id: eventId, channel_id: channelId, event, incident }) {
      const leftAtMs = performance.now();
      const channels = sent.get(eventId)?.channels ?? new Map<number, boolean>();
      if (!channels.has(channelId)) channels.set(channelId, false);
      sent.delete(eventId);
      sent.set(eventId, { event, incident, leftAtMs, channels });
      forgetOld(leftAtMs);
    },
    delivered({ event_id: eventId, channel_id: channelId }) {
      sent.get(eventId)?.channels.set(channelId, true);
    },
    async restore(db) {
      const rows = [...sent.values()].map(({ event, incident, channels }) => ({
        event,
        incident,
        deliveries: [...channels].map(([channelId, delivered]) => ({
          channelId,
          delivered,
        })),
      }));
      const [row] = await db.file<Restored>("restore_sent", [JSON.stringify(rows)]);
      return row!;
    },
  };
}
