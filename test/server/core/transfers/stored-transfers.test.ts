/** What is stored of venues' lists of deposits and withdrawals, reading after reading. */
import t from "tap";
import { sql } from "../../../../shared/database/pool.js";
import { migratedDatabase } from "../../../support/database.js";
import { forgetListed, kept, line, listed, spans } from "../../../support/stored-transfers.js";

const noon = Date.parse("2026-09-04T12:00:00Z");
/** This many minutes after noon. */
const at = (minute: number) => new Date(noon + minute * 60_000);
const iso = (minute: number) => at(minute).toISOString();

const { pool } = await migratedDatabase(t);
t.beforeEach(() => forgetListed(pool));

const shortSpans = async (venue: string, asset: string) =>
  (await spans(pool, venue, asset)).map(({ started_at, ended_at, state, begins }) =>
    [started_at.toISOString(), ended_at.toISOString(), state, begins ? "begins" : "goes on"].join(" "),
  );

void t.test("a pause is stored from the first reading that shows it, and so is its end", async (t) => {
  await listed(pool, "kucoin", at(0), [line("BTC", "btc"), line("ETH", "eth")]);
  t.match(await kept(pool, "kucoin"), [
    { asset: "BTC", venue_network: "btc", network: "bitcoin", state: "open", since: at(0) },
    { asset: "ETH", venue_network: "eth", network: "ethereum", state: "open" },
  ]);
  const paused = [line("BTC", "btc"), line("ETH", "eth", "paused", "open", "wallet upgrade")];
  t.match(await listed(pool, "kucoin", at(5), paused), { added: 0, changed: 1 });
  t.match(await listed(pool, "kucoin", at(10), paused), { changed: 0 }, "the same again is no news");
  const [, eth] = await kept(pool, "kucoin");
  t.match(eth, { state: "paused", because: "wallet upgrade" });
  t.equal(eth!.since.toISOString(), iso(5));
  t.match((await kept(pool, "kucoin", "deposit"))[1], { state: "open" }, "deposits are apart");
  await listed(pool, "kucoin", at(15), [line("BTC", "btc"), line("ETH", "eth")]);
  t.strictSame(await shortSpans("kucoin", "ETH"), [
    `${iso(0)} ${iso(5)} open goes on`,
    `${iso(5)} ${iso(15)} paused begins`,
  ]);
  t.strictSame(await shortSpans("kucoin", "BTC"), [], "what does not change is not written");
});

void t.test("what a list no longer has is unknown, not paused", async (t) => {
  await listed(pool, "gate", at(0), [line("BTC", "BTC"), line("TON", "TON")]);
  await listed(pool, "gate", at(5), [line("BTC", "BTC")]);
  t.match((await kept(pool, "gate"))[1], { asset: "TON", state: "unknown", because: "no longer listed" });
  await listed(pool, "gate", at(10), [line("BTC", "BTC"), line("TON", "TON")]);
  t.match((await kept(pool, "gate"))[1], { state: "open", because: null });
});

void t.test("an entry that is wrong makes only its asset unknown", async (t) => {
  await listed(pool, "gate", at(0), [line("BTC", "BTC"), line("TON", "TON")]);
  const because = "[7].chains: expected a list of chains, got null";
  await listed(pool, "gate", at(5), [line("BTC", "BTC")], {
    problem: because,
    unreadable: [{ asset: "TON", because }],
  });
  const [btc, ton] = await kept(pool, "gate");
  t.match(btc, { state: "open" });
  t.match(ton, { state: "unknown", because });
});

void t.test("a network with a new name is the same network, and one that nobody knows keeps its name", async (t) => {
  await listed(pool, "gate", at(0), [line("USDT", "MATIC", "paused"), line("USDT", "FOONET")]);
  const { changed } = (await listed(pool, "gate", at(5), [line("USDT", "POL", "paused"), line("USDT", "FOONET")]))!;
  t.equal(changed, 0);
  const lines = await kept(pool, "gate");
  t.match(lines, [
    { venue_network: "FOONET", network: null },
    { venue_network: "POL", network: "polygon", state: "paused" },
  ]);
  t.equal(lines[1]!.since.toISOString(), iso(0), "its pause goes on");
  await listed(pool, "kucoin", at(0), [line("BTC", "btc"), line("BTC", "bech32")]);
  await listed(pool, "kucoin", at(5), [line("BTC", "bitcoin")]);
  t.match(
    await kept(pool, "kucoin"),
    [{ state: "unknown" }, { state: "open" }, { state: "unknown" }],
    "of two that became one, nobody knows which it was",
  );
});

