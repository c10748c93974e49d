import { type Pool, sql } from "../db.js";

/** An office that one holder has at a time, for as long as it renews it. */
export interface Lease {
  /** Takes or renews it. @returns whether the holder has it now */
  take: () => Promise<boolean>;
  /** Hands it over at once, where the holder has it. */
  release: () => Promise<void>;
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
      const [row] = await pool.file<{ leads: boolean }>("lead", [
        office,
        holder,
        lastsMs,
      ]);
      return row?.leads ?? false;
    },
    async release() {
      await pool.query(sql`
        update leader set expires_at = now() where office = ${office} and holder = ${holder}
      `);
    },
  };
}
