import t from "tap";
import { makeService } from "../../../../server/cli/service.js";
import { statusOf } from "../../../../server/cli/status.js";
import { syncRegistry } from "../../../../server/database/sync-registry.js";
import type { TypeOf } from "../../../../server/web/api/shapes.js";
import type { regionsResponse } from "../../../../server/web/board/regions.js";
import type { statusResponse } from "../../../../server/web/board/status.js";
import type { venueStateResponse } from "../../../../server/web/board/venue-state.js";
import type { exchangeResponse } from "../../../../server/web/board/venue.js";
import { sql } from "../../../../shared/database/pool.js";
import type { Fault } from "../../../../shared/measurement/sample.js";
import { agentOn } from "../../../support/agent.js";
import { type Api, serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { ago, decide, measured, outage, pastIncident } from "../../../support/fleet.js";
import { getPage } from "../../../support/page.js";
import { randomFrom } from "../../../support/random-samples.js";
import { endsOn, entryIs, unjudge } from "../../../support/unjudged.js";

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

// Recurring incidents on a venue's page.

interface Pattern {
  component: string;
  severity: string;
  count: number;
  byHour: number[];
  byWeekday: number[];
  recurring: object[];
  incidents: { slug: string; path: string; startedAt: string }[];
}

async function patternsOf(api: Api, venue: string): Promise<Pattern[]> {
  const { body } = await api.ask<{ incidentPatterns: Pattern[] }>(`/v1/targets/${venue}`);
  return body.incidentPatterns;
}

const dayMs = 86_400_000;
const fiveOfSix = { incidents: 5, days: 5, ofDays: 6 };

/** This many weeks before the current one, at a UTC time of a day of the week; Monday is 1. */
function weeksAgo(weeks: number, weekday: number, hour: number, minute = 0) {
  const sinceMonday = (new Date().getUTCDay() + 6) % 7;
  return daysAgo(sinceMonday + 7 * weeks - (weekday - 1), hour, minute);
}

/** This many days before today, at a UTC time. */
function daysAgo(days: number, hour: number, minute = 0): Date {
  const today = Math.floor(Date.now() / dayMs) * dayMs;
  return new Date(today - days * dayMs + (hour * 60 + minute) * 60_000);
}

void t.test("a venue's page shows patterns of incidents", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  const api = await serve(t, { pool, registry });
  const past = (venue: string, component: string, startedAt: Date) =>
    pastIncident(pool, { venue, component, startedAt, minutes: 5 });
  await decide(pool);

  await t.test("an hour of a weekday is a pattern", async (t) => {
    for (const weeks of [1, 2, 3, 5, 8]) await past("okx", "rest:ticker", weeksAgo(weeks, 2, 14, weeks));
    await past("okx", "rest:ticker", weeksAgo(4, 5, 3));
    const [pattern] = await patternsOf(api, "okx");
    const newestAt = weeksAgo(1, 2, 14, 1).toISOString();
    t.match(pattern, { component: "rest:ticker", severity: "outage", count: 6, days: 6, totalSeconds: 1800, newestAt });
    t.strictSame([pattern!.byHour[14], pattern!.byHour[3]], [5, 1]);
    t.strictSame(pattern!.byWeekday, [0, 5, 0, 0, 1, 0, 0]);
    const tuesdays = { every: "week", weekday: "tuesday", hour: 14, ...fiveOfSix };
    t.strictSame(pattern!.recurring, [tuesdays], "neither its hour nor its weekday is another pattern");
  });

  await t.test("an hour of any day is a pattern", async (t) => {
    for (const days of [3, 4, 9, 12, 30]) await past("kraken", "rest:book", daysAgo(days, 0, 10));
    await past("kraken", "rest:book", daysAgo(20, 9));
    const [pattern] = await patternsOf(api, "kraken");
    t.strictSame(pattern!.recurring, [{ every: "day", weekday: null, hour: 0, ...fiveOfSix }]);
  });

  await t.test("a weekday at any hour is a pattern", async (t) => {
    for (const [nth, hour] of [2, 7, 11, 16, 21].entries())
      await past("gemini", "ws:trades", weeksAgo(nth + 1, 7, hour));
    await past("gemini", "ws:trades", weeksAgo(3, 4, 5));
    const [pattern] = await patternsOf(api, "gemini");
    t.strictSame(pattern!.recurring, [{ every: "week", weekday: "sunday", hour: null, ...fiveOfSix }]);
  });

  await t.test("several incidents on one afternoon are no pattern", async (t) => {
    for (const minute of [0, 12, 25, 41, 50]) await past("bybit", "ws:conn", daysAgo(2, 15, minute));
    const [pattern] = await patternsOf(api, "bybit");
    t.match(pattern, { count: 5, days: 1 });
    t.strictSame(pattern!.recurring, []);
  });

  await t.test("two incidents are no pattern", async (t) => {
    for (const weeks of [1, 2]) await past("gate", "rest:ticker", weeksAgo(weeks, 3, 8));
    const [pattern] = await patternsOf(api, "gate");
    t.strictSame([pattern!.count, pattern!.recurring], [2, []]);
  });

  await t.test("every incident of the window is counted once", async (t) => {
    const random = randomFrom(7);
    const wanted = [];
    for (let nth = 0; nth < 70; nth++) {
      const startedAt = daysAgo(1 + Math.floor(random() * 88), Math.floor(random() * 24), Math.floor(random() * 60));
      const component = ["rest:ticker", "rest:book", "ws:conn"][nth % 3]!;
      const severity = random() < 0.5 ? "outage" : "degraded";
      const retracted = random() < 0.1;
      const what = { venue: "bitget", component, severity, retracted } as const;
      const slug = await pastIncident(pool, { ...what, startedAt, minutes: 3 });
      if (!retracted) wanted.push({ slug, component, severity });
    }
    await past("bitget", "rest:ticker", daysAgo(95, 3));
    const patterns = await patternsOf(api, "bitget");
    const counted = patterns.flatMap(({ component, severity, incidents }) =>
      incidents.map(({ slug }) => ({ slug, component, severity })),
    );
    const bySlug = (a: { slug: string }, b: { slug: string }) => a.slug.localeCompare(b.slug);
    t.strictSame(counted.sort(bySlug), wanted.sort(bySlug));
    const kinds = patterns.map((one) => `${one.component} ${one.severity}`);
    t.equal(new Set(kinds).size, kinds.length, "each kind appears once");
    for (const { count, byHour, byWeekday, incidents } of patterns) {
      t.strictSame([incidents.length, sum(byHour), sum(byWeekday)], [count, count, count]);
      const times = incidents.map(({ startedAt }) => startedAt);
      t.strictSame(times, [...times].sort().reverse(), "newest first");
    }
    const { body } = await api.ask<{ summary: { incidents: number } }>("/v1/targets/bitget");
    t.equal(body.summary.incidents, wanted.length);
  });

  await t.test("a pattern's links lead to its incidents", async (t) => {
    for (const { incidents } of await patternsOf(api, "okx"))
      for (const { path, slug } of incidents)
        t.match(await api.ask(path), { status: 200, body: { incident: { slug } } });
  });
});

