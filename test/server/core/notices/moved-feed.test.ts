/** A status page that moves to another host or vendor does not double its notices. Real servers, read as core does. */
import t, { type Test } from "tap";
import { type Pool, sql } from "../../../../shared/database/pool.js";
import { makeLog } from "../../../../shared/log/log.js";
import type { Official, Registry } from "../../../../shared/registry/registry.js";
import { syncRegistry } from "../../../../server/database/sync-registry.js";
import { makePolling } from "../../../../server/core/notices/polling.js";
import { migratedDatabase } from "../../../support/database.js";
import { json, readerFor, serve, type FeedAnswer } from "../../../support/feed-server.js";
import { changesOf, forgetSaid } from "../../../support/stored-notices.js";

const minuteMs = 60_000;
const iso = (minutesAgo: number) =>
  new Date(Math.floor(Date.now() / 1000) * 1000 - minutesAgo * minuteMs).toISOString();

interface Post {
  id: string;
  title: string;
  startedAt: string;
  isOpen?: boolean;
}

/** Newest first: one open incident, and 49 that are over. Two of these have the same title. */
const posts: Post[] = [
  { id: "open", title: "Order entry is slow", startedAt: iso(30), isOpen: true },
  ...Array.from({ length: 49 }, (_, n) => ({
    id: `past${n}`,
    title: n < 2 ? "API errors" : `Errors ${n}`,
    startedAt: iso(100 + 90 * n),
  })),
];

const statuspage: FeedAnswer = (url, response) => {
  const page = { id: "page1", url: url.origin, updated_at: iso(1) };
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
  const reports = [{ id: "new", title: "API errors", startedAt: iso(5), isOpen: true }, ...posts];
  json(response, {
    data: { type: "status_page", attributes: { subdomain: "x", custom_domain: "127.0.0.1", updated_at: iso(1) } },
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
    const { origin } = await serve(t, answers[kind]);
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
