/** Stores what venues list of deposits and withdrawals, as a reading does. */
import { type Db, sql } from "../../shared/database/pool.js";
import { storeTransfers } from "../../server/core/transfers/polling.js";
import type { Declaration, TransferLine, TransferList } from "../../server/core/transfers/transfer-list.js";

/** Makes a line that is open in both directions, unless `withdrawal` or `deposit` says otherwise. */
export function line(
  asset: string,
  network: string | null,
  withdrawal: Declaration = "open",
  deposit: Declaration = "open",
  because: string | null = null,
): TransferLine {
  return { asset, network, deposit: { state: deposit, because: null }, withdrawal: { state: withdrawal, because } };
}

export interface Listed {
  problem?: string | null;
  unreadable?: TransferList["unreadable"];
  listAt?: Date | null;
  /** End of the claim; by default the list is claimed now. */
  claimedTo?: Date;
}

/** Stores a reading of the venue's list with these lines; null: it was not understood. */
export async function listed(
  db: Db,
  venue: string,
  at: Date,
  lines: TransferLine[] | null,
  { problem = lines === null ? "answered 500" : null, unreadable = [], listAt = null, claimedTo }: Listed = {},
) {
  const end = claimedTo ?? new Date(+at + 60_000);
  const [source] = await db.query<{ venue_id: number }>(sql`
    update transfer_source s
    set due_at = case when ${claimedTo === undefined} then ${end}::timestamptz else s.due_at end
    from venue v
    where v.venue_id = s.venue_id and v.venue = ${venue}
    returning s.venue_id
  `);
  const list = lines && { lines, unreadable };
  const reading = { problem, list, listAt, unanswered: false, retryAfterMs: 0 };
  return storeTransfers(db, source!.venue_id, at, reading, new Date(+at + 300_000), end);
}

export interface KeptTransfer {
  asset: string;
  venue_network: string | null;
  network: string | null;
  direction: string;
  state: Declaration;
  unstable: boolean;
  because: string | null;
  since: Date;
}

/** The withdrawals of a venue as they are stored, or its deposits. */
export async function kept(db: Db, venue: string, direction = "withdrawal"): Promise<KeptTransfer[]> {
  return db.query<KeptTransfer>(sql`
    select l.asset, l.venue_network, l.network, s.direction, s.state, s.unstable, s.because, s.since
    from transfer_state s
    join transfer_line l using (line_id)
    join venue v using (venue_id)
    where v.venue = ${venue} and s.direction = ${direction}
    order by l.asset, l.venue_network
  `);
}

/** The spans of a venue's withdrawals of an asset, oldest first. */
export async function spans(db: Db, venue: string, asset: string) {
  return db.query<{ started_at: Date; ended_at: Date; state: Declaration; begins: boolean }>(sql`
    select x.started_at, x.ended_at, x.state, x.begins
    from transfer_span x
    join transfer_line l using (line_id)
    join venue v using (venue_id)
    where v.venue = ${venue} and l.asset = ${asset} and x.direction = 'withdrawal'
    order by x.started_at
  `);
}

export async function forgetListed(db: Db): Promise<void> {
  // alerts refer to lines
  await db.script("truncate transfer_span, transfer_past, transfer_state, transfer_line restart identity cascade");
  await db.script(`
    update transfer_source
    set read_at = null, problem = null, unreadable_since = null, list_at = null, list_moved_at = null, due_at = '-infinity'
  `);
}