function sum(counts: number[]): number {
  return counts.reduce((a, b) => a + b, 0);
}

// The reasons of states, as every reader gets them: why a state is unknown, and limits, halts and blocks, which are no
// outages.

const { pool, registry } = await migratedDatabase(t);
const [from, now] = [ago(400), ago(0)];
const two = ["eu-central", "us-east"];

await measured(pool, { from, to: now });
for (const [venue, component, fault] of [
  ["kraken", "rest:ticker", "limited"],
  ["bitstamp", "rest:ticker", "halted"],
  ["okx", undefined, "connect"],
  ["gemini", undefined, "timeout"],
] as const satisfies [string, string | undefined, Fault][])
  await measured(pool, { from: ago(200), to: now, venue, fault, regions: two, ...(component && { component }) });
await measured(pool, { from: ago(200), to: now, venue: "okx", component: "rest:time", fault: "limited", regions: two });
await entryIs(pool, "binance", { blockedIn: { countries: ["US", "CA"], source: "https://example.org/terms" } });
await endsOn(pool, "gemini", "2026-03-01", "Gemini switches this API off.");
await decide(pool, ago(100));
await unjudge(pool, "okx", "never");
await unjudge(pool, "binance", "blocked");
await unjudge(pool, "gemini", "ended");
const entry = {
  sources: ["https://docs.kraken.com/api", "javascript:alert(1)"],
  checkedAt: "2026-01-12",
  until: { date: "2027-03-01", what: "Kraken switches this off.", source: "https://docs.kraken.com/end" },
  limits: [
    {
      ...{ origin: "https://api.kraken.com", requests: 1, periodMs: 1_000, per: "address" as const },
      source: "support article 206548367",
    },
  ],
  blockedIn: { countries: ["US"], source: "https://kraken.com/legal" },
  edgeCacheMs: 2_000,
};
await entryIs(pool, "kraken", entry);
const api = await serve(t, { pool, registry });

