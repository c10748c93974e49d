import t from "tap";
import { openPool, type Pool, sql } from "../../../../shared/database/pool.js";
import { makeLog } from "../../../../shared/log/log.js";
import { categories } from "../../../../shared/registry/registry.js";
import { serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { ago, decide, forget, measured, outage, pastIncident } from "../../../support/fleet.js";

interface Day {
  date: string;
  uptimePct: number | null;
  measuredMinutes: number;
  downMinutes: number | null;
}

interface Board {
  generatedAt: string;
  summary: { regions: number; state: string; uptimePct90d: number | null; categories: object[] };
  venues: {
    id: string;
    state: string;
    measuredDays: number;
    days: Day[];
    sparkline: { at: string; p50Ms: number | null }[];
  }[];
  incidents: object[];
}

interface Detail {
  state: string;
  uptimePct90d: number | null;
  days: Day[];
  latency: { bucketMs: number; points: { p50Ms: number | null; samples: number }[] };
  endpoints: { component: string; samples: number; p50Ms: number | null; p95Ms: number | null }[];
  regions: { selected: string; compare: { region: string; state: string }[] };
  summary: object;
}

/** A pool that records the statements that it runs. */
function watched(pool: Pool): { pool: Pool; statements: string[] } {
  const statements: string[] = [];
  const refuse = () => {
    throw new Error("the API runs statements from files only");
  };
  return {
    statements,
    pool: {
      ...pool,
      file(name, values) {
        statements.push(name);
        return pool.file(name, values);
      },
      query: refuse,
      text: refuse,
    },
  };
}

void t.test("the board and a venue's page show one instant's data", async (t) => {
  const { pool, registry, url } = await migratedDatabase(t);
  const { pool: watchedPool, statements } = watched(pool);
  const api = await serve(t, { pool: watchedPool, registry });
  const board = async (query = "") => (await api.ask<Board>(`/v1/status${query}`)).body;
  const pagesOfTick = ["/v1/targets/kraken", "/v1/regions", "/v1/incidents"];
  const page = async (venue: string, query = "") => (await api.ask<Detail>(`/v1/targets/${venue}${query}`)).body;

  await t.test("a connection that read an empty board shows later samples", async (t) => {
    await forget(pool);
    const one = openPool(url, { applicationName: "test", log: makeLog("test", "error"), max: 1 });
    t.teardown(() => one.close());
    const read = async () => {
      const [row] = await one.file<{ body: string }>("status", [null, categories, registry.probeIntervalMs]);
      return JSON.parse(row!.body) as Board;
    };
    const before = await read();
    t.match(before.summary, { regions: 0, medianLatencyMs: null });

    // long enough for some of its minutes to be published
    await measured(pool, { from: ago(600), to: ago(0) });
    await decide(pool);
    const { summary, venues } = await read();
    t.match(summary, { regions: 3, medianLatencyMs: 80, uptimePct90d: 100 });
    for (const { sparkline } of venues) t.ok(sparkline.some(({ p50Ms }) => p50Ms === 80));
  });

  await t.test("a board is made by one statement, and cached for its tick", async (t) => {
    await forget(pool);
    await measured(pool, { from: ago(600), to: ago(0) });
    await decide(pool);
    statements.length = 0;
    const answers = await Promise.all(Array.from({ length: 20 }, () => api.ask("/v1/status")));
    t.equal(statements.filter((name) => name === "status").length, 1, "twenty concurrent requests cost one statement");
    t.equal(new Set(answers.map(({ text }) => text)).size, 1);

    statements.length = 0;
    await api.ask("/v1/status");
    t.strictSame(statements, ["clock"], "later requests only read the clock");

    await decide(pool);
    statements.length = 0;
    await api.ask("/v1/status");
    t.strictSame(statements, ["clock", "status"]);
  });

  await t.test("spec: 90 days, always: one that nobody measured is null, not 0 and not missing", async (t) => {
    const { generatedAt, venues, summary } = await board();
    const today = generatedAt.slice(0, 10);
    for (const { days, measuredDays } of venues) {
      t.equal(days.length, 90);
      t.equal(days.at(-1)!.date, today);
      t.equal(new Set(days.map(({ date }) => date)).size, 90);
      t.match(days[0], { uptimePct: null, measuredMinutes: 0, downMinutes: null });
      t.equal(days.at(-1)!.uptimePct, 100);
      t.ok(measuredDays <= 2);
    }
    t.equal(summary.uptimePct90d, 100);
    t.strictSame((await page("okx")).days, venues.find(({ id }) => id === "okx")!.days);
  });

  await t.test("spec: a sparkline has 24 points, an hour apart", async (t) => {
    for (const { sparkline } of (await board()).venues) {
      t.equal(sparkline.length, 24);
      t.equal(sparkline[0]!.p50Ms, null);
      t.equal(sparkline.at(-1)!.p50Ms ?? sparkline.at(-2)!.p50Ms, 80);
      const steps = sparkline.slice(1).map(({ at }, i) => Date.parse(at) - Date.parse(sparkline[i]!.at));
      t.strictSame(new Set(steps), new Set([3_600_000]));
    }
  });

  await t.test("a category filters rows and fleet numbers, but not the counts of categories", async (t) => {
    await measured(pool, { from: ago(100), to: ago(0), latencyMs: 120 });
    await decide(pool);
    const all = await board();
    t.strictSame(await board("?category=exchange"), all);
    const none = await board("?category=oracle");
    const unknown = { state: "unknown", uptimePct90d: null, medianLatencyMs: null };
    t.match(none.summary, { venues: 0, ...unknown, activeIncidents: 0 });
    t.strictSame([none.venues, none.incidents], [[], []]);
    t.strictSame(none.summary.categories, all.summary.categories);
    t.equal(all.summary.categories.length, 7);
  });

  await t.test("a day's uptime is a share of its measured minutes", async (t) => {
    await forget(pool);
    const from = new Date(Date.now() - 10 * 60_000);
    await measured(pool, { from, to: ago(0) });
    await measured(pool, { from, to: ago(0), venue: "bybit", fault: "http" });
    await decide(pool);
    const { venues, summary } = await board();
    const down = venues.find(({ id }) => id === "bybit")!;
    t.match(down, { state: "outage", uptimePct90d: 0, typicalMs: null });
    t.equal(down.days.at(-1)!.downMinutes, down.days.at(-1)!.measuredMinutes);
    t.equal(summary.state, "degraded");
    t.ok(summary.uptimePct90d! > 93 && summary.uptimePct90d! < 94, "fourteen of fifteen");
  });

  await t.test("both paths of a venue have the same bytes, while samples arrive", async (t) => {
    await forget(pool);
    await measured(pool, { from: ago(120), to: ago(20) });
    await decide(pool, ago(20));
    for (const query of ["", "?range=7d", "?region=us-east&range=24h"]) {
      const one = await api.ask(`/v1/exchanges/okx${query}`);
      await measured(pool, { from: ago(120), to: ago(0), latencyMs: 300 });
      const other = await api.ask(`/v1/targets/okx${query}`);
      t.equal(other.text, one.text, query || "by default");
      for (const header of ["etag", "content-type", "cache-control"])
        t.equal(other.headers[header], one.headers[header], header);
    }
  });

  await t.test("a region selects latency, endpoints and streams, and nothing else", async (t) => {
    await forget(pool);
    // one continuous period: an earlier or later instant would see measured minutes, too
    const when = { from: ago(120), to: ago(0) };
    await measured(pool, when);
    await measured(pool, { ...when, regions: ["ap-southeast"], latencyMs: 400 });
    await measured(pool, { ...when, regions: ["us-east"], fault: "blocked" });
    await decide(pool);
    const near = await page("gemini");
    const far = await page("gemini", "?region=ap-southeast");
    const blocked = await page("gemini", "?region=us-east");
    t.match(near, { regions: { selected: "eu-central" }, endpoints: [{ p50Ms: 80 }] }, "the primary region by default");
    t.match(far, { regions: { selected: "ap-southeast" }, endpoints: [{ p50Ms: 400 }] });
    t.match(blocked.endpoints, [{ p50Ms: null }], "a refusal has no latency");
    t.equal(blocked.latency.points.at(-1)!.p50Ms, null);
    for (const other of [far, blocked])
      for (const same of ["state", "uptimePct90d", "days", "summary"] as const)
        t.strictSame(other[same], near[same], same);
    t.strictSame(blocked.regions.compare, near.regions.compare);
    const states = near.regions.compare.map(({ region, state }) => `${region} ${state}`);
    t.strictSame(states, ["eu-central operational", "ap-southeast operational", "us-east outage"]);
    t.equal(near.state, "operational", "one region alone decides nothing");
  });

  await t.test("a chart has every bucket of its range", async (t) => {
    const minutes = (await page("gemini")).latency;
    t.match([minutes.bucketMs, minutes.points.length, minutes.points[0]], [60_000, 1440, { p50Ms: null, samples: 0 }]);
    const hours = (await page("gemini", "?range=7d")).latency;
    t.strictSame([hours.bucketMs, hours.points.length], [3_600_000, 168]);
    t.ok(hours.points.at(-1)!.samples + hours.points.at(-2)!.samples > 0);
  });

  await t.test("percentiles are exact over raw samples", async (t) => {
    await forget(pool);
    await measured(pool, { from: ago(100), to: ago(0) });
    // 2, 4, 6, … ms in one endpoint, from one region
    await pool.query(sql`
      with chosen as (
        select ctid, tableoid, row_number() over (order by ts) as n
        from sample
        where component_id = (select component_id from component join venue using (venue_id) where venue = 'okx' and component = 'rest:ticker')
          and region_id = (select region_id from region where region = 'eu-central')
      )
      update sample s set latency_us = c.n * 2000 from chosen c where s.ctid = c.ctid and s.tableoid = c.tableoid
    `);
    await decide(pool);
    const { endpoints } = await page("okx");
    const ticker = endpoints.find(({ component }) => component === "rest:ticker")!;
    const n = ticker.samples;
    t.ok(n >= 19);
    t.match(ticker, { p50Ms: n + 1, p95Ms: Math.round(2 + 1.9 * (n - 1)) });
  });

  await t.test("a silent region is listed, and the quorum counts reporting regions", async (t) => {
    await forget(pool);
    // within the five minutes that the engine looks back, however long this takes
    await measured(pool, { from: ago(600), to: ago(150) });
    const now = ago(0);
    await measured(pool, { from: ago(120), to: now, regions: ["eu-central", "ap-southeast"] });
    await decide(pool, now);
    interface Fleet {
      regions: { id: string; reporting: boolean; samplesLastHour: number; newestAt: string | null }[];
      quorum: number;
    }
    const { body } = await api.ask<Fleet>("/v1/regions");
    const reports = body.regions.map(({ id, reporting }) => `${id} ${reporting}`);
    t.strictSame(reports, ["eu-central true", "ap-southeast true", "us-east false"]);
    t.ok(body.regions[2]!.samplesLastHour > 0, "its samples from before it fell silent");
    t.ok(body.regions[2]!.newestAt);
    t.equal(body.quorum, 2);
    t.equal((await board()).summary.regions, 2);

    await forget(pool);
    await measured(pool, { from: ago(120), to: ago(0), regions: ["us-east"] });
    await decide(pool);
    const alone = (await api.ask<Fleet>("/v1/regions")).body;
    t.equal(alone.quorum, 2, "one region alone confirms nothing");
    t.equal((await page("okx")).state, "unknown");
    t.match(alone.regions[0], { reporting: false, samplesLastHour: 0, newestAt: null });
  });

  await t.test("spec: data is cached for 5 s; ETags hold within a tick, and who has the body gets 304", async (t) => {
    await forget(pool);
    await outage.open(pool);
    for (const path of ["/v1/status", "/v1/status?category=exchange", ...pagesOfTick, "/metrics", "/v1/thresholds"]) {
      const lifetime =
        path === "/v1/thresholds" ? "public, max-age=300" : "public, max-age=5, stale-while-revalidate=30";
      const { headers } = await api.ask(path);
      const etag = headers.etag!;
      t.match(etag, /^"/, "a strong ETag");
      t.equal(headers["cache-control"], lifetime, path);
      const again = await api.ask(path, { headers: { "if-none-match": etag } });
      t.match(again, { status: 304, headers: { "cache-control": lifetime, etag } }, path);
      t.equal((await api.ask(path, { headers: { "if-none-match": '"else"' } })).status, 200);
    }
    const before = await api.ask("/v1/status");
    await decide(pool);
    const after = await api.ask("/v1/status", { headers: { "if-none-match": before.headers.etag! } });
    t.equal(after.status, 200, "a new tick is a new body");
  });

  await t.test("generatedAt is the tick that the body shows", async (t) => {
    const [clock] = await pool.query<{ ticked_at: Date }>(sql`select ticked_at from engine_clock`);
    for (const path of ["/v1/status", ...pagesOfTick]) {
      const { body } = await api.ask<Board>(path);
      t.equal(body.generatedAt, clock!.ticked_at.toISOString(), path);
    }
  });
});

// `/v1/detection` and `/v1/notify` while no notice is read and nothing is delivered.

interface Detection {
  observed: boolean;
  ours: number;
  subjectMatched: boolean;
  aheadUncorrelated: null;
}

interface Compared {
  days: number;
  fleet: Detection;
  venues: { id: string; detection: Detection }[];
}

void t.test("detection compares our incidents with notices", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  await forget(pool);
  const past = (venue: string, component: string, daysAgo: number, retracted = false) =>
    pastIncident(pool, { venue, component, minutes: 2, retracted, startedAt: ago(daysAgo * 86_400) });
  await past("okx", "rest:ticker", 0);
  await past("okx", "rest:ticker", 40);
  await past("kraken", "rest:ticker", 40);
  await past("okx", "rest:book", 0, true);
  await decide(pool);
  const api = await serve(t, { pool, registry });
  const compared = async (query = "") => (await api.ask<Compared>(`/v1/detection${query}`)).body;

  await t.test("spec: denominators are part of the detection result", async (t) => {
    const { fleet, venues } = await compared();
    const ours = new Map(venues.map(({ id, detection }) => [id, detection.ours]));
    t.strictSame([ours.get("okx"), ours.get("kraken"), ours.get("gate")], [2, 1, 0]);
    t.equal(fleet.ours, 3);
    t.equal(venues.length, registry.venues.length);
    t.equal((await compared("?days=7")).fleet.ours, 1);
    t.ok(venues.every(({ detection }) => !detection.observed));
  });

  await t.test("spec: subjectMatched is false on each detection, and a lead time is aheadUncorrelated", async (t) => {
    const { fleet, venues } = await compared();
    for (const detection of [fleet, ...venues.map((row) => row.detection)]) {
      t.strictSame([detection.subjectMatched, detection.aheadUncorrelated], [false, null]);
      t.notOk("ahead" in detection);
    }
  });

  await t.test("the object is the same as on the venue's page", async (t) => {
    const { venues } = await compared();
    for (const { id, detection } of venues) {
      const { body } = await api.ask<{ detection: Detection }>(`/v1/targets/${id}`);
      t.strictSame(body.detection, detection, id);
    }
  });

  await t.test("an incident's page has the comparison of that incident alone", async (t) => {
    const { body } = await api.ask<{ incidents: { slug: string }[] }>("/v1/incidents?venue=okx");
    t.equal(body.incidents.length, 2);
    for (const { slug } of body.incidents) {
      const { body } = await api.ask(`/v1/incidents/${slug}`);
      t.match(body, { detection: { days: 1, ours: 1, observed: false } });
    }
  });

  await t.test("spec: days of /v1/detection is 1 to 90, by default 90", async (t) => {
    for (const days of [1, 90])
      t.match(await compared(`?days=${days}`), { days, fleet: { days }, venues: [{ detection: { days } }] });
    t.equal((await compared()).days, 90);
    for (const days of ["0", "91", "1.5"]) t.equal((await api.ask(`/v1/detection?days=${days}`)).status, 400);
  });

  await t.test("spec: the notify window is 30 days, and percentiles of no delivery are null", async (t) => {
    const { body } = await api.ask<object>("/v1/notify");
    t.match(body, { days: 30, deliveries: 0, p50Ms: null, p95Ms: null });
  });
});