void t.test("names that only one venue uses win over those of every venue", async (t) => {
  await listed(pool, "kucoin", at(0), [line("AVAX", "avax")]);
  await listed(pool, "bitfinex", at(0), [line("USDT", "TETHERUSX"), line("AVAX", "AVAX")]);
  t.match(await kept(pool, "kucoin"), [{ network: "avalanche-x" }]);
  t.match(await kept(pool, "bitfinex"), [{ network: null }, { network: "tron" }]);
});

void t.test("a venue that says it by asset alone has one line without a network", async (t) => {
  await listed(pool, "kraken", at(0), [line("BTC", null)]);
  await listed(pool, "kraken", at(5), [line("BTC", null, "paused")]);
  t.match(await kept(pool, "kraken"), [{ venue_network: null, network: null, state: "paused" }]);
});

void t.test("a time without readings is unknown, and neither pauses nor ends a pause", async (t) => {
  await listed(pool, "gate", at(0), [line("BTC", "BTC", "paused")]);
  await listed(pool, "gate", at(5), [line("BTC", "BTC", "paused")]);
  await listed(pool, "gate", at(10), null);
  await listed(pool, "gate", at(65), [line("BTC", "BTC", "paused")]);
  t.equal((await kept(pool, "gate"))[0]!.since.toISOString(), iso(0));
  await listed(pool, "gate", at(70), [line("BTC", "BTC")]);
  t.strictSame(await shortSpans("gate", "BTC"), [
    `${iso(0)} ${iso(5)} paused goes on`,
    `${iso(5)} ${iso(65)} unknown begins`,
    `${iso(65)} ${iso(70)} paused goes on`,
  ]);
});

void t.test("a single failed reading changes nothing", async (t) => {
  await listed(pool, "gate", at(0), [line("BTC", "BTC", "paused")]);
  await listed(pool, "gate", at(5), null);
  await listed(pool, "gate", at(10), [line("BTC", "BTC", "paused")]);
  t.strictSame(await shortSpans("gate", "BTC"), []);
});

void t.test("a span is cut at midnight, and the days add up", async (t) => {
  const hour = (hours: number) => at(hours * 60);
  await listed(pool, "gate", at(-15), [line("BTC", "BTC")]);
  await listed(pool, "gate", hour(0), [line("BTC", "BTC", "paused")]);
  for (let quarter = 1; quarter <= 4 * 30; quarter += 1)
    await listed(pool, "gate", at(quarter * 15), [line("BTC", "BTC", "paused")]);
  await listed(pool, "gate", at(30 * 60 + 15), [line("BTC", "BTC")]);
  t.strictSame(await shortSpans("gate", "BTC"), [
    "2026-09-04T11:45:00.000Z 2026-09-04T12:00:00.000Z open goes on",
    "2026-09-04T12:00:00.000Z 2026-09-05T00:00:00.000Z paused begins",
    "2026-09-05T00:00:00.000Z 2026-09-05T18:15:00.000Z paused goes on",
  ]);
  await pool.query(sql`call upkeep.refresh_transfers(${hour(72)})`);
  const days = await pool.query(sql`
    select (day at time zone 'UTC')::date::text as day, paused_minutes, pauses
    from transfer_day
    where direction = 'withdrawal'
    order by day
  `);
  t.strictSame(days, [
    { day: "2026-09-04", paused_minutes: 720, pauses: 1 },
    { day: "2026-09-05", paused_minutes: 18 * 60 + 15, pauses: 0 },
  ]);
  const past = await pool.query(sql`select paused_minutes, pauses from transfer_past where direction = 'withdrawal'`);
  t.strictSame(past, [{ paused_minutes: 720 + 18 * 60 + 15, pauses: 1 }]);
});