const never = /^never seen good from here \((.*)\); check the address in the entry, and this network$/;

void t.test("a component says why it is unknown although it is measured, in the same words everywhere", async (t) => {
  const page = (await api.ask<TypeOf<typeof exchangeResponse>>("/v1/targets/okx")).body;
  const state = (await api.ask<TypeOf<typeof venueStateResponse>>("/v1/targets/okx/state")).body;
  const board = (await api.ask<TypeOf<typeof statusResponse>>("/v1/status")).body;
  const row = board.venues.find(({ id }) => id === "okx")!;
  const seen = (of: { component: string; unknownBecause: unknown }[]) =>
    of.map(({ component, unknownBecause }) => ({ component, unknownBecause }));
  t.strictSame(seen(state.components), seen(row.components));
  t.strictSame(new Set(seen([...page.endpoints, ...page.streams])), new Set(seen(state.components)));
  const of = (component: string) => state.components.find((one) => one.component === component)!;
  t.match(of("rest:ticker"), { state: "unknown", fault: null, unknownBecause: { reason: "never", detail: never } });
  t.equal(never.exec(of("rest:ticker").unknownBecause!.detail)?.[1], "eu-central, us-east: connect");
  t.match(of("rest:time").unknownBecause!.detail, /limited\); the venue limits our requests: set PROBES_PER_ADDRESS/);
  for (const venue of ["kraken", "bitstamp", "coinbase"])
    for (const one of board.venues.find(({ id }) => id === venue)!.components)
      t.equal(one.unknownBecause, null, `${venue} ${one.component}`);

  const reasonOf = (venue: string) => board.venues.find(({ id }) => id === venue)!.components[0]!.unknownBecause;
  t.match(reasonOf("binance"), {
    reason: "blocked",
    detail: /^blocked from this place; .* does not serve US, CA; only/,
  });
  t.strictSame(reasonOf("gemini"), { reason: "ended", detail: "ended on 2026-03-01: Gemini switches this API off" });
});

void t.test("pages of a state unknown for such a reason are neither red nor amber, and give the reason", async (t) => {
  for (const [venue, sentence] of [
    ["okx", /^We do not know whether OKX works: we have never seen it good from here\./],
    ["binance", /^We do not know whether Binance works: it refuses the place that we measure from\./],
    [
      "gemini",
      /^We do not know whether Gemini works\. Its service ended on 2026-03-01: Gemini switches this API off\./,
    ],
  ] as const) {
    const { text, icon, title } = await getPage(api.port, `/venues/${venue}`);
    t.match(text, sentence);
    t.equal(icon, "unknown");
    t.notMatch(title, /down|degraded|fail/i);
    t.match(text, /Unknown (never seen good from here|blocked from this place|ended on)/, "in the matrix");
  }
  const { text } = await getPage(api.port, "/");
  t.match(
    text,
    /Never seen good from here: OKX\. Blocked from this place: Binance\. The service has ended, .*: Gemini\./,
  );
});

