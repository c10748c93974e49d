/** Feeds of the simulated venues, read and stored as core does it. */
import { once } from "node:events";
import t, { type Test } from "tap";
import { openPool, type Pool, sql } from "../../../../shared/database/pool.js";
import { startEngine } from "../../../../server/core/engine/leader.js";
import { makeLog } from "../../../../shared/log/log.js";
import { migrate } from "../../../../server/database/migrate.js";
import { makePolling } from "../../../../server/core/notices/polling.js";
import { makeFeedReader } from "../../../../server/core/notices/reader.js";
import { packagedFile } from "../../../../shared/config/package.js";
import { loadRegistry } from "../../../../shared/registry/load-registry.js";
import { migratedDatabase } from "../../../support/database.js";
import { listeningLog } from "../../../support/listening-log.js";
import { forgetSaid, noticesOf, sourceOf } from "../../../support/stored-notices.js";
import { until } from "../../../support/until.js";
import type { ScriptedFault } from "../../../../world/faults.js";
import type { ScriptedPost } from "../../../../world/notices/posts.js";
import { startWorld, type World } from "../../../../world/world.js";

const registry = await loadRegistry(packagedFile("registry/exchanges.json"));
const minuteMs = 60_000;
const begin = Math.floor(Date.now() / minuteMs) * minuteMs - 120 * minuteMs;
/** This many minutes after the world began, two hours ago. */
const at = (minute: number) => new Date(begin + minute * minuteMs);
/** The same as text: to `t.match` all dates are equal. */
const iso = (minute: number) => at(minute).toISOString();

const from = (minute: number) => ({ postedAt: at(minute), endedAt: at(minute + 1) });
const between = { postedAt: at(10), endedAt: at(30) };
const posts: ScriptedPost[] = [
  { venue: "deribit", title: "Matching is slow", impact: "critical", ...between, indicator: "none" },
  { venue: "deribit", title: "Upgrade", impact: "maintenance", postedAt: at(5), startedAt: at(60), endedAt: at(70) },
  ...[1, 2, 3].map((minute) => ({
    venue: "bitstamp",
    title: `Errors, again ${minute}`,
    impact: "minor",
    ...from(minute),
  })),
  { venue: "okx", title: "Spot errors", impact: "disruption", ...between },
  { venue: "bybit", title: "Trading paused", impact: "incident", ...between },
  { venue: "kucoin", title: "cancel only", impact: "cancelonly", ...between },
  { venue: "binance", title: "system maintenance", impact: "maintenance", ...between },
  { venue: "bitget", title: "Spot upgrade", impact: "spot_maintenance", ...between },
  { venue: "bitget", title: "Wallet upgrade", impact: "asset_maintenance", ...between },
  { venue: "gate", title: "Engine upgrade", impact: "engine_upgrade", ...between },
];

/** A core's polling of a world, on a shared clock. */
async function openPolling(t: Test, pool: Pool, random = 0.5) {
  let now = at(0);
  const world = await startWorld({ registry, posts, now: () => now });
  t.teardown(() => world.close());
  const { log, lines } = listeningLog("info");
  await migrate(pool, world.registry, makeLog("test", "warn"));
  await forgetSaid(pool);
  const reader = makeFeedReader({ userAgent: "venuewatch/test", pauseMs: 0, deadlineMs: 10_000, quietMs: 200 });
  t.teardown(() => reader.close());
  const polling = makePolling({ db: pool, reader, log, random: () => random });
  const { signal } = new AbortController();

  /** Reads all feeds due at that minute. Resolves to the milliseconds until the next is due. */
  async function readAll(minute: number): Promise<number> {
    now = at(minute);
    for (;;) {
      const restMs = await polling.readNext(signal, now);
      if (restMs > 0) return restMs;
    }
  }
  return { world, lines, polling, readAll };
}

async function newestRun(pool: Pool, venue: string) {
  const [row] = await pool.query<{ problem: string | null; from_at: Date; until_at: Date; due_at: Date }>(sql`
    select r.problem, r.from_at, r.until_at, s.due_at
    from feed_poll r
    join feed s using (feed_id)
    where r.feed_id = ${await sourceOf(pool, venue)}
    order by r.from_at desc
    limit 1
  `);
  return row!;
}

