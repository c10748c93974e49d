import type { Pool } from "../db.js";
import { singleFlight } from "../single-flight.js";

/** As of when everything speaks, and when anything moved last; see `clock.sql`. */
export interface ClockRow {
  generated_at: Date;
  moved_at: Date | null;
}

export interface Clock {
  read(): Promise<ClockRow>;
  /** The next reader asks the database: this process has seen a later instant than the clock shows. */
  expire(): void;
}

/**
 * The database's clock, read once for all who ask at the same time.
 *
 * @param trustedMs how long a reading serves later readers. 0: it serves only those who asked while it was read
 */
export function makeClock(pool: Pick<Pool, "file">, trustedMs = 0): Clock {
  const ask = singleFlight(() => pool.file<ClockRow>("clock"));
  let trusted: ClockRow | null = null;
  let trustedUntilMs = -Infinity;
  /** A reading that began before the clock expired is not trusted beyond those who wait for it. */
  let expirations = 0;

  return {
    async read() {
      if (trusted && performance.now() < trustedUntilMs) return trusted;
      const before = expirations;
      const [row] = await ask();
      if (trustedMs > 0 && before === expirations) {
        trusted = row!;
        trustedUntilMs = performance.now() + trustedMs;
      }
      return row!;
    },
    expire() {
      trusted = null;
      expirations += 1;
    },
  };
}
