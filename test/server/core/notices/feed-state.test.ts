/** The state of the venues' own status feeds. */
import t, { type Test } from "tap";
import type { NoticeList } from "../../../../server/core/notices/feed.js";
import { feedKinds } from "../../../../server/core/notices/formats/feed-kinds.js";
import { makePolling } from "../../../../server/core/notices/polling.js";
import { syncRegistry } from "../../../../server/database/sync-registry.js";
import { type Pool, sql } from "../../../../shared/database/pool.js";
import { makeLog } from "../../../../shared/log/log.js";
import type { Official, Registry } from "../../../../shared/registry/registry.js";
import { serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { type FeedAnswer, json, readerFor, serve as serveFeed } from "../../../support/feed-server.js";
import { ago, decide, measured } from "../../../support/fleet.js";
import {
  changesOf,
  feedOf,
  forgetSaid,
  notice,
  noticesOf,
  said,
  sourceOf,
  whole,
} from "../../../support/stored-notices.js";

const now = Date.now();
/** The instant this many minutes before the test began. */
const at = (minutesAgo: number) => new Date(now - minutesAgo * 60_000);
/** The same as text: to `t.match` all dates are equal. */
const iso = (minutesAgo: number) => at(minutesAgo).toISOString();

const nothing: NoticeList[] = [whole()];

void t.test("the state of a feed", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  await measured(pool, { from: ago(150), to: ago(0) });
  await decide(pool);
  t.beforeEach(() => forgetSaid(pool));

  await t.test("is absent where a venue has no feed", async (t) => {
    await pool.script("update venue set feed_id = null, official_kind = null where venue = 'gate'");
    t.strictSame(await feedOf(pool, "gate"), { state: "none", problem: null, since: null, read_at: null });
  });

  await t.test("is unreadable before its first reading", async (t) => {
    const feed = await feedOf(pool, "kraken");
    t.match(feed, { state: "unreadable", problem: "not read yet" });
    t.ok(feed.since instanceof Date);
  });

  await t.test("has its start, over readings with the same result", async (t) => {
    await said(pool, "kraken", at(9), nothing);
    await said(pool, "kraken", at(8), nothing);
    await said(pool, "kraken", at(7), [], { problem: "answered 503" });
    const problem = "answered HTML instead of JSON";
    await said(pool, "kraken", at(6), [], { problem });
    t.strictSame(await feedOf(pool, "kraken"), { state: "unreadable", problem, since: at(7), read_at: at(8) });
    await said(pool, "kraken", at(5), nothing);
    t.strictSame(await feedOf(pool, "kraken"), { state: "readable", problem: null, since: at(5), read_at: at(5) });
    const runs = await pool.query(sql`select from feed_poll`);
    t.equal(runs.length, 3, "one row for each run, not for each reading");
  });

  await t.test("is unreadable after a quarter of an hour without a reading", async (t) => {
    await said(pool, "kraken", at(30), nothing);
    await said(pool, "kraken", at(16), nothing);
    const problem = `not read since ${at(16).toISOString()}`;
    t.match(await feedOf(pool, "kraken"), { state: "unreadable", problem, since: iso(16), read_at: iso(16) });
    await said(pool, "kraken", at(0), nothing);
    t.match(await feedOf(pool, "kraken"), { state: "readable", since: iso(0) });
  });

  await t.test("a reading with a problem stores what was understood, and lets no notice vanish", async (t) => {
    await said(pool, "kraken", at(9), [whole(notice("a", at(50)))]);
    const problem = "incidents[0].started_at: expected a time, got null";
    await said(pool, "kraken", at(8), [whole(notice("b", at(40)))], { problem });
    t.match(await noticesOf(pool, "kraken"), [
      { external_id: "a", vanished: false, left_at: null, last_seen_at: iso(9) },
      { external_id: "b" },
    ]);
    t.equal((await feedOf(pool, "kraken")).state, "unreadable");
  });

  await t.test("a reading of an unchanged feed keeps all its notices", async (t) => {
    await said(pool, "kraken", at(9), [whole(notice("a", at(50)))]);
    await said(pool, "kraken", at(3), nothing, { unchanged: true });
    t.match(await noticesOf(pool, "kraken"), [{ external_id: "a", left_at: null, last_seen_at: iso(3) }]);
    t.strictSame(await feedOf(pool, "kraken"), { state: "readable", problem: null, since: at(9), read_at: at(3) });
  });

  await t.test("a run records how far back its readings reach", async (t) => {
    const runOf = async (...readings: [at: Date, lists: NoticeList[]][]) => {
      await forgetSaid(pool);
      for (const [when, lists] of readings) await said(pool, "kraken", when, lists);
      const rows = await pool.query<{ covers_from: Date; until_at: Date }>(
        sql`select covers_from, until_at from feed_poll where problem is null order by from_at`,
      );
      return rows.at(-1)!;
    };
    const from = (minutesAgo: number | null, scope = "incidents") =>
      ({ scope, notices: [], listedFrom: minutesAgo === null ? null : at(minutesAgo) }) as NoticeList;
    t.match(await runOf([at(9), [from(50)]], [at(8), [from(40)]]), { covers_from: iso(50), until_at: iso(8) });
    t.match(await runOf([at(9), [from(40)]], [at(8), [from(50)]]), { covers_from: iso(50) });
    t.match(await runOf([at(9), [from(null)]], [at(8), [from(null)]]), { covers_from: iso(9), until_at: iso(8) });
    const both = await runOf([at(9), [from(50), from(20, "maintenances")]]);
    t.match(both, { covers_from: iso(50) }, "the reach of maintenances does not count for incidents");
    const late = await runOf([at(12), [from(50)]], [at(9), [from(50)]], [at(9.5), [from(50)]]);
    t.match(late, { until_at: iso(9) }, "a late reading does not move the run's end back");
  });

  await t.test("a wrong clock does no lasting harm", async (t) => {
    await said(pool, "kraken", at(-1440), nothing);
    t.match(await feedOf(pool, "kraken"), { state: "unreadable" });
    await said(pool, "kraken", at(2), nothing);
    t.match(await feedOf(pool, "kraken"), { state: /^readable$/, since: iso(2) });
  });

  await t.test("a feed that loses three or more notices at once is unreadable", async (t) => {
    const many = (count: number) => whole(...Array.from({ length: count }, (_, n) => notice(`n${n}`, at(50))));
    for (const [count, state] of [
      [2, "readable"],
      [3, "unreadable"],
    ] as const) {
      await forgetSaid(pool);
      await said(pool, "kraken", at(3), [many(count)]);
      await said(pool, "kraken", at(2), nothing);
      t.equal((await feedOf(pool, "kraken")).state, state, `${count}`);
    }
    // a feed that stays empty for a day is believed
    await forgetSaid(pool);
    await said(pool, "kraken", at(1460), [many(3)]);
    for (let minutesAgo = 1455; minutesAgo > 0; minutesAgo -= 10) await said(pool, "kraken", at(minutesAgo), nothing);
    t.equal((await feedOf(pool, "kraken")).state, "readable");
    t.ok((await noticesOf(pool, "kraken")).every((row) => row.vanished));
  });

  await t.test("a feed's own time only moves forward", async (t) => {
    const feedAt = async () => {
      const [row] = await pool.query<{ feed_at: Date | null }>(sql`
        select feed_at from feed where feed_id = ${await sourceOf(pool, "kraken")}
      `);
      return row!.feed_at;
    };
    await said(pool, "kraken", at(9), nothing, { feedAt: at(20) });
    await said(pool, "kraken", at(8), nothing, { feedAt: at(22) });
    t.strictSame(await feedAt(), at(20));
    await said(pool, "kraken", at(7), nothing, { feedAt: at(1), problem: "lost fields" });
    t.strictSame(await feedAt(), at(20), "a reading with a problem does not move the feed's time");
    await said(pool, "kraken", at(6), nothing, { feedAt: at(10) });
    t.strictSame(await feedAt(), at(10));
  });

  await t.test("one wrong time of a feed makes it unreadable for a day at most", async (t) => {
    const claim = async (minutesAgo: number) => {
      await pool.script("update feed set due_at = 'infinity'");
      await pool.query(sql`
        update feed set due_at = '-infinity' where feed_id = ${await sourceOf(pool, "kraken")}
      `);
      const [row] = await pool.file<{ feed_at: Date | null }>("claim_feed", [at(minutesAgo), 60_000, ["statuspage"]]);
      return row!.feed_at;
    };
    // the page was last changed three weeks ago, which one answer does not say
    const [truly, wrongly] = [at(30_000), at(1500)];
    const wentBack = { problem: "page.updated_at went back in time" };
    await said(pool, "kraken", at(1500), nothing, { feedAt: truly });
    await said(pool, "kraken", at(1499), nothing, { feedAt: wrongly });
    for (let minutesAgo = 1490; minutesAgo > 20; minutesAgo -= 10) {
      const isBelieved = minutesAgo <= 50;
      t.strictSame(await claim(minutesAgo), isBelieved ? null : wrongly, `${minutesAgo} minutes ago`);
      await said(pool, "kraken", at(minutesAgo), nothing, isBelieved ? { feedAt: truly } : wentBack);
      if (isBelieved) break;
    }
    t.strictSame(await claim(49), truly, "from then on its own time counts");
    await said(pool, "kraken", at(1), nothing, { feedAt: truly });
    t.equal((await feedOf(pool, "kraken")).state, "readable");
  });

  await t.test("a feed never changes the venue's state, and appears on its page", async (t) => {
    const api = await serve(t, { pool, registry });
    const page = async () => (await api.ask<{ state: string; official: object }>("/v1/targets/kraken")).body;
    const unread = { observed: false, feed: { state: "unreadable", readAt: null } };
    t.match(await page(), { state: "operational", official: unread });
    await said(pool, "kraken", at(2), [whole(notice("a", at(3), { impact: "critical" }))]);
    await said(pool, "kraken", at(1), [], { problem: "answered 503" });
    const later = ago(0);
    await measured(pool, { from: ago(150), to: later, venue: "kraken" });
    await decide(pool, later);
    const { state, official } = await page();
    t.equal(state, "operational", "neither a critical notice nor an unreadable feed changes the state");
    t.match(official, {
      source: "statuspage",
      observed: true,
      feed: { state: "unreadable", problem: "answered 503", since: iso(1), readAt: iso(2) },
      incidents: [{ id: "a", impact: "critical", subjectMatched: false }],
    });
  });
});