async function count(pool: Pool, from: string): Promise<number> {
  const [row] = await pool.text<{ n: number }>(`select count(*)::int as n from ${from}`, []);
  return row!.n;
}

const requests = (world: World, venue?: string) => world.requests({ component: "official", ...(venue && { venue }) });

void t.test("core reads the feeds of the simulated world", async (t) => {
  const { pool } = await migratedDatabase(t);

  await t.test("each kind is read, and an incident is stored from its start to its end", async (t) => {
    const { readAll, world, lines } = await openPolling(t, pool);
    await readAll(0);
    const feeds = new Set(registry.venues.flatMap(({ official }) => official?.api ?? []));
    t.equal(await count(pool, "feed_poll join feed using (feed_id) where published"), feeds.size);
    t.equal(await count(pool, "feed_poll where problem is not null"), 0);
    const before = requests(world);

    await readAll(12);
    await readAll(31);
    const incident = { title: "Matching is slow", impact: "critical", status: "resolved", over: true };
    t.match(await noticesOf(pool, "deribit"), [
      { ...incident, posted_at: iso(10), resolved_at: iso(30) },
      { title: "Upgrade", kind: "maintenance", started_at: iso(60), over: false },
    ]);
    // not from the feed: the time of the previous reading, which did not have it
    const posted = { posted_at: iso(0), over: true };
    for (const venue of ["okx", "bybit", "kucoin"])
      t.match(await noticesOf(pool, venue), [{ kind: "incident", ...posted }], venue);
    t.match(await noticesOf(pool, "binance"), [{ kind: "maintenance", ...posted }]);
    const announced = { kind: "maintenance", status: "announced", started_at: iso(10), posted_at: iso(10), over: true };
    t.match(await noticesOf(pool, "bitget"), [{ title: "Spot upgrade", ...announced }]);
    t.match(await noticesOf(pool, "gate"), [{ title: "Engine upgrade", ...announced, vanished: false }]);
    t.match(lines.join(""), "notices");
    t.notMatch(lines.join(""), "cannot be read");
    t.ok(before > 0 && requests(world) > before);
  });

  await t.test("a feed in trouble is unreadable, the others continue, and stored notices stay", async (t) => {
    const troubles: [ScriptedFault["kind"], Partial<ScriptedFault>, RegExp][] = [
      ["status", { status: 503 }, /503/],
      ["status", { status: 301, location: "http://elsewhere.example/" }, /elsewhere\.example/],
      ["wrong-body", {}, /HTML/],
      ["other-product", {}, /./],
      ["lost-fields", {}, /expected/],
      ["back-in-time", {}, /went back in time/],
      ["reset", {}, /./],
      ["error-inside", {}, /./],
      ["endless", {}, /./],
    ];
    const { world, readAll, lines } = await openPolling(t, pool);
    await readAll(12);
    const before = await noticesOf(pool, "deribit");
    t.equal(before.length, 2);
    let minute = 14;
    for (const [kind, details, expected] of troubles) {
      world.fault({ kind, venue: "deribit", component: "official", ...details });
      await readAll(minute);
      const run = await newestRun(pool, "deribit");
      t.match(run.problem, expected, kind);
      t.strictSame(run.from_at, at(14), "since the first trouble");
      t.equal((await newestRun(pool, "bybit")).problem, null);
      t.strictSame(await noticesOf(pool, "deribit"), before, kind);
      await world.clear();
      minute += 2;
    }
    t.equal(lines.filter((line) => line.includes("cannot be read")).length, 1, "logged once");
    await readAll(minute + 10);
    t.strictSame((await newestRun(pool, "deribit")).problem, null);
    t.equal(lines.filter((line) => line.includes("can be read again")).length, 1);
    t.match(await noticesOf(pool, "deribit"), [{ over: true }, {}]);
  });

  await t.test("a list of several notices that is suddenly empty is unreadable, and no notice vanishes", async (t) => {
    const { world, readAll, lines } = await openPolling(t, pool);
    await readAll(12);
    t.equal((await noticesOf(pool, "bitstamp")).length, 3);
    world.fault({ kind: "empty-list", venue: "bitstamp", component: "official" });
    await readAll(14);
    t.equal((await newestRun(pool, "bitstamp")).problem, "incidents: expected the 3 known notices, got none");
    t.equal(await count(pool, "notice where left_at is not null"), 0);
    t.match(lines.join(""), "got none");
  });

  await t.test("a reading of an unchanged feed extends the run, and writes no change", async (t) => {
    const { world, readAll } = await openPolling(t, pool);
    await readAll(12);
    const first = requests(world, "deribit");
    await readAll(14);
    const second = requests(world, "deribit") - first;
    t.ok(second > 0 && second <= first);
    t.match(await newestRun(pool, "deribit"), { problem: null, from_at: iso(12), until_at: iso(14) });
    t.equal(await count(pool, `notice_change where at > '${at(12).toISOString()}'`), 0);
  });

  await t.test("each feed keeps its cadence, backs off while it is unreadable, and honours Retry-After", async (t) => {
    const { world, readAll } = await openPolling(t, pool);
    const dueIn = async (venue: string, minute: number) =>
      Math.round((+(await newestRun(pool, venue)).due_at - +at(minute)) / 1000);
    t.equal(await readAll(0), 30_000, "the poller rests no longer than until the next feed is due");
    t.equal(await dueIn("deribit", 0), 90);
    world.fault({ kind: "status", status: 503, venue: "deribit", component: "official" });
    await readAll(2);
    await readAll(4);
    t.equal(await dueIn("deribit", 4), 90);
    await readAll(14);
    t.equal(await dueIn("deribit", 14), 180, "a quarter of the time that it has been unreadable");
    await readAll(60);
    t.equal(await dueIn("deribit", 60), 540, "at most nine minutes");
    t.equal(await dueIn("bybit", 60), 90);
    world.fault({ kind: "limited", retryAfterS: 300, venue: "bybit", component: "official" });
    await readAll(62);
    t.equal(await dueIn("bybit", 62), 300);
  });

  await t.test("readings have a jitter of a fifth", async (t) => {
    for (const random of [0, 1]) {
      const { readAll } = await openPolling(t, pool, random);
      await readAll(0);
      const { due_at: dueAt } = await newestRun(pool, "deribit");
      t.equal((+dueAt - +at(0)) / 1000, random === 0 ? 72 : 108);
    }
  });

  await t.test("a core that stops in mid-reading stores nothing", async (t) => {
    const { world, polling } = await openPolling(t, pool);
    world.fault({ kind: "timeout", venue: "*", component: "official" });
    const ending = new AbortController();
    const reading = polling.readNext(ending.signal, at(0));
    await until(() => requests(world) > 0);
    ending.abort();
    await t.rejects(reading);
    t.equal(await count(pool, "feed_poll"), 0);
    t.equal(await count(pool, "feed where published and due_at > now()"), 0, "the feed is released");
  });
});

