import { type Pool, sql } from "../db.js";

/** An office that one holder has at a time, for as long as it renews it. */
export interface Lease {
  /** Takes or renews it. @returns the holder's term; null while another holder has it */
  take: () => Promise<Term | null>;
  /** Hands it over at once, where the holder has it. */
  release: () => Promise<void>;
}

/** What a holder proves by that it has the office still: `fence` moves whenever the holder changes. */
export interface Term {
  holder: string;
  fence: number;
}

/** @param lastsMs how long it lasts without being renewed */
export function makeLease(
  pool: Pool,
  office: string,
  holder: string,
  lastsMs: number,
): Lease {
  return {
    async take() {
      const [row] = await pool.file<{ leads: boolean; fence: number | null }>(
        "lead",
        [office, holder, lastsMs],
      );
      return row?.leads ? { holder, fence: row.fence! } : null;
    },
    async release() {
      await pool.query(sql`
        update leader set expires_at = now() where office = ${office} and holder = ${holder}
      `);
    },
  };
}