void t.test("a venue that changes its word all the time is unknown, and that is said", async (t) => {
  let minute = 0;
  const flip = async (state: "open" | "paused") => listed(pool, "gate", at((minute += 5)), [line("BTC", "BTC", state)]);
  for (let pair = 0; pair < 3; pair += 1) {
    await flip("open");
    await flip("paused");
  }
  await flip("open");
  t.match(await kept(pool, "gate"), [{ state: "open", unstable: false }], "six changes within an hour are news");
  await flip("paused");
  t.match(await kept(pool, "gate"), [
    { state: "unknown", unstable: true, because: "changed more than 6 times within an hour, most recently to paused" },
  ]);
  const { since } = (await kept(pool, "gate"))[0]!;
  await flip("open");
  t.match(await kept(pool, "gate"), [{ state: "unknown", unstable: true, since }], "further changes are not");
  for (let quiet = 0; quiet < 12; quiet += 1) await flip("open");
  t.match(
    await kept(pool, "gate"),
    [{ state: "open", unstable: false, because: null }],
    "until it keeps its word for an hour",
  );
});

void t.test("a pause is one pause, also if the venue did not list it or its entry was wrong for a while", async (t) => {
  const paused = [line("BTC", "BTC", "paused"), line("ETH", "ETH")];
  const because = "[0].chains: expected a list of chains, got null";
  await listed(pool, "gate", at(0), [line("BTC", "BTC"), line("ETH", "ETH")]);
  await listed(pool, "gate", at(5), paused);
  await listed(pool, "gate", at(10), [line("ETH", "ETH")]);
  t.match(await kept(pool, "gate"), [{ state: "unknown", because: "no longer listed", since: at(10) }, {}]);
  await listed(pool, "gate", at(15), paused);
  t.match(await kept(pool, "gate"), [{ state: "paused", since: at(5) }, {}]);
  await listed(pool, "gate", at(20), [line("ETH", "ETH")], {
    problem: because,
    unreadable: [{ asset: "BTC", because }],
  });
  await listed(pool, "gate", at(25), paused);
  await listed(pool, "gate", at(30), [line("BTC", "BTC"), line("ETH", "ETH")]);
  t.strictSame(await shortSpans("gate", "BTC"), [
    `${iso(0)} ${iso(5)} open goes on`,
    `${iso(5)} ${iso(10)} paused begins`,
    `${iso(10)} ${iso(15)} unknown begins`,
    `${iso(15)} ${iso(20)} paused goes on`,
    `${iso(20)} ${iso(25)} unknown begins`,
    `${iso(25)} ${iso(30)} paused goes on`,
  ]);
  t.match(await kept(pool, "gate"), [{ state: "open", since: at(30) }, {}]);
});

void t.test("a network that only some servers of a venue list is damped as well", async (t) => {
  await listed(pool, "gate", at(0), [line("BTC", "BTC"), line("ETH", "ETH")]);
  let changed = 0;
  for (let minute = 4; minute < 56; minute += 4) {
    const lines = minute % 8 === 0 ? [line("BTC", "BTC")] : [];
    changed += (await listed(pool, "gate", at(minute), [...lines, line("ETH", "ETH")]))!.changed;
  }
  t.ok(changed <= 14, `${changed} changes of two directions are published, not 26`);
  t.match(await kept(pool, "gate"), [{ state: "unknown", unstable: true }, { state: "open" }]);
});

void t.test("an asset that is no longer read is unknown, and the venue is not said to have dropped it", async (t) => {
  await listed(pool, "gate", at(0), [line("BTC", "BTC"), line("ETH", "ETH")]);
  await pool.query(sql`update transfer_asset set published = false where asset = 'BTC'`);
  t.teardown(() => pool.query(sql`update transfer_asset set published = true`));
  t.match(await listed(pool, "gate", at(5), [line("ETH", "ETH")]), { changed: 0 });
  t.match(await kept(pool, "gate"), [{ state: "unknown", because: "no longer read" }, {}]);
});

