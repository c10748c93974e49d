/** What `/v1/transfers` says of venues' lists. */
import t from "tap";
import { sql } from "../../../../shared/database/pool.js";
import type { TypeOf } from "../../../../server/web/api/shapes.js";
import type { transfersResponse } from "../../../../server/web/board/transfers.js";
import { serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { notice, said, whole } from "../../../support/stored-notices.js";
import { forgetListed, line, listed } from "../../../support/stored-transfers.js";

type Transfers = TypeOf<typeof transfersResponse>;

const { pool, registry } = await migratedDatabase(t);
const api = await serve(t, { pool, registry });

const minuteMs = 60_000;
/** This many minutes before the instant that the answers show. */
const ago = (minutes: number) => new Date(now - minutes * minuteMs);
let now = 0;

t.beforeEach(async () => {
  await forgetListed(pool);
  await pool.script("truncate notice_change, notice, feed_poll restart identity; delete from engine_clock");
  const [row] = await pool.query<{ now: Date }>(sql`
    insert into engine_clock (ticked_at, version, silent_after_ms)
    values (date_trunc('milliseconds', now()), 'test', 86400000)
    returning ticked_at as now
  `);
  now = +row!.now;
});

async function transfers(query = ""): Promise<Transfers> {
  return (await api.ask<Transfers>(`/v1/transfers${query}`)).body;
}

void t.test("each line has both directions, and the figures of ninety days", async (t) => {
  await listed(pool, "gate", ago(60), [line("BTC", "BTC"), line("USDT", "TRX")]);
  await listed(pool, "gate", ago(45), [line("BTC", "BTC"), line("USDT", "TRX", "paused", "open", "wallet upgrade")]);
  await listed(pool, "gate", ago(30), [line("BTC", "BTC"), line("USDT", "TRX")]);
  await listed(pool, "gate", ago(15), [line("BTC", "BTC"), line("USDT", "TRX", "paused")]);
  await listed(pool, "gate", ago(5), [line("BTC", "BTC"), line("USDT", "TRX", "paused")]);
  const { transfers: lines, withdrawalsPaused, depositsPaused } = await transfers();
  t.match({ withdrawalsPaused, depositsPaused }, { withdrawalsPaused: 1, depositsPaused: 0 });
  t.strictSame(
    lines.map(({ venue, asset, network }) => [venue, asset, network].join(" ")),
    ["gate BTC bitcoin", "gate USDT tron"],
  );
  const [, usdt] = lines;
  t.match(usdt, { networkName: "Tron", venueNetwork: "TRX", readAt: ago(5).toISOString() });
  t.match(usdt!.withdrawal, {
    ...{ state: "paused", since: ago(15).toISOString(), because: null, notice: null, contradicted: false },
    ...{ pauses90d: 2, pausedMinutes90d: 15 + 10, knownMinutes90d: 55 },
  });
  t.match(usdt!.deposit, { state: "open", pauses90d: 0, pausedMinutes90d: 0, knownMinutes90d: 55 });
});

void t.test("the days that upkeep has added up count once", async (t) => {
  const day = 24 * 60;
  await listed(pool, "gate", ago(3 * day + 15), [line("BTC", "BTC")]);
  for (let minute = 3 * day; minute >= 0; minute -= 15)
    await listed(pool, "gate", ago(minute), [line("BTC", "BTC", minute > 2 * day ? "paused" : "open")]);
  const before = (await transfers()).transfers[0]!.withdrawal;
  t.match(before, { pauses90d: 1, pausedMinutes90d: day, knownMinutes90d: 3 * day + 15 });
  await pool.query(sql`call upkeep.refresh_transfers(now())`);
  t.strictSame((await transfers()).transfers[0]!.withdrawal, before);
});

void t.test("a list that was not read for twenty minutes says nothing of the present", async (t) => {
  await listed(pool, "gate", ago(50), [line("BTC", "BTC", "paused")]);
  await listed(pool, "gate", ago(25), null, { problem: "answered HTML instead of JSON" });
  const { transfers: lines, sources, withdrawalsPaused } = await transfers();
  const because = "answered HTML instead of JSON";
  t.match(lines[0]!.withdrawal, { state: "unknown", since: ago(50).toISOString(), because });
  t.equal(withdrawalsPaused, 0);
  t.match(
    sources.find(({ venue }) => venue === "gate"),
    { state: "unreadable", because, readAt: ago(50).toISOString() },
  );
});

void t.test("venues that say it only with an account are named with their sentence", async (t) => {
  const { sources } = await transfers();
  t.match(
    sources.find(({ venue }) => venue === "binance"),
    { state: "unsaid", because: /only with an account/, readAt: null },
  );
  t.match(
    sources.find(({ venue }) => venue === "kraken"),
    { state: "unreadable", because: "not read yet" },
  );
  t.notOk(sources.some(({ venue }) => venue === "kraken-futures"));
});

void t.test("the venue's own notice stands beside a pause", async (t) => {
  const titles = [
    ["Withdrawals of Tether on Tron are delayed", 20],
    ["USDT listing", 16],
    ["Solana deposits and withdrawals paused", 15],
    ["Elevated API latency", 15],
    ["USDT deposits via ERC20 unavailable", 14],
  ] as const;
  const notices = titles.map(([title, minutes], index) => notice(`n${index}`, ago(minutes), { title, over: true }));
  await said(pool, "kraken", ago(10), [whole(...notices)]);
  await listed(pool, "kraken", ago(30), [line("USDT", null), line("SOL", null), line("BTC", null)]);
  const paused = [line("USDT", null, "paused"), line("SOL", null, "paused", "paused"), line("BTC", null, "paused")];
  await listed(pool, "kraken", ago(15), paused);
  await listed(pool, "kraken", ago(5), paused);
  const { transfers: lines } = await transfers("?venue=kraken");
  const of = (asset: string) => lines.find((one) => one.asset === asset)!;
  t.match(of("USDT").withdrawal.notice, { title: "Withdrawals of Tether on Tron are delayed" });
  t.equal(of("USDT").deposit.notice, null, "deposits are open, and that notice is over");
  t.match(of("SOL").withdrawal.notice, { title: "Solana deposits and withdrawals paused", kind: "other" });
  t.match(of("SOL").deposit.notice, { title: "Solana deposits and withdrawals paused" });
  t.equal(of("BTC").withdrawal.notice, null);
});

void t.test("a flag and a notice that contradict each other are both shown", async (t) => {
  const going = notice("n1", ago(300), { title: "Bitcoin withdrawals unavailable", over: false });
  await said(pool, "kraken", ago(10), [whole(going)]);
  await listed(pool, "kraken", ago(5), [line("BTC", null), line("ETH", null)]);
  const [btc, eth] = (await transfers()).transfers;
  t.match(btc!.withdrawal, { state: "open", contradicted: true, notice: { title: "Bitcoin withdrawals unavailable" } });
  t.match(btc!.deposit, { contradicted: false, notice: null });
  t.match(eth!.withdrawal, { contradicted: false, notice: null });
});

void t.test("the filters narrow it, and a wrong one is named", async (t) => {
  await listed(pool, "gate", ago(5), [line("BTC", "BTC", "paused"), line("USDT", "TRX", "open", "paused")]);
  await listed(pool, "kucoin", ago(5), [line("BTC", "btc")]);
  const shown = async (query: string) =>
    (await transfers(query)).transfers.map(({ venue, asset }) => `${venue} ${asset}`);
  t.strictSame(await shown("?asset=BTC"), ["kucoin BTC", "gate BTC"]);
  t.strictSame(await shown("?paused=true"), ["gate BTC", "gate USDT"]);
  t.strictSame(await shown("?venue=gate&asset=USDT"), ["gate USDT"]);
  t.strictSame(await shown("?asset=NOBODY"), []);
  t.match(await api.ask("/v1/transfers?asset=btc"), { status: 400 });
  t.match(await api.ask("/v1/transfers?paused=yes"), { status: 400 });
});

void t.test("a venue's own answer has its newest pauses", async (t) => {
  const btc = (state: "open" | "paused", minutes: number) =>
    listed(pool, "gate", ago(minutes), [line("BTC", "BTC", state)]);
  for (const minutes of [180, 170, 160]) await btc("open", minutes);
  await btc("paused", 150);
  // two hours without a reading do not end it
  await btc("paused", 30);
  await btc("open", 20);
  await btc("paused", 10);
  const { body } = await api.ask<Transfers>("/v1/transfers/gate");
  t.strictSame(
    body.pauses.map(({ asset, direction, startedAt, endedAt }) => ({ asset, direction, startedAt, endedAt })),
    [
      { asset: "BTC", direction: "withdrawal", startedAt: ago(10).toISOString(), endedAt: null },
      {
        ...{ asset: "BTC", direction: "withdrawal" },
        ...{ startedAt: ago(150).toISOString(), endedAt: ago(20).toISOString() },
      },
    ],
  );
  t.strictSame((await transfers()).pauses, []);
  t.match(await api.ask("/v1/transfers/nobody"), { status: 404 });
});

void t.test("the table has the same lines", async (t) => {
  await listed(pool, "gate", ago(20), [line("BTC", "BTC")]);
  await listed(pool, "gate", ago(5), [line("BTC", "BTC", "paused", "open", "=HYPERLINK(1)"), line("TON", "FOO")]);
  const { body } = await api.ask<Record<string, string>[]>("/v1/transfers.csv");
  t.match(body, [
    {
      ...{ venue: "gate", asset: "BTC", network: "bitcoin", withdrawalState: "paused", depositState: "open" },
      ...{ withdrawalSince: ago(5).toISOString(), withdrawalPauses90d: "1", withdrawalBecause: "'=HYPERLINK(1)" },
    },
    { asset: "TON", network: "", networkName: "", venueNetwork: "FOO" },
  ]);
  t.equal((await api.ask<unknown[]>("/v1/transfers?format=csv&asset=TON")).body.length, 1);
});

void t.test("metrics have what is declared, and omit what is unknown", async (t) => {
  await listed(pool, "kraken", ago(3), [line("SOL", null, "paused"), line("BTC", null, "unknown")]);
  await listed(pool, "gate", ago(30), [line("TON", "TON", "paused")]);
  await listed(pool, "kucoin", ago(3), [line("USDT", 'odd"one', "open", "paused")]);
  const { text } = await api.ask("/metrics");
  const found = text.split("\n").filter((metric) => metric.startsWith("svc_transfer_state"));
  t.strictSame(found, [
    'svc_transfer_state{venue="kraken",asset="BTC",network="",direction="deposit"} 1',
    'svc_transfer_state{venue="kraken",asset="SOL",network="",direction="deposit"} 1',
    'svc_transfer_state{venue="kraken",asset="SOL",network="",direction="withdrawal"} 0',
    'svc_transfer_state{venue="kucoin",asset="USDT",network="odd\\"one",direction="deposit"} 0',
    'svc_transfer_state{venue="kucoin",asset="USDT",network="odd\\"one",direction="withdrawal"} 1',
  ]);
});
