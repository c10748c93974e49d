import { type Pool, sql } from "../../shared/database/pool.js";

/** An office that one holder has at a time, for as long as it renews it. */
export interface Lease {
  /** Takes or renews it. @returns the holder's term; null while another holder has it */
  take: () => Promise<LeaseTerm | null>;
  /** Hands it over at once, where the holder has it. */
  release: () => Promise<void>;
}

/** What a holder proves by that it has the office still: `fence` moves whenever the holder changes. */
export interface LeaseTerm {
  holder: string;
  fence: number;
}

/** @param lastsMs how long it lasts without being renewed */
export function makeLease(pool: Pool, office: string, holder: string, lastsMs: number): Lease {
  let seenOver: string | null = null;
  return {
    async take() {
      const [row] = await pool.file<{
        fence: number | null;
        over: string | null;
      }>("lead", [office, holder, lastsMs, seenOver]);
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