void t.test("networks that a venue dropped long ago leave room for new ones", async (t) => {
  const names = (prefix: string) => Array.from({ length: 450 }, (_, index) => line("BTC", `${prefix}${index}`));
  await listed(pool, "gate", at(0), names("old"));
  t.match(await listed(pool, "gate", at(5), names("new")), { added: 50, refused: 400 });
  t.match(await listed(pool, "gate", at(91 * 1440), names("new")), { added: 400, refused: 0 });
});

void t.test("old copies with different times do not pass for a list that moves", async (t) => {
  const moved = async () => {
    const [row] = await pool.query<{ list_at: Date; list_moved_at: Date }>(sql`
      select s.list_at, s.list_moved_at from transfer_source s join venue v using (venue_id) where v.venue = 'bitget'
    `);
    return row!;
  };
  for (const minute of [0, 5, 10, 15, 20])
    await listed(pool, "bitget", at(minute), [line("BTC", "BTC")], { listAt: at(minute % 10 === 0 ? -60 : -90) });
  t.strictSame(await moved(), { list_at: at(-60), list_moved_at: at(0) });
  await listed(pool, "bitget", at(25), [line("BTC", "BTC")], { listAt: at(-59) });
  t.strictSame(await moved(), { list_at: at(-59), list_moved_at: at(25) });
});

void t.test("a list with one entry that is wrong is readable, and a single failure later makes no gap", async (t) => {
  const because = "[7].chains: expected a list of chains, got null";
  const wrong = { problem: because, unreadable: [{ asset: "TON", because }] };
  const source = async () => {
    const [row] = await pool.query<{ problem: string | null; unreadable_since: Date | null }>(sql`
      select s.problem, s.unreadable_since from transfer_source s join venue v using (venue_id) where v.venue = 'gate'
    `);
    return row!;
  };
  await listed(pool, "gate", at(0), [line("BTC", "BTC")], wrong);
  t.strictSame(await source(), { problem: because, unreadable_since: null });
  await listed(pool, "gate", at(5), null);
  await listed(pool, "gate", at(10), null);
  t.strictSame(await source(), { problem: "answered 500", unreadable_since: at(5) });
});

void t.test("a reading whose claim has ended is not stored", async (t) => {
  await listed(pool, "gate", at(0), [line("BTC", "BTC")]);
  const late = await listed(pool, "gate", at(5), [line("BTC", "BTC", "paused")], { claimedTo: at(-30) });
  t.equal(late, null);
  t.match(await kept(pool, "gate"), [{ state: "open" }]);
});

void t.test("a list that invents networks cannot fill the disk", async (t) => {
  const many = Array.from({ length: 700 }, (_, index) => line("BTC", `net${index}`));
  t.match(await listed(pool, "gate", at(0), many), { added: 500, refused: 200 });
  t.match(await listed(pool, "gate", at(5), many), { added: 0, refused: 200 });
});

void t.test("followers of changes hear of it, at the first instant that shows it", async (t) => {
  await pool.script("delete from change_event; delete from engine_clock");
  await pool.query(sql`
    insert into engine_clock (ticked_at, version, silent_after_ms)
    values (date_trunc('milliseconds', now() - interval '1 second'), 'test', 86400000)
  `);
  await listed(pool, "gate", at(0), [line("BTC", "BTC"), line("ETH", "ETH")]);
  t.strictSame(await pool.query(sql`select from change_event`), [], "a line that is new has not changed");
  await listed(pool, "gate", at(5), [line("BTC", "BTC", "paused", "open", "wallet upgrade"), line("ETH", "ETH")]);
  const events = await pool.query(sql`
    select e.event, e.body, k.generated_at = e.at as is_shown
    from (select c.event, c.body, (c.body ->> 'at')::timestamptz as at from api.change_event c) e
    cross join api.clock k
  `);
  t.match(events, [
    {
      event: "transfer",
      is_shown: true,
      body: {
        ...{ venue: "gate", asset: "BTC", network: "bitcoin", venueNetwork: "BTC", direction: "withdrawal" },
        ...{ state: "paused", because: "wallet upgrade" },
      },
    },
  ]);
});
