import t from "tap";
import { sql } from "../../../../shared/database/pool.js";
import { serve, type Api } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { syncRegistry } from "../../../../server/database/sync-registry.js";
import { ago, decide, outage, pastIncident } from "../../../support/fleet.js";

interface Incident {
  id: number;
  slug: string;
  startedAt: string;
}

type Page = { incidents: Incident[] };

const day = 86_400;

async function list(api: Api, query = ""): Promise<Incident[]> {
  return (await api.ask<Page>(`/v1/incidents${query}`)).body.incidents;
}

/** All pages, each from the end of the previous one. */
async function walk(api: Api, limit: number): Promise<string[]> {
  const walked: Incident[] = [];
  for (;;) {
    const last = walked.at(-1);
    const page = await list(api, `?limit=${limit}${last ? `&before=${last.startedAt}&beforeId=${last.id}` : ""}`);
    walked.push(...page);
    if (page.length < limit) return walked.map(({ slug }) => slug);
  }
}

void t.test("the history of incidents", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  const api = await serve(t, { pool, registry });
  const past = (venue: string, component: string, startedAt: Date | string, retracted = false) =>
    pastIncident(pool, { venue, component, startedAt, minutes: 5, retracted });
  const slugs = async (query = "") => (await list(api, query)).map(({ slug }) => slug);
  // four at one instant, one before it and one after it
  const instant = ago(3 * day);
  const newest = await past("okx", "rest:ticker", ago(2 * day));
  await past("okx", "rest:ticker", instant);
  await past("kraken", "rest:ticker", instant);
  await past("gemini", "ws:trades", instant);
  await past("bybit", "ws:conn", instant);
  const oldest = await past("bybit", "rest:ticker", ago(80 * day));
  const retracted = await past("deribit", "rest:book", ago(day), true);
  await decide(pool);

  await t.test("is in order, newest first and ties by id", async (t) => {
    const all = await list(api);
    t.strictSame([all.length, all[0]!.slug, all.at(-1)!.slug], [6, newest, oldest]);
    const sorted = [...all].sort((a, b) => b.startedAt.localeCompare(a.startedAt) || b.id - a.id);
    t.strictSame(all, sorted);
  });

  await t.test("loses and repeats no incident over its pages", async (t) => {
    const all = await slugs();
    for (const limit of [1, 2, 3, 4, 5, 200]) t.strictSame(await walk(api, limit), all, `by pages of ${limit}`);
  });

  await t.test("has starts with no more precision than is written", (t) =>
    t.rejects(past("okx", "rest:ticker", instant.toISOString().replace("Z", "007Z")), /incident_started_at_whole_ms/),
  );

  await t.test("treats before alone as strictly before", async (t) => {
    t.strictSame(await slugs(`?before=${instant.toISOString()}`), [oldest]);
  });

  await t.test("applies filters", async (t) => {
    t.strictSame(await slugs("?venue=okx&limit=1"), [newest]);
    const counts = {
      "category=exchange": 6,
      // an allowed category without measured venues
      "category=ramp": 0,
      "status=open": 0,
      "status=closed": 6,
      "status=all": 6,
      "days=1": 0,
      // the oldest is 80 days old
      "days=79": 5,
      "days=81": 6,
      "days=365": 6,
    };
    for (const [query, count] of Object.entries(counts)) t.equal((await slugs(`?${query}`)).length, count, query);
  });

  await t.test("does not show a retracted incident", async (t) => {
    for (const place of ["/v1/status", "/v1/incidents?days=365&limit=200", "/v1/incidents?venue=deribit"])
      t.notMatch((await api.ask(place)).text, retracted, place);
    t.equal((await api.ask(`/v1/incidents/${retracted}`)).status, 404);
    interface Venue {
      summary: { incidents: number };
      incidents: unknown[];
      incidentPatterns: unknown[];
    }
    const { body, text } = await api.ask<Venue>("/v1/targets/deribit");
    t.notMatch(text, retracted);
    t.equal(body.summary.incidents, 0);
    t.strictSame([body.incidents, body.incidentPatterns], [[], []]);
    const neighbour = await past("deribit", "rest:ticker", ago(day - 60));
    t.strictSame((await api.ask<{ related: unknown[] }>(`/v1/incidents/${neighbour}`)).body.related, []);
  });

  await t.test("spec: a venue's page has the 50 most recent incidents, newest first", async (t) => {
    // not in the order of their ids
    for (let nth = 0; nth < 55; nth++) await past("gate", "rest:book", ago(day + ((nth * 7) % 55) * 3600));
    await past("bitfinex", "rest:ticker", ago(300 * day));
    await decide(pool);
    const gate = (await api.ask<Page>("/v1/targets/gate")).body;
    t.equal(gate.incidents.length, 50);
    t.strictSame(gate.incidents, await list(api, "?venue=gate&limit=50"), "the first of the history, in its order");
    const quiet = (await api.ask<Page>("/v1/targets/bitfinex")).body;
    t.equal(quiet.incidents.length, 1, "the most recent, at any age");
  });

  await t.test("does not show incidents of a venue that is no longer published", async (t) => {
    const before = await list(api, "?venue=kraken");
    await pool.query(sql`update venue set published = false where venue = 'kraken'`);
    await decide(pool);
    t.equal((await api.ask(`/v1/incidents/${before[0]!.slug}`)).status, 404);
    t.equal((await api.ask("/v1/targets/kraken")).status, 404);
    t.strictSame(await list(api, "?venue=kraken"), []);
    t.notMatch((await api.ask("/v1/status")).text, /"kraken"/);
  });
});