void t.test("a component that a region never saw good is not shown as trouble", async (t) => {
  const signsOf = async (venue: string, section: string) => {
    const html = await (await fetch(`http://127.0.0.1:${api.port}/venues/${venue}`)).text();
    const [part] = new RegExp(`<section aria-labelledby="${section}">.*?</section>`, "s").exec(html)!;
    return new Set(Array.from(part.matchAll(/class="sign (\w+)"/g), ([, state]) => state));
  };
  for (const section of ["matrix", "endpoints", "streams", "regions"]) {
    t.strictSame(await signsOf("okx", section), new Set(["unknown"]), section);
    t.ok((await signsOf("bitstamp", section)).has("operational"), "others are as before");
  }
  t.ok((await signsOf("bitstamp", "matrix")).has("outage"));
  t.strictSame(await signsOf("gemini", "matrix"), new Set(["unknown"]), "nor of one that has ended");
});

void t.test("each region lists what it never saw good, with what to do", async (t) => {
  const { regions } = (await api.ask<TypeOf<typeof regionsResponse>>("/v1/regions")).body;
  const [central, southeast] = regions;
  const { components } = (await api.ask<TypeOf<typeof venueStateResponse>>("/v1/targets/okx/state")).body;
  t.strictSame(
    central!.neverSeenGood.map(({ component }) => component),
    components.map(({ component }) => component),
  );
  t.equal(central!.neverSeenGoodTotal, components.length);
  t.match(central!.neverSeenGood[0], { venue: "okx", advice: /\w/ });
  t.match(
    central!.neverSeenGood.find(({ component }) => component === "rest:ticker"),
    { fault: "connect", advice: "check the address in the entry, and this network" },
  );
  t.strictSame([southeast!.neverSeenGood, southeast!.neverSeenGoodTotal], [[], 0], "it sees them good");
  const { text } = await getPage(api.port, "/regions");
  t.match(text, /Never seen good: \d+ components .* OKX rest:ticker no connection .* check the address in the entry/);
});

void t.test("a venue's entry is published, and its page says how it is measured", async (t) => {
  const kraken = (await api.ask<TypeOf<typeof exchangeResponse>>("/v1/targets/kraken")).body;
  const { until, limits } = entry;
  t.strictSame(kraken.entry, {
    ...entry,
    until: { ...until, components: null },
    endedAt: null,
    limits: limits.map(({ source, ...limit }) => ({ ...limit, endpoints: null, source })),
  });
  t.strictSame((await api.ask<TypeOf<typeof exchangeResponse>>("/v1/targets/coinbase")).body.entry.blockedIn, null);
  const { text, links } = await getPage(api.port, "/venues/kraken");
  t.match(text, /How we measure it as its documentation said on 12 Jan/);
  t.match(text, /Our entry for it last compared with its documentation on 12 Jan/);
  t.match(text, /It ends 1 Mar 2027: Kraken switches this off\. \(source\)/);
  t.match(text, /1 request in 1 s from one address, at https:\/\/api\.kraken\.com \(support article 206548367\)/);
  t.match(text, /It does not serve United States: from there it refuses our requests/);
  t.match(text, /An edge in front of it answers for up to 2 s/);
  t.ok(links.includes("https://docs.kraken.com/api"));
  t.notOk(links.some((link) => link.startsWith("javascript:")));
  await pool.query(sql`
    update component c set cadence_ms = 77000 from venue v
    where v.venue_id = c.venue_id and v.venue = 'bitfinex' and c.component = 'rest:ticker'
  `);
  t.match((await getPage(api.port, "/venues/bitfinex")).text, /Ticker REST \S+ 77 s no full answer/, "as resolved");
});