// Which feed is read next, and by which core.

void t.test("the next feed is a due one that no core is reading", async (t) => {
  const { pool } = await migratedDatabase(t);
  t.beforeEach(() => forgetSaid(pool));
  interface Claimed {
    feed_id: number | null;
    api: string | null;
    due_at: Date | null;
    unended_readings: number | null;
    read_at: Date | null;
    unreadable_since: Date | null;
  }
  const patienceMs = 600_000;
  const kinds = Object.keys(feedKinds);
  const claim = async (minutesAgo: number, known = kinds) =>
    (await pool.file<Claimed>("claim_feed", [at(minutesAgo), patienceMs, known]))[0]!;

  await t.test("each due feed is claimed once, and a shared feed once for both venues", async (t) => {
    const claimed: (number | null)[] = [];
    for (let one = await claim(40); one.feed_id; one = await claim(40)) claimed.push(one.feed_id);
    const [sources] = await pool.query<{ ids: number[] }>(sql`
      select array_agg(distinct feed_id order by feed_id)::int[] as ids from venue where feed_id is not null
    `);
    t.strictSame(new Set(claimed), new Set(sources!.ids));
    t.equal(claimed.length, sources!.ids.length);
    t.equal(await sourceOf(pool, "kraken"), await sourceOf(pool, "kraken-futures"));
    t.strictSame(await claim(40), { ...(await claim(40)), feed_id: null, due_at: new Date(+at(40) + patienceMs) });
  });

  await t.test("a feed is claimed again when it is due, or when its claim has expired", async (t) => {
    await pool.query(sql`update feed set due_at = ${at(-30)}`);
    const kraken = await sourceOf(pool, "kraken");
    await pool.query(sql`update feed set due_at = ${at(40)} where feed_id = ${kraken}`);
    t.equal((await claim(41)).feed_id, null);
    t.match(await claim(40), { feed_id: kraken, read_at: null });
    t.equal((await claim(35)).feed_id, null, "another core is reading it");
    t.equal((await claim(30)).feed_id, kraken, "the claim has expired");
    await said(pool, "kraken", at(30), [whole()]);
    t.equal((await claim(29)).feed_id, null);
    t.match(await claim(28), { feed_id: kraken, read_at: iso(30), unreadable_since: null });
    await said(pool, "kraken", at(28), [], { problem: "answered 503" });
    await said(pool, "kraken", at(27), [], { problem: "answered 502" });
    t.match(await claim(25), { feed_id: kraken, read_at: iso(30), unreadable_since: iso(28) });
  });

  await t.test("a feed whose readings crash core is tried less and less often, until one succeeds", async (t) => {
    const okx = ["okx-system-status"];
    const claims: [number, number | null][] = [];
    for (let minutesAgo = 200; minutesAgo > 0; minutesAgo -= 1) {
      const { feed_id, unended_readings } = await claim(minutesAgo, okx);
      if (feed_id !== null) claims.push([minutesAgo, unended_readings]);
    }
    t.same(claims, [
      ...[
        [200, 0],
        [190, 1],
        [150, 2],
        [90, 3],
        [30, 4],
      ],
    ]);
    await said(pool, "okx", at(20), [whole()]);
    await pool.query(sql`update feed set due_at = ${at(15)} where kind = 'okx-system-status'`);
    t.match(await claim(14, okx), { unended_readings: 0 }, "and then as usual");
  });

  await t.test("three concurrent claims get three feeds", async (t) => {
    const claimed = await Promise.all([claim(40), claim(40), claim(40)]);
    t.equal(new Set(claimed.map((one) => one.feed_id)).size, 3);
  });

  await t.test("the feed that has been due longest is next", async (t) => {
    const kucoin = await sourceOf(pool, "kucoin");
    await pool.query(sql`
      update feed
      set due_at = ${at(40)}::timestamptz + (feed_id - case feed_id when ${kucoin} then 3600 else 0 end) * interval '1 s'
    `);
    t.equal((await claim(30)).feed_id, kucoin);
  });

  await t.test("a feed postponed by a wrong clock is claimed", async (t) => {
    await pool.query(sql`update feed set due_at = ${at(-1440)}::timestamptz`);
    t.ok((await claim(40)).feed_id);
  });

  await t.test("a feed of a kind that this build cannot read is not claimed", async (t) => {
    t.equal((await claim(40, ["okx-system-status"])).feed_id, await sourceOf(pool, "okx"));
    t.match(await claim(40, ["okx-system-status"]), { feed_id: null });
  });

  await t.test("a feed that the registry no longer names is not claimed", async (t) => {
    await pool.query(sql`update feed set published = false`);
    t.match(await claim(40), { feed_id: null, due_at: null });
  });
});

