/** How the venues' own notices are stored. */
import t from "tap";
import type { Notice, NoticeList } from "../../../../server/core/notices/feed.js";
import type { StoredPoll } from "../../../../server/core/notices/polling.js";
import { syncRegistry } from "../../../../server/database/sync-registry.js";
import { sql } from "../../../../shared/database/pool.js";
import { loadRegistry } from "../../../../shared/registry/load-registry.js";
import { migratedDatabase } from "../../../support/database.js";
import { incident, incidentsBody, kraken } from "../../../support/feed-entries.js";
import { parse } from "../../../support/parsed-feed.js";
import { changesOf, feedOf, forgetSaid, notice, noticesOf, said, whole } from "../../../support/stored-notices.js";

const now = Date.now();
/** The instant this many minutes before the test began. */
const at = (minutesAgo: number) => new Date(now - minutesAgo * 60_000);
/** The same as text: to `t.match` all dates are equal. */
const iso = (minutesAgo: number) => at(minutesAgo).toISOString();

const many = (from: number, count: number) =>
  Array.from({ length: count }, (_, n) =>
    notice(`n${from + n}`, at(50 + n), { title: `Errors ${from + n}`, raw: "{}" }),
  );

/** A list of which it is unknown how far back it goes, or that shows only the current status. */
const listOf = (scope: "notices" | "now", ...notices: Notice[]): NoticeList[] => [{ scope, notices, listedFrom: null }];

