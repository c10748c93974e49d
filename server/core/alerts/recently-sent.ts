import type { Db } from "../../../shared/database/pool.js";

/** Rows of alert_event and incident, as `to_jsonb` writes them. */
type Row = Record<string, unknown>;

/** The parts of a claimed delivery that are remembered. */
interface Claimed {
  event_id: number;
  channel_id: number;
  event: Row;
  /** Null: the alert is about transfers, and nothing of it is restored. */
  incident: Row | null;
}

/** One row of `restore_sent.sql`: slugs. */
export interface Restored {
  restored: string[];
  closed: string[];
  skipped: string[];
}

export interface RecentlySent {
  /** Call it before the alert is sent. */
  leaves: (claimed: Claimed) => void;
  delivered: (claimed: Claimed) => void;
  /** Writes back what the database lost in a failover. */
  restore: (db: Db) => Promise<Restored>;
}

/** Measured back from the latest send, not from now, so nothing is forgotten during a long failover. */
const rememberMs = 5 * 60_000;

/** Each has a few kilobytes. */
const rememberAtMost = 2_000;

interface Sent {
  event: Row;
  incident: Row;
  leftAtMs: number;
  /** By channel: whether its receiver accepted it. */
  channels: Map<number, boolean>;
}

/**
 * Alerts that this program sent recently, kept outside the database: after a failover with asynchronous replication the
 * new primary may lack incidents of which receivers already got alerts.
 */
export function makeRecentlySent(): RecentlySent {
  /** By event, latest last. */
  const sent = new Map<number, Sent>();

  function forgetOld(nowMs: number): void {
    for (const [eventId, { leftAtMs }] of sent) {
      if (sent.size <= rememberAtMost && nowMs - leftAtMs <= rememberMs) return;
      sent.delete(eventId);
    }
  }

  return {
    leaves({ event_id: eventId, channel_id: channelId, event, incident }) {
      if (incident === null) return;
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