// A status page that moves to another host or vendor does not double its notices. Real servers, read as core does.

const minuteMs = 60_000;
const secondIso = (minutesAgo: number) =>
  new Date(Math.floor(Date.now() / 1000) * 1000 - minutesAgo * minuteMs).toISOString();

interface Post {
  id: string;
  title: string;
  startedAt: string;
  isOpen?: boolean;
}

/** Newest first: one open incident, and 49 that are over. Two of these have the same title. */
const posts: Post[] = [
  { id: "open", title: "Order entry is slow", startedAt: secondIso(30), isOpen: true },
  ...Array.from({ length: 49 }, (_, n) => ({
    id: `past${n}`,
    title: n < 2 ? "API errors" : `Errors ${n}`,
    startedAt: secondIso(100 + 90 * n),
  })),
];

const statuspage: FeedAnswer = (url, response) => {
  const page = { id: "page1", url: url.origin, updated_at: secondIso(1) };
  if (url.pathname.endsWith("scheduled-maintenances.json")) return json(response, { page, scheduled_maintenances: [] });
  const pageNumber = Number(url.searchParams.get("page") ?? 1);
  const incidents = posts.slice((pageNumber - 1) * 50, pageNumber * 50).map(({ id, title, startedAt, isOpen }) => ({
    ...{ id, page_id: "page1", name: title, status: isOpen ? "investigating" : "resolved", impact: "major" },
    ...{ created_at: startedAt, started_at: startedAt, resolved_at: isOpen ? null : startedAt, shortlink: null },
    components: [{ name: "REST API" }],
  }));
  json(response, { page, incidents });
};

