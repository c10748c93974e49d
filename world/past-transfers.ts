/**
 * The pauses of deposits and withdrawals in the ninety days before the demo began. They are stored as readings of the
 * simulated lists are stored: only their times are invented.
 */
import { storeTransfers } from "../server/core/transfers/polling.js";
import { transferKinds } from "../server/core/transfers/formats/transfer-kinds.js";
import { type Pool, sql } from "../shared/database/pool.js";
import type { TransferKind } from "../shared/registry/registry.js";
import { todayOf } from "./past.js";
import { transferList } from "./transfers.js";

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

interface PastPause {
  venue: string;
  asset: string;
  /** Null: all of its networks. */
  network: string | null;
  deposits: boolean;
  from: Date;
  /** Null: it goes on, as in world/demo.txt. */
  to: Date | null;
}

/** @param now when the history ends, as `pastFaults` takes it */
export function pastPauses(now: Date): PastPause[] {
  const pause = (venue: string, line: string, daysAgo: number, utcHour: number, minutes: number | null): PastPause => {
    const [asset, network = null] = line.split("/") as [string, string?];
    const from = new Date(todayOf(now) - daysAgo * dayMs + utcHour * 60 * minuteMs);
    const to = minutes === null ? null : new Date(+from + minutes * minuteMs);
    return { ...{ venue, asset, network, from, to }, deposits: minutes === null || minutes > 300 };
  };
  return [
    pause("kraken", "ETH", 82, 9, 190),
    pause("gate", "TON", 77, 4, 900),
    pause("kucoin", "USDT/tron", 64, 13, 75),
    pause("bitget", "AVAX", 55, 22, 400),
    pause("coinbase", "SOL", 41, 17, 130),
    pause("kucoin", "USDT/tron", 37, 2, 55),
    pause("gate", "USDT/ton", 31, 12, 240),
    pause("bitstamp", "XRP", 24, 6, 480),
    pause("kraken", "SOL", 19, 15, 210),
    pause("bitfinex", "USDT/solana", 15, 8, 320),
    pause("kucoin", "USDT/tron", 9, 19, 95),
    pause("bitget", "DOGE", 6, 3, 70),
    // these two go on: the venue has a notice of the first, and none of the second
    pause("kraken", "SOL", 1, 11, null),
    pause("bitfinex", "USDT/solana", 3, 20, null),
  ];
}

/** Fills empty tables. */
export async function makePastTransfers(pool: Pool, days: number, now: Date): Promise<void> {
  const from = new Date(Math.min(todayOf(now) - (days - 1) * dayMs, +now - dayMs));
  const pauses = pastPauses(now).filter((pause) => pause.from > from);
  const lists = await pool.query<{ venue_id: number; venue: string; kind: TransferKind }>(sql`
    select s.venue_id, v.venue, s.kind
    from transfer_source s
    join venue v using (venue_id)
    where s.published and s.kind is not null
    order by s.venue_id
  `);
  for (const list of lists) {
    const ofVenue = pauses.filter(({ venue }) => venue === list.venue);
    const instants = [from, ...ofVenue.flatMap(({ from, to }) => (to === null ? [from] : [from, to])), now];
    for (const at of instants.sort((a, b) => +a - +b)) await readAt(pool, list, ofVenue, at);
  }
  await pool.query(sql`
    call upkeep.refresh(
      'transfer_day', time_bucket('1 day', ${from}::timestamptz), time_bucket('1 day', ${now}::timestamptz), unasked => true
    )
  `);
  await pool.query(sql`call upkeep.refresh_transfers(${now})`);
}

async function readAt(
  pool: Pool,
  { venue_id: venueId, venue, kind }: { venue_id: number; venue: string; kind: TransferKind },
  pauses: readonly PastPause[],
  at: Date,
): Promise<void> {
  const claimedTo = new Date(+at + minuteMs);
  // between these instants it was read every five minutes, and nothing changed
  await pool.query(sql`
    update transfer_source
    set due_at = ${claimedTo}, read_at = case when read_at is not null then ${new Date(+at - 5 * minuteMs)}::timestamptz end
    where venue_id = ${venueId}
  `);
  const spelt = await pool.query<{ spelt: string; means: string }>(sql`
    select distinct on (spelt) spelt, means
    from transfer_spelling
    where subject = 'asset' and venue in (${venue}, '')
    order by spelt, venue desc
  `);
  const wanted = new Map(spelt.map(({ spelt, means }) => [spelt, means]));
  const body = transferList(
    kind,
    (asset, network) => {
      const paused = pauses.filter(
        (pause) =>
          pause.asset === asset &&
          (pause.network ?? network) === network &&
          pause.from <= at &&
          (pause.to === null || at < pause.to),
      );
      return { withdrawal: paused.length > 0, deposit: paused.some(({ deposits }) => deposits) };
    },
    at,
  );
  const reading = { ...transferKinds[kind].takeApart(body, wanted), unanswered: false, retryAfterMs: 0 };
  await storeTransfers(pool, venueId, at, reading, new Date(0), claimedTo);
}