void t.test("of two cores only the leader reads, three feeds at a time", async (t) => {
  const { url } = await migratedDatabase(t);
  const log = makeLog("core", "error");
  const cores = [0, 1].map(() => {
    const pool = openPool(url, { applicationName: "core", log });
    const leasePool = openPool(url, { applicationName: "core lease", log });
    const readings = { begun: 0, inFlight: 0, most: 0 };
    const core = startEngine({
      ...{ pool, leasePool, log },
      async readNextFeed(signal) {
        readings.begun += 1;
        readings.inFlight += 1;
        readings.most = Math.max(readings.most, readings.inFlight);
        await once(signal, "abort");
        readings.inFlight -= 1;
        signal.throwIfAborted();
        return 0;
      },
    });
    const closeAll = async () => {
      await core.close();
      await Promise.all([pool.close(), leasePool.close()]);
    };
    let closed: Promise<void> | null = null;
    const close = () => (closed ??= closeAll());
    t.teardown(close);
    return { close, readings };
  });
  await until(() => cores.some(({ readings }) => readings.begun === 3));
  const leader = cores.find(({ readings }) => readings.begun === 3)!;
  const other = cores.find((core) => core !== leader)!;
  t.equal(leader.readings.most, 3);
  t.equal(other.readings.begun, 0);
  await leader.close();
  await until(() => other.readings.begun === 3);
  t.equal(leader.readings.begun, 3, "readings in flight ended, and none began");
});