/** The vendor imported the history to the minute, under ids of its own, and one more notice was posted there. */
const betterstack: FeedAnswer = (_url, response) => {
  const reports = [{ id: "new", title: "API errors", startedAt: secondIso(5), isOpen: true }, ...posts];
  json(response, {
    data: { type: "status_page", attributes: { subdomain: "x", custom_domain: "127.0.0.1", updated_at: secondIso(1) } },
    included: reports.map(({ id, title, startedAt, isOpen }) => ({
      id: `bs-${id}`,
      type: "status_report",
      attributes: {
        ...{ title, report_type: "manual", aggregate_state: isOpen ? "downtime" : "resolved" },
        ...{ starts_at: `${startedAt.slice(0, 16)}:00.000Z`, ends_at: isOpen ? null : startedAt },
        affected_resources: [],
      },
    })),
  });
};

/** Lists only what is open. */
const instatus: FeedAnswer = (url, response) => {
  const [{ title, startedAt }] = posts as [Post];
  const id = "cmf1a2b3";
  const incident = { id, name: title, started: startedAt, status: "IDENTIFIED", impact: "MAJOROUTAGE" };
  json(response, {
    page: { name: "X", url: url.origin, status: "HASISSUES" },
    activeIncidents: [{ ...incident, url: `${url.origin}/incident/${id}` }],
  });
};

