import type { Pool } from "../../shared/database/pool.js";
import { singleFlight } from "../../shared/process/single-flight.js";

/** As of when everything speaks, and when anything moved last; see `clock.sql`. */
export interface ClockRow {
  generated_at: Date;
  moved_at: Date | null;
  /** The database's own time at this reading. */
  read_at: Date;
}

export interface ClockReading extends ClockRow {
  /** When it was asked for, in milliseconds of `performance.now()`. */
  askedAtMs: number;
}

export interface DatabaseClock {
  read(): Promise<ClockRow>;
  /** The reading that serves a reader just now; null where the database must be asked. */
  trusted(): ClockRow | null;
  /** The newest reading that the database has answered, however old; null where there was none. */
  last(): ClockReading | null;
  /** The next reader asks the database: this process has seen a later instant than the clock shows. */
  expire(): void;
}

/**
 * The database's clock, read once for all who ask at the same time.
 *
 * @param trustedMs how long a reading serves later readers. 0: it serves only those who asked while it was read
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
  /** A reading that began before the clock expired is not trusted beyond those who wait for it. */
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
