/** A channel's address, and what the database keeps of it. */
import { type Pool, sql } from "../../shared/database/pool.js";

export const url = "https://hooks.example.org/in/hunter2hunter2-abcd";

export function sealed(db: Pool, channel: number) {
  return db.query<{
    destination: Buffer | null;
    secret: Buffer | null;
    former_secret: Buffer | null;
    former_until: Date | null;
  }>(sql`
    select destination, secret, former_secret, former_until from channel where channel_id = ${channel}
  `);
}