void t.test("a venue that limits our requests is called that, and never down", async (t) => {
  const { incidents } = (await api.ask<TypeOf<typeof statusResponse>>("/v1/status")).body;
  const incident = incidents.find(({ venue }) => venue === "kraken")!;
  t.equal(incident.fault, "limited");
  const { slug } = incident;
  const board = await getPage(api.port, "/");
  t.match(board.text, /Kraken Limits our requests Ticker, in 2 of 3 regions/);
  t.match(board.text, /Kraken Limits our requests for/);
  t.match((await getPage(api.port, "/venues/kraken")).text, /^Kraken limits our requests: Ticker, in 2 of 3/);
  const page = await getPage(api.port, `/incidents/${slug}`);
  t.match(page.text, /Kraken: Ticker has limited our requests since/);
  t.match(page.text, /Severity Limits our requests: enough regions had their requests limited/);
  t.match((await getPage(api.port, "/wall")).text, /Kraken Limits our requests for/);
  const badge = await fetch(`http://127.0.0.1:${api.port}/badges/kraken.svg`);
  t.match(await badge.text(), "Kraken: Limits our requests");
  const card = await getPage(api.port, "/embed/kraken");
  t.match(card.text, /^Kraken limits our requests/);
  const feed = await fetch(`http://127.0.0.1:${api.port}/feeds/incidents.atom`);
  t.match(await feed.text(), "Kraken: Ticker limits our requests");
  const statuspage = await fetch(`http://127.0.0.1:${api.port}/statuspage/kraken/api/v2/incidents.json`);
  const document = await statuspage.text();
  t.match(document, "Ticker (rest:ticker) limits our requests");
  t.match(document, "2 of 3 regions with a vote saw that Ticker (rest:ticker) limits our requests.");
});

void t.test("a venue that says that it does not trade is quoted", async (t) => {
  const { text } = await getPage(api.port, "/");
  t.match(text, /Bitstamp (Degraded|Down) Ticker says that it does not trade, in 2 of 3/);
  const venue = await getPage(api.port, "/venues/bitstamp");
  t.match(venue.text, /^Bitstamp is (degraded|down): Ticker says that it does not trade, in 2 of 3 regions\./);
});

void t.test("agents are given the reasons", async (t) => {
  const agent = await agentOn(t, api.port);
  const okx = await agent.ask("is_it_down", { venue: "okx" });
  t.match(
    okx.text,
    /neither up nor down\. Fewer than half .* The reason: never seen good from here \(eu-central, us-east: /,
  );
  t.match(okx.data, { state: "unknown" });
  t.match(JSON.stringify(okx.data), '"unknownBecause":{"reason":"never",');
  const kraken = await agent.ask("venue", { venue: "kraken" });
  t.match(kraken.text, /1 of \d+ components is \S+( outage)?, because the venue limits our requests \(rest:ticker\)/);
  t.match(kraken.data["body"], { incidents: [{ status: "open", fault: "limited" }] });
});

void t.test("the command line is given the reasons", async (t) => {
  const service = makeService(`http://127.0.0.1:${api.port}`, { timeoutMs: 20_000 });
  t.teardown(() => service.close());
  const asked = (venue: string | null) => statusOf(service, { venue, category: null });
  const okx = await asked("okx");
  t.match(okx.text, /rest:ticker +unknown: never seen good from here +20/);
  t.match(okx.text, /\n\S*rest:ticker\S*.*: never seen good from here \(eu-central, us-east: connect\); check/);
  t.match((await asked("kraken")).text, /rest:ticker +(degraded|outage): limits our requests +20/);
  t.match((await asked(null)).text, /rest:ticker (degraded|outage): limits our requests/);
});