void t.test("notices and their changes are stored", async (t) => {
  const { pool } = await migratedDatabase(t);
  t.beforeEach(() => forgetSaid(pool));

  /** Stores readings of Kraken's page, each with its notices. @returns what the last one changed */
  async function readInTurn(...readings: [minutesAgo: number, ...notices: Notice[]][]): Promise<StoredPoll> {
    let stored: StoredPoll | undefined;
    for (const [minutesAgo, ...notices] of readings)
      stored = await said(pool, "kraken", at(minutesAgo), [whole(...notices)]);
    return stored!;
  }

  await t.test("changes are stored, and an unchanged notice is not written again", async (t) => {
    const first = notice("a", at(50), { title: "Errors", impact: "minor" });
    const worse = { ...first, status: "identified", impact: "critical" };
    const over = { ...worse, title: "Errors of the API", status: "resolved", over: true, resolvedAt: at(36) };
    for (const [nth, one] of [first, worse, over].entries()) {
      t.match(await readInTurn([40 - 2 * nth, one]), { added: nth === 0 ? 1 : 0, changed: nth === 0 ? 0 : 1 });
      t.match(await readInTurn([39 - 2 * nth, one]), { added: 0, changed: 0 });
    }
    const [row, ...others] = await noticesOf(pool, "kraken");
    t.strictSame(others, []);
    t.match(row, {
      ...{ title: "Errors of the API", status: "resolved", over: true, impact: "critical", raw: first.raw },
      ...{ resolved_at: iso(36), first_seen_at: iso(40), last_seen_at: iso(35), vanished: false, left_at: null },
    });
    t.strictSame(await changesOf(pool, "a"), [
      { at: at(40), status: "investigating", impact: "minor", title: "Errors", vanished: false },
      { at: at(38), status: "identified", impact: "critical", title: "Errors", vanished: false },
      { at: at(36), status: "resolved", impact: "critical", title: "Errors of the API", vanished: false },
    ]);
  });

  await t.test("a notice that is taken down is marked as vanished, and may return", async (t) => {
    const one = notice("a", at(50));
    await readInTurn([40, one], [39]);
    t.match(await noticesOf(pool, "kraken"), [
      { vanished: true, left_at: iso(39), last_seen_at: iso(40), over: false },
    ]);
    await readInTurn([38]);
    t.match(await noticesOf(pool, "kraken"), [{ left_at: iso(39) }]);
    await readInTurn([37, one]);
    t.match(await noticesOf(pool, "kraken"), [{ vanished: false, left_at: null, last_seen_at: iso(37) }]);
    const changes = await changesOf(pool, "a");
    t.equal(changes.length, 3);
    t.match(changes, [{ at: iso(40) }, { at: iso(39), vanished: true }, { at: iso(37), vanished: false }]);
  });

  await t.test("a notice that falls off the end of a list has not vanished", async (t) => {
    const [old, young] = [notice("old", at(5000)), notice("young", at(50))];
    const cut = (minutesAgo: number, ...notices: Notice[]) => [{ ...whole(...notices), listedFrom: at(minutesAgo) }];
    await readInTurn([40, old, young]);
    await said(pool, "kraken", at(39), cut(60, young));
    await said(pool, "kraken", at(38), cut(60));
    t.match(await noticesOf(pool, "kraken"), [
      { external_id: "old", vanished: false, left_at: iso(39) },
      { external_id: "young", vanished: true, left_at: iso(38) },
    ]);
    t.equal((await changesOf(pool, "old")).length, 1, "no change is recorded");
  });

  await t.test("where a list's reach is unknown, only notices that were not over vanish", async (t) => {
    const done = notice("done", at(90), { over: true, status: "completed" });
    await said(pool, "okx", at(40), listOf("notices", done, notice("open", at(50))));
    await said(pool, "okx", at(39), listOf("notices"));
    t.match(await noticesOf(pool, "okx"), [
      { external_id: "done", vanished: false, left_at: iso(39) },
      { external_id: "open", vanished: true, left_at: iso(39) },
    ]);
  });

  await t.test("a feed that shows only the current status gives notices with a start and an end", async (t) => {
    const status = (word: string, title = "upgrade") => notice(null, null, { status: word, title, impact: null });
    const readings = [[status("close")], [status("close", "longer")], [status("cancelonly")], [], [status("close")]];
    for (const [nth, notices] of readings.entries())
      await said(pool, "kucoin", at(40 - nth), listOf("now", ...notices));
    const rows = await noticesOf(pool, "kucoin");
    t.match(rows, [
      {
        ...{ status: "close", title: "longer", over: true, vanished: false },
        // the feed may have shown it for long
        ...{ started_at: iso(40), posted_at: null, resolved_at: iso(38), last_seen_at: iso(39) },
      },
      // posted after the previous reading, which did not have it
      { status: "cancelonly", over: true, started_at: iso(38), posted_at: iso(39), resolved_at: iso(37) },
      {
        ...{ status: "close", title: "upgrade", over: false, left_at: null },
        ...{ started_at: iso(36), posted_at: iso(37), resolved_at: null },
      },
    ]);
    t.equal(new Set(rows.map((row) => row.external_id)).size, 3);
    const titles = (await changesOf(pool, rows[0]!.external_id)).map(({ title }) => title);
    t.strictSame(titles, ["upgrade", "longer", "longer"], "its end is recorded, too");
  });

  await t.test("the time of publication does not change in hindsight, the start may", async (t) => {
    const one = notice("a", at(50), { postedAt: at(45) });
    await readInTurn([40, one], [39, { ...one, startedAt: at(90), postedAt: at(90) }]);
    t.match(await noticesOf(pool, "kraken"), [{ started_at: iso(90), posted_at: iso(45) }]);
    t.equal((await changesOf(pool, "a")).length, 2, "the change of the start is recorded");
  });

  await t.test("an impossible time of publication is corrected", async (t) => {
    const one = notice("a", at(50), { postedAt: new Date(0) });
    await readInTurn([40, one], [39, { ...one, postedAt: at(48), status: "resolved" }]);
    t.match(await noticesOf(pool, "kraken"), [{ posted_at: iso(48), doubtful: false }]);
  });

  await t.test("a notice that is gone after an hour of trouble was last seen before it", async (t) => {
    await readInTurn([100, notice("a", at(200))]);
    for (const minutesAgo of [95, 85, 75, 65, 55, 45])
      await said(pool, "kraken", at(minutesAgo), [], { problem: "answered 503" });
    await readInTurn([40]);
    t.match(await noticesOf(pool, "kraken"), [{ left_at: iso(40), last_seen_at: iso(100) }]);
  });

  await t.test("impossible times are stored, and flagged", async (t) => {
    const maintenance = (id: string, startedAt: Date) =>
      notice(id, startedAt, { kind: "maintenance", postedAt: at(50) });
    const year = 366 * 1440;
    const likely = [
      notice("usual", at(60)),
      notice("a clock that is ahead", at(31)),
      notice("of old", at(40 + year - 1)),
      maintenance("next week", at(-10_000)),
      notice("over at once", at(60), { resolvedAt: at(60), over: true }),
      notice("called off", at(-100), { kind: "maintenance", postedAt: at(50), resolvedAt: at(45), over: true }),
      notice("with the planned end of work that ended early", at(60), { resolvedAt: at(-1000), over: true }),
    ];
    const doubtful = [
      notice("begins tomorrow", at(-1400)),
      notice("posted tomorrow", at(60), { postedAt: at(-1400) }),
      notice("posted in 1970", at(60), { postedAt: new Date(0) }),
      notice("from before", at(40 + year + 1)),
      notice("the first year", new Date("0001-01-01T00:00:00Z")),
      notice("the last year", new Date("9999-12-31T23:59:59Z")),
      maintenance("in ages", at(-600_000)),
      notice("over before it began", at(60), { resolvedAt: at(61), over: true }),
      notice("over long before it began", at(60), { postedAt: at(100), resolvedAt: at(1000), over: true }),
      notice("over in two days", at(60), { resolvedAt: at(-2880), over: true }),
      notice("over in the last year", at(60), { resolvedAt: new Date("9999-12-29T00:00:00Z"), over: true }),
      { ...maintenance("work over in 2099", at(60)), resolvedAt: new Date("2099-01-01T00:00:00Z"), over: true },
    ];
    await readInTurn([40, ...likely, ...doubtful]);
    const rows = await noticesOf(pool, "kraken");
    const flagged = rows.filter((row) => row.doubtful).map((row) => row.external_id);
    t.equal(rows.length, likely.length + doubtful.length);
    t.strictSame(new Set(flagged), new Set(doubtful.map(({ id }) => id)));
  });

  await t.test("a Statuspage that dates the end before the beginning is flagged", async (t) => {
    const created_at = "2026-09-11T08:00:00.000Z";
    const resolved = { ...incident, status: "resolved", created_at };
    const { list } = parse(
      kraken,
      incidentsBody(
        { ...resolved, started_at: "2026-09-11T08:20:38.000Z", resolved_at: created_at },
        { ...resolved, id: "right", started_at: created_at, resolved_at: "2026-09-11T08:20:38.000Z" },
      ),
    );
    await said(pool, "kraken", new Date("2026-09-11T12:00:00Z"), [list!]);
    t.match(await noticesOf(pool, "kraken"), [
      { external_id: "right", doubtful: false },
      { external_id: incident.id, doubtful: true },
    ]);
  });

  await t.test("of two venues that share a feed, a notice stays with the one it was about", async (t) => {
    const elevated = { ...incident, name: "Elevated error rates", resolved_at: null };
    const kinds = async () => {
      const of = async (venue: string) => (await noticesOf(pool, venue))[0]?.kind ?? "none";
      return { spot: await of("kraken"), derivatives: await of("kraken-futures") };
    };
    const words = (venue: string, about: string[] | null, notAbout: string[] | null) =>
      pool.query(sql`
        update venue set official_about = api.like_any(${about}), official_not_about = api.like_any(${notAbout})
        where venue = ${venue}
      `);
    await words("kraken", null, ["Deposit", "Derivatives"]);
    await words("kraken-futures", ["Derivatives"], null);
    const read = async (minutesAgo: number, entry: unknown) =>
      said(pool, "kraken", at(minutesAgo), [parse(kraken, incidentsBody(entry)).list!]);
    await read(40, { ...elevated, status: "investigating", components: [{ name: "Derivatives API" }] });
    const first = { spot: "other", derivatives: "incident" };
    t.strictSame(await kinds(), first);
    const over = { ...elevated, status: "resolved", resolved_at: elevated.created_at };
    await read(39, { ...over, components: [] });
    t.strictSame(await kinds(), first, "its components are unlinked");
    await read(38, { ...over, id: "imported", components: [] });
    t.strictSame(await kinds(), first, "its record is imported");
    t.equal((await noticesOf(pool, "kraken")).length, 1);
    await read(37, { ...over, id: "imported", components: [], name: "Everything works again" });
    t.strictSame(await kinds(), first, "its title is another one");
    await words("kraken-futures", ["Elevated"], null);
    t.strictSame(await kinds(), first, "its first title named the venue");
  });

  await t.test("half a character and the character NUL lose no notice", async (t) => {
    await readInTurn([40, notice("a", at(50), { title: "half \ud83d of \0 it" })]);
    t.match(await noticesOf(pool, "kraken"), [{ title: /^half \ufffd of {2}it$/ }]);
  });

  await t.test("a duplicate id in a list is one notice", async (t) => {
    t.match(await readInTurn([40, notice("a", at(50)), notice("a", at(60))]), { added: 1 });
  });

  await t.test("a feed that invents notices cannot fill the disk", async (t) => {
    t.match(await readInTurn([40, ...many(0, 900)]), { added: 900 }, "a first reading brings a whole history");
    const third = await readInTurn([39, ...many(0, 1150)], [38, ...many(1100, 100)]);
    t.match(third, { added: 50, refused: 0, left_feed: 1100 });
    t.match(await readInTurn([37, ...many(1200, 100)]), { added: 0, refused: 100, left_feed: 0 });
    t.match(await feedOf(pool, "kraken"), { state: "unreadable", problem: "more than 300 new notices within a day" });
    t.match(await readInTurn([37 - 1440, ...many(1200, 100)]), { added: 100 }, "a day later");
  });

  await t.test("of too many new notices the newest are stored", async (t) => {
    await readInTurn([40], [39, notice("first", at(39))]);
    t.match(await readInTurn([38, ...many(0, 301)]), { added: 299, refused: 2 });
    const [oldest] = await noticesOf(pool, "kraken");
    t.equal(oldest!.external_id, "n298", "the oldest notices are not stored");
  });

  await t.test("a notice that changes with every reading soon gets no more change records", async (t) => {
    await readInTurn([2000, notice("a", at(2000))]);
    await pool.query(sql`
      insert into notice_change (notice_id, at, kind, status, title, started_at, subjects, vanished)
      select notice_id, first_seen_at + n * interval '1 s', kind, 'status', 'title', started_at, '{}', false
      from notice cross join generate_series(1, 999) n
    `);
    await readInTurn([40, notice("a", at(2000), { status: "new" })]);
    t.equal((await changesOf(pool, "a")).length, 1000);
    t.match(await noticesOf(pool, "kraken"), [{ status: "new" }]);
  });

  await t.test("a change of the raw text alone is written once an hour", async (t) => {
    const withRaw = (raw: string) => notice("a", at(200), { raw });
    await readInTurn([100, withRaw("1")], [98, withRaw("2")]);
    t.match(await noticesOf(pool, "kraken"), [{ raw: "1" }]);
    await readInTurn([38, withRaw("3")]);
    t.match(await noticesOf(pool, "kraken"), [{ raw: "3" }]);
    t.equal((await changesOf(pool, "a")).length, 1);
  });

  await t.test("a change from incident to maintenance is recorded", async (t) => {
    const one = notice("a", at(50));
    await readInTurn([40, one], [39, { ...one, kind: "maintenance", subjects: ["API"] }]);
    t.strictSame(await pool.query(sql`select kind, subjects from notice_change order by at`), [
      { kind: "incident", subjects: [] },
      { kind: "maintenance", subjects: ["API"] },
    ]);
  });

  await t.test("a notice whose components are unlinked keeps them", async (t) => {
    const one = notice("a", at(50), { subjects: ["Derivatives API", "Margin API"] });
    const resolved = (...subjects: string[]) => ({ ...one, status: "resolved", over: true, subjects });
    const kept = () => pool.query(sql`select status, subjects from notice`);
    for (const [left, subjects] of [
      [[], ["Derivatives API", "Margin API"]],
      [["Margin API"], ["Derivatives API", "Margin API"]],
      [
        ["Spot API", "Margin API"],
        ["Derivatives API", "Margin API", "Spot API"],
      ],
    ] as const) {
      await forgetSaid(pool);
      await readInTurn([40, one], [39, resolved(...left)]);
      t.strictSame(await kept(), [{ status: "resolved", subjects }], `linked to the end: ${left.join(", ")}`);
    }
    for (const minutesAgo of [38, 37])
      await readInTurn([minutesAgo, resolved(...Array.from({ length: 100 }, (_, n) => `API ${minutesAgo}-${n}`))]);
    const [row] = await pool.query<{ subjects: string[] }>(sql`select subjects from notice`);
    t.equal(row!.subjects.length, 100, "however many others it names");
  });

  await t.test("a notice that is made again under another id stays the same, and keeps its subjects", async (t) => {
    const one = notice("a", at(80), { postedAt: at(50), subjects: ["Derivatives API", "Margin API"] });
    const rows = () =>
      pool.query<{ id: string; subjects: string[]; vanished: boolean }>(sql`
        select external_id as id, subjects, vanished from notice where left_at is null order by notice_id
      `);
    const again = { ...one, id: "b", subjects: [] };
    const recognised: [what: string, made: Notice][] = [
      ["without its components", again],
      ["with one of them, and over", { ...again, subjects: ["Margin API"], status: "resolved", over: true }],
      ["to the minute, in another case", { ...again, startedAt: at(80.9), title: one.title.toUpperCase() }],
      ["imported with its publication as its start", { ...again, startedAt: at(49.5), postedAt: at(41) }],
    ];
    for (const [what, made] of recognised)
      for (const readings of [[], [[39]], [[39], [38]]] as [minutesAgo: number][][]) {
        await forgetSaid(pool);
        await readInTurn([40, one], ...readings, [37, made], [36, made]);
        const kept = { id: "b", subjects: one.subjects, vanished: false };
        t.strictSame(await rows(), [kept], `${what}, ${readings.length} readings later`);
        t.equal((await noticesOf(pool, "kraken")).length, 1, "it counts once");
      }
    const others: [what: string, made: Notice][] = [
      ["another title", { ...again, title: "Elevated errors of withdrawals" }],
      ["another start", { ...again, startedAt: at(82) }],
      ["another kind", { ...again, kind: "maintenance" }],
    ];
    for (const [what, made] of others) {
      await forgetSaid(pool);
      await readInTurn([40, one], [39, made]);
      t.equal((await noticesOf(pool, "kraken")).length, 2, what);
    }
    await forgetSaid(pool);
    await readInTurn([40, one], [39, one, again]);
    t.equal((await noticesOf(pool, "kraken")).length, 2, "two that are listed at once are two");
    await forgetSaid(pool);
    const old = notice("a", at(50_000));
    await readInTurn([45_000, old], [44_000], [40, { ...old, id: "b" }]);
    t.equal((await noticesOf(pool, "kraken")).length, 2, "it left a month ago");
  });

  await t.test("the time of publication is known only where the previous reading lacked the notice", async (t) => {
    const one = notice("a", at(50), { postedAt: null });
    const postedAt = async (...readings: [minutesAgo: number, problem: string | null][]) => {
      await forgetSaid(pool);
      for (const [minutesAgo, problem] of readings)
        await said(pool, "okx", at(minutesAgo), listOf("notices"), { problem });
      await said(pool, "okx", at(10), listOf("notices", one));
      return (await noticesOf(pool, "okx"))[0]!.posted_at;
    };
    t.strictSame(await postedAt([11, null]), at(11), "after that");
    t.strictSame(await postedAt(), null, "never read before");
    t.strictSame(await postedAt([12, null], [11, "answered 503"]), null);
    t.strictSame(await postedAt([30, null]), null, "read long before");
  });
});