interface Detail {
  incident: { regions: string[] };
  events: { kind: string; at: string; severity: string | null }[];
  evidence: { closing: { votes: unknown[] } };
  errors: { bad: number; faults: object[] };
}

void t.test("an incident's page", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  const api = await serve(t, { pool, registry });
  await outage.open(pool);
  const [{ slug }] = (await list(api)) as [Incident];
  const path = `/v1/incidents/${slug}`;

  await t.test("spec: while it is open, it is cached for 5 seconds", async (t) => {
    const { body, headers } = await api.ask<Detail>(path);
    t.match(slug, /^kraken-\d{4}-\d\d-\d\d-rest-outage$/);
    t.equal(headers["cache-control"], "public, max-age=5");
    t.match(body, {
      incident: { status: "open", closedAt: null, quorum: 2, reporting: 3 },
      venue: { id: "kraken", symbol: "BTC/USD", quote: "USD" },
      component: { id: "rest:ticker", kind: "rest" },
      errors: { faults: [{ fault: "timeout" }] },
    });
    t.strictSame(body.incident.regions, ["eu-central", "us-east"]);
    t.equal(body.errors.faults.length, 1);
    const events = body.events.map(({ kind, severity }) => `${kind} ${severity}`);
    t.strictSame(events, ["started null", "opened outage"]);
  });

  await t.test("spec: after it closed, it is cached for 300 seconds", async (t) => {
    await outage.close(pool);
    const { body, headers } = await api.ask<Detail>(path);
    t.equal(headers["cache-control"], "public, max-age=300");
    const times = body.events.map(({ at }) => at);
    const kinds = body.events.map(({ kind }) => kind);
    // its last bad sample precedes the tick that opened it
    t.strictSame(kinds, ["started", "last-bad", "opened", "closed"]);
    t.strictSame(times, [...times].sort(), "in chronological order");
    t.match(body, { incident: { status: "closed", closedAt: times.at(-1) }, latency: { source: "component" } });
    t.ok(body.evidence.closing.votes.length > 0);
    t.ok(body.errors.bad > 0);
  });

  await t.test("shows the basis of a stream's stall threshold", async (t) => {
    const measuredNow = structuredClone(registry);
    const week = { periods: 10_000, from: "2026-01-01", to: "2026-01-07" };
    measuredNow.venues[0]!.socket!.streams[0]!.stall.distribution = { ...week, p50Ms: 100, p99Ms: 500, p999Ms: 900 };
    await pool.transaction((tx) => syncRegistry(tx, measuredNow));
    type Thresholds = { stalls: { venue: string; component: string; afterMs: number; basis: string }[] };
    const { stalls } = (await (await serve(t, { pool, registry: measuredNow })).ask<Thresholds>("/v1/thresholds")).body;
    const bases = new Map(stalls.map((stream) => [stream.basis, stream]));
    t.ok(bases.has("measured") && bases.has("estimate"));
    for (const { venue, component, afterMs, basis } of bases.values())
      t.strictSame(await thresholdOf(venue, component), { afterMs, basis }, `${venue} ${component}: as published`);
    for (const component of ["ws:conn", "rest:ticker"]) t.equal(await thresholdOf("okx", component), null, component);
  });

  async function thresholdOf(venue: string, component: string) {
    const past = await pastIncident(pool, { venue, component, startedAt: ago(3 * day), minutes: 1 });
    return (await api.ask<{ stallThreshold: object | null }>(`/v1/incidents/${past}`)).body.stallThreshold;
  }

  await t.test("is 404 for an incident that never existed", async (t) => {
    const similar = [`${slug}-2`, `${slug}-99999999999999999999`, slug.toUpperCase(), `${slug}%20`];
    for (const unknown of [...similar, "kraken-2020-01-01-rest-outage", "no-slug", "a".repeat(5000)])
      t.equal((await api.ask(`/v1/incidents/${unknown}`)).status, 404, unknown.slice(0, 60));
  });
});