const paths = { statuspage: "/api/v2/incidents.json", betterstack: "/index.json", instatus: "/summary.json" };
type Kind = keyof typeof paths;
const answers: Record<Kind, FeedAnswer> = { statuspage, betterstack, instatus };

/** A database whose only feed is that of Kraken and Kraken Futures. */
async function openFeed(t: Test, pool: Pool, registry: Registry) {
  const reader = readerFor(t);
  const polling = makePolling({ db: pool, reader, log: makeLog("test", "error") });
  const { signal } = new AbortController();
  await forgetSaid(pool);

  /** Moves the feed to a new server of that kind, and reads it there. */
  async function moveTo(kind: Kind): Promise<void> {
    const { origin } = await serveFeed(t, answers[kind]);
    const official = { kind, page: null, api: origin + paths[kind] } satisfies Official;
    const venues = registry.venues.map((venue) => ({
      ...venue,
      official: venue.id.startsWith("kraken") ? { ...official, ...words(venue.id) } : null,
    }));
    await syncRegistry(pool, { ...registry, venues });
    await readAgain();
  }

  const words = (venue: string) => (venue === "kraken-futures" ? { about: ["REST"] } : {});

  async function readAgain() {
    await pool.script("update feed set due_at = '-infinity'");
    while ((await polling.readNext(signal)) === 0);
  }

  const rows = () =>
    pool.query<{
      external_id: string;
      scope: string;
      title: string;
      over: boolean;
      listed: boolean;
      vanished: boolean;
    }>(
      sql`
        select external_id, scope, title, over, left_at is null as listed, vanished
        from notice
        order by started_at desc, notice_id
      `,
    );
  return { moveTo, readAgain, rows };
}

void t.test("a status page that moves does not double its notices", async (t) => {
  const { pool, registry } = await migratedDatabase(t);

  await t.test("to another host", async (t) => {
    const { moveTo, rows } = await openFeed(t, pool, registry);
    await moveTo("statuspage");
    const before = await rows();
    t.equal(before.length, posts.length);
    await moveTo("statuspage");
    t.strictSame(await rows(), before);
    t.equal((await pool.query(sql`select from notice_change`)).length, posts.length, "no change is recorded");
  });

  await t.test("to Better Stack, which imported the history", async (t) => {
    const { moveTo, readAgain, rows } = await openFeed(t, pool, registry);
    await moveTo("statuspage");
    const before = await pool.query(sql`select notice_id from notice order by 1`);
    await moveTo("betterstack");
    const after = await rows();
    t.equal(after.length, posts.length + 1, "only the notice that is new there is added");
    t.ok(
      after.every(({ external_id, scope, listed }) => external_id.startsWith("bs-") && scope === "notices" && listed),
    );
    const ids = after.map(({ external_id }) => external_id);
    t.strictSame(ids, ["bs-new", ...posts.map(({ id }) => `bs-${id}`)], "each continues its own, also of equal titles");
    const kept = await pool.query(sql`select notice_id from notice where external_id <> 'bs-new' order by 1`);
    t.strictSame(kept, before, "the rows are the same");
    await readAgain();
    t.strictSame(await rows(), after);
    await moveTo("statuspage");
    t.equal((await rows()).length, posts.length + 1, "and back again");
  });

  await t.test("to Instatus, which lists only what is open", async (t) => {
    const { moveTo, rows } = await openFeed(t, pool, registry);
    await moveTo("statuspage");
    await moveTo("instatus");
    const [open, ...past] = await rows();
    t.match(open, { external_id: "cmf1a2b3", scope: "now", over: false, listed: true, vanished: false });
    t.equal(past.length, posts.length - 1);
    t.ok(past.every(({ listed, vanished, over }) => !listed && !vanished && over));
    const states = (await changesOf(pool, "cmf1a2b3")).map(({ status }) => status);
    t.strictSame(states, ["investigating", "IDENTIFIED"], "its history goes on");
    const [kept] = await pool.query<{ subjects: string[] }>(sql`
      select subjects from notice where external_id = 'cmf1a2b3'
    `);
    t.strictSame(kept!.subjects, ["REST API"], "it keeps its subjects");
  });

  await t.test("from Instatus, whose open notice nobody mentions again", async (t) => {
    const { moveTo, rows } = await openFeed(t, pool, registry);
    await moveTo("instatus");
    const [{ title }] = posts as [Post];
    posts[0]!.title = "Something else";
    t.teardown(() => (posts[0]!.title = title));
    await moveTo("statuspage");
    const left = (await rows()).filter(({ scope }) => scope === "now");
    t.match(left, [{ external_id: "cmf1a2b3", over: true, listed: false, vanished: false }]);
  });
});