// Which real titles of status pages count as notices about what we measure, by the words of the registry.

/** The venue whose feed it is, and titles that were posted there, or could be. */
const titles: Record<string, { other: string[]; incident: string[] }> = {
  kraken: {
    other: [
      "Document upload issues",
      "Wells Fargo (Plaid) Scheduled Maintenance",
      "Funding delays for select blockchain networks",
      "Base Network Funding Delays",
      "Delayed EUR Withdrawals via Banking Circle",
      "Issues creating virtual account orders on Banking Circle",
      "EUR and GBP transfers via OpenPayd delayed",
      "Earn functionality disruptions.",
      "Delayed Historical Portfolio Data",
      "Delayed Historical Balance Data",
      "Issues creating new API keys",
      "Delayed Delivery of Account-Related Email Notifications",
      "Krak App - degraded performance",
      'Pay with balance" not working on Kraken Pro Web for Prop purchases',
      "Connectivity Issues - Derivatives",
      "NinjaTrader Perpetual Markets Closed",
    ],
    incident: [
      "Issues with Conflux (CFX) and GMX (GMX) trading via FIX and WS API.",
      "Websocket API connectivity issues",
      "API network latency",
      "Network connectivity issues affecting the REST API",
      "Yearn (YFI) trading halted",
      "Backlog in order processing",
      "Cardano (ADA) markets in cancel only",
      "Market charts unavailable for some Kraken Pro app users",
      "Kraken spot trading outage",
    ],
  },
  coinbase: {
    other: [
      "Delayed Sends/Receives - Mina",
      "Delayed Sends / Receives - ZEC",
      "Delayed Sends and Receives - Ethereum Network",
      "Hedera - Delayed Sends/Receives",
      "Delayed Receives - ARBETH",
      "Paused Sends/Receives - Core DAO Network",
      "USDC Network Support Update",
      "Degraded Performance - CDP Wallets",
      "Degraded performance - Coinbase Onramp",
      "Degraded Performance - Banking Circle",
      "Degraded Performance - Lending and Borrowing",
      "Site Performance - Prediction Markets",
      "Upcoming Trading Suspension: BADGER-USD and STORJ-USD",
    ],
    incident: [
      "Degraded Performance - Market Data",
      "WebSocket feed sends stale order books",
      "Orders not received over FIX",
      "Network degradation - REST API and WebSocket feed",
      "Delayed market data",
      "Trading halted on all markets",
    ],
  },
  gemini: {
    other: [
      "BSC Network Delays",
      "Base Network Delays",
      "Ripple Ledger Transfers Currently Unavailable",
      "Sui Transfers Unavailable",
      "Crypto Transfers Temporarily Unavailable",
      "XRPL chain-monitor finalization stalled",
      "SUI Chain Monitor Not Processing Blocks",
      "Some users are experiencing errors with the Gemini credit card.",
      "Portfolio Balance Discrepancy",
      "Delayed order completion email notifications",
      "SMS Codes Unavailable in UK",
      "Service Disruption eOTC",
      "Address Book Updates Unavailable",
    ],
    incident: [
      "Multi-service degradation - market data, order management impact and transfers",
      "Websockets (wss://ws.gemini.com) connectivity issues",
      "Websockets (legacy) order events connections issues",
      "API endpoint /v1/mytrades not returning all trades",
      "Some Trading Features Unavailable",
      "Order Modification Delays",
      "Some customers may experience issues placing orders on Web and Mobile.",
      "Order matching mechanisms degraded",
    ],
  },
  "kraken-futures": {
    other: ["Derivatives Portfolio data delayed", "Futures wallet: document upload issues", "Futures funding delays"],
    incident: ["Connectivity Issues - Derivatives", "Futures API network latency", "Derivatives trading paused"],
  },
  deribit: {
    other: ["Delayed transfers between subaccounts", "Login issues", "Delayed BTC withdrawals"],
    incident: ["Platform Outage", "Matching engine restart", "Network latency on the WebSocket API"],
  },
  usdc: {
    other: [
      "CCTP Attestations on Base Delayed",
      "USDC on Stellar Testnet — Delayed mints, burns, and faucet requests",
      "Circle Sandbox - Celo USDC - Mint/Burn/Faucet Delays",
      "Solana Devnet Outage",
      "Programmable Wallets - Delays/Degraded Performance",
      "Circle xReserve on Stacks Mainnet — Delays and degraded performance",
      "USDCx Mints and Burns delayed on Cardano",
      "Circle Gateway delays",
      "Paymaster unavailable",
      "Delayed transactions on Arc Mainnet",
    ],
    incident: [
      "USDC on Linea — Delayed mints",
      "USDC on Stellar — Delayed mints and burns",
      "Delayed Circle Mint transactions on Solana",
      "Circle Mint search unavailable",
      "Delayed Processing of Transactions over multiple Products and Networks",
    ],
  },
  cctp: {
    other: ["CCTP testnet attestations delayed", "CCTP Sandbox unavailable"],
    incident: ["CCTP Attestations on Base Delayed", "Plume CCTP Mainnet Attestations Paused"],
  },
  solana: { other: ["Solana Devnet Outage"], incident: ["Mainnet Beta degraded performance"] },
};

void t.test("real titles are about what we measure, or not", async (t) => {
  const { pool } = await migratedDatabase(t);
  await syncRegistry(pool, await loadRegistry("registry/all.json"));
  for (const [venue, { other, incident }] of Object.entries(titles)) {
    await pool.script("truncate notice_change, notice, feed_poll restart identity");
    const all = [...other, ...incident];
    const at = new Date(Date.now() - 5 * 60_000);
    await said(pool, venue, at, [whole(...all.map((title) => notice(title, at, { title })))]);
    const rows = await pool.query<{ title: string; kind: string }>(sql`
      select n.title, n.kind from api.notice n join venue v using (venue_id) where v.venue = ${venue}
    `);
    const kinds = new Map(rows.map(({ title, kind }) => [title, kind]));
    for (const title of other) t.equal(kinds.get(title), "other", `${venue}: ${title}`);
    for (const title of incident) t.equal(kinds.get(title), "incident", `${venue}: ${title}`);
  }
});
