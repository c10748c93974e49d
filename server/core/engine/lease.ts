import { type Pool, sql } from "../../../shared/database/pool.js";

/**
 * A leader that has not renewed for this long is presumed dead. Another core takes the lease once it has seen it
 * expired at two calls in a row (sql/engine/005-leadership.sql): two to three seconds after a crash. A leader that was
 * merely slow loses only its lease: the fence refuses its writes.
 */
export const leaseMs = 2_000;

/** Renewals within one lease period; other cores try to take the lease as often. */
export const renewalsALease = 4;

/** A lease that one holder has at a time, as long as it renews it. */
export interface Lease {
  /**
   * Takes or renews the lease.
   *
   * @returns the holder's term; null while another holder has it
   */
  take: () => Promise<LeaseTerm | null>;
  /** Ends the lease at once, if this holder has it. */
  release: () => Promise<void>;
}

/** Proof that a holder still has the lease: `fence` changes whenever the holder changes. */
export interface LeaseTerm {
  holder: string;
  fence: number;
}

/** @param lastsMs time after which an unrenewed lease expires */
export function makeLease(pool: Pool, office: string, holder: string, lastsMs: number): Lease {
  let seenOver: string | null = null;
  return {
    async take() {
      const [row] = await pool.file<{
        fence: number | null;
        over: string | null;
      }>("take_or_renew_lease", [office, holder, lastsMs, seenOver]);
      seenOver = row!.over;
      return row!.fence === null ? null : { holder, fence: row!.fence };
    },
    async release() {
      await pool.query(sql`
        update leader set expires_at = '-infinity' where office = ${office} and holder = ${holder}
      `);
    },
  };
}
