import type { Pool } from "../../shared/database/pool.js";
import { singleFlight } from "../../shared/process/single-flight.js";

/** The instant that all bodies show, and the time of the latest change; see `clock.sql`. */
export interface ClockRow {
  generated_at: Date;
  moved_at: Date | null;
  /** The database's time at this reading. */
  read_at: Date;
  /** The engine's last tick; null before the first. */
  ticked_at: Date | null;
}

export interface ClockReading extends ClockRow {
  /** When the reading was requested, by `performance.now()`. */
  askedAtMs: number;
}

export interface DatabaseClock {
  read(): Promise<ClockRow>;
  /** The reading that may be used now without a query; null when the database must be queried. */
  trusted(): ClockRow | null;
  /** The newest successful reading, however old; null when there is none. */
  last(): ClockReading | null;
  /** Forces the next read to query the database: this process has seen a later instant than the clock shows. */
  expire(): void;
}

/**
 * The database's clock. Concurrent readers share one query.
 *
 * @param trustedMs how long later readers may reuse a reading. 0: only readers that asked while it was read share it
 */
export function makeClock(pool: Pick<Pool, "file">, trustedMs = 0): DatabaseClock {
  let last: ClockReading | null = null;
  const ask = singleFlight(async () => {
    const askedAtMs = performance.now();
    const [row] = await pool.file<ClockRow>("clock");
    last = { ...row!, askedAtMs };
    return last;
  });
  let kept: ClockRow | null = null;
  let trustedUntilMs = -Infinity;
  /** A reading that began before an expiry is used only by those already waiting for it. */
  let expirations = 0;

  const trusted = () => (performance.now() < trustedUntilMs ? kept : null);

  return {
    async read() {
      const now = trusted();
      if (now) return now;
      const before = expirations;
      const row = await ask();
      if (trustedMs > 0 && before === expirations) {
        kept = row;
        trustedUntilMs = performance.now() + trustedMs;
      }
      return row;
    },
    trusted,
    last: () => last,
    expire() {
      kept = null;
      expirations += 1;
    },
  };
}
