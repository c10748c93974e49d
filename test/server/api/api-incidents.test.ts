import t from "tap";
import { sql } from "../../../shared/database/pool.js";
import { serve, type Api } from "../../support/api.js";
import { migratedDatabase } from "../../support/database.js";
import { syncRegistry } from "../../../server/database/sync-registry.js";
import { ago, decide, outage, pastIncident } from "../../support/fleet.js";

interface Incident {
  id: number;
  slug: string;
  venue: string;
  component: string;
  status: string;
  startedAt: string;
  closedAt: string | null;
}

interface Page {
  incidents: Incident[];
}

const day = 86_400;

async function list(api: Api, query = ""): Promise<Incident[]> {
  return (await api.ask<Page>(`/v1/incidents${query}`)).body.incidents;
}

/** All pages, each from the end of the previous one. */
async function walk(api: Api, limit: number): Promise<string[]> {
  const walked: string[] = [];
  let cursor = "";
  for (;;) {
    const page = await list(api, `?limit=${limit}${cursor}`);
    walked.push(...page.map(({ slug }) => slug));
    if (page.length < limit) return walked;
    const last = page.at(-1)!;
    cursor = `&before=${last.startedAt}&beforeId=${last.id}`;
  }
}

void t.test("the history of incidents", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  const api = await serve(t, { pool, registry });
  const past = (venue: string, component: string, startedAt: Date | string) =>
    pastIncident(pool, { venue, component, startedAt, minutes: 5 });
  // four at one instant, one before it and one after it
  const instant = ago(3 * day);
  const newest = await past("okx", "rest:ticker", ago(2 * day));
  await past("okx", "rest:ticker", instant);
  await past("kraken", "rest:ticker", instant);
  await past("gemini", "ws:trades", instant);
  await past("bybit", "ws:conn", instant);
  const oldest = await past("bybit", "rest:ticker", ago(80 * day));
  const retracted = await pastIncident(pool, {
    venue: "deribit",
    component: "rest:book",
    startedAt: ago(day),
    minutes: 1,
    retracted: true,
  });
  await decide(pool);

  await t.test("is in order, newest first and ties by id", async (t) => {
    const all = await list(api);
    t.equal(all.length, 6);
    t.equal(all[0]!.slug, newest);
    t.equal(all.at(-1)!.slug, oldest);
    const sorted = [...all].sort((a, b) => b.startedAt.localeCompare(a.startedAt) || b.id - a.id);
    t.strictSame(all, sorted);
  });

  await t.test("loses and repeats no incident over its pages", async (t) => {
    const all = (await list(api)).map(({ slug }) => slug);
    for (const limit of [1, 2, 3, 4, 5, 200]) t.strictSame(await walk(api, limit), all, `by pages of ${limit}`);
  });

  await t.test("has starts with no more precision than is written", (t) =>
    t.rejects(past("okx", "rest:ticker", instant.toISOString().replace("Z", "007Z")), /incident_started_at_whole_ms/),
  );

  await t.test("treats before alone as strictly before", async (t) => {
    const all = await list(api);
    const tied = all[2]!;
    t.strictSame(
      (await list(api, `?before=${tied.startedAt}`)).map(({ slug }) => slug),
      [oldest],
    );
  });

  await t.test("applies filters", async (t) => {
    const slugs = async (query: string) => (await list(api, query)).map(({ slug }) => slug);
    t.strictSame(await slugs("?venue=okx&limit=1"), [newest]);
    t.equal((await slugs("?category=exchange")).length, 6);
    t.strictSame(await slugs("?category=ramp"), [], "an allowed category without measured venues");
    t.strictSame(await slugs("?status=open"), []);
    t.equal((await slugs("?status=closed")).length, 6);
    t.equal((await slugs("?status=all")).length, 6);
    t.equal((await slugs("?days=79")).length, 5, "the oldest is 80 days old");
    t.equal((await slugs("?days=81")).length, 6);
    t.equal((await slugs("?days=365")).length, 6);
    t.strictSame(await slugs("?days=1"), []);
  });

  await t.test("does not show a retracted incident", async (t) => {
    const places = [
      "/v1/status",
      "/v1/incidents?days=365&limit=200",
      "/v1/incidents?venue=deribit",
      "/v1/targets/deribit",
    ];
    for (const place of places) t.notMatch((await api.ask(place)).text, retracted, place);
    t.equal((await api.ask(`/v1/incidents/${retracted}`)).status, 404);
    interface Summed {
      summary: { incidents: number };
      incidents: unknown[];
      incidentPatterns: unknown[];
    }
    const { body } = await api.ask<Summed>("/v1/targets/deribit");
    t.equal(body.summary.incidents, 0);
    t.strictSame(body.incidents, []);
    t.strictSame(body.incidentPatterns, []);
    const neighbour = await pastIncident(pool, {
      venue: "deribit",
      component: "rest:ticker",
      startedAt: ago(day - 60),
      minutes: 1,
    });
    t.match((await api.ask(`/v1/incidents/${neighbour}`)).body, { related: [] });
  });

  await t.test("spec: a venue's page has the 50 most recent incidents, newest first", async (t) => {
    for (let nth = 0; nth < 55; nth++)
      // not in the order of their ids
      await past("gate", "rest:book", ago(day + ((nth * 7) % 55) * 3600));
    await past("bitfinex", "rest:ticker", ago(300 * day));
    await decide(pool);
    const gate = (await api.ask<Page>("/v1/targets/gate")).body;
    t.equal(gate.incidents.length, 50);
    t.strictSame(
      gate.incidents,
      await list(api, "?venue=gate&limit=50"),
      "the first of the history, in the same order",
    );
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

interface Thresholds {
  stalls: { venue: string; component: string; afterMs: number; basis: string }[];
}

interface Detail {
  incident: Incident & { quorum: number; reporting: number; regions: string[] };
  venue: { id: string; symbol: string; quote: string };
  component: { id: string; kind: string };
  events: { kind: string; at: string; severity: string | null }[];
  evidence: Record<"opening" | "closing", { votes: { region: string; vote: string; faults: object }[] }>;
  errors: { bad: number; faults: { fault: string; count: number }[] };
  latency: { source: string; label: string } | null;
  related: Incident[];
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
    });
    t.strictSame(body.incident.regions, ["eu-central", "us-east"]);
    t.strictSame(
      body.events.map(({ kind, severity }) => [kind, severity]),
      [
        ["started", null],
        ["opened", "outage"],
      ],
    );
    t.strictSame(
      body.evidence.opening.votes.map(({ region, vote }) => [region, vote]),
      [
        ["eu-central", "outage"],
        ["ap-southeast", "operational"],
        ["us-east", "outage"],
      ],
      "every region's vote is stored, including the dissenting one",
    );
    t.strictSame(
      body.errors.faults.map(({ fault }) => fault),
      ["timeout"],
    );
  });

  await t.test("keeps its bytes and its ETag within a tick", async (t) => {
    const first = await api.ask(path);
    const again = await api.ask(path);
    t.equal(again.text, first.text);
    t.equal(again.headers.etag, first.headers.etag);
  });

  await t.test("spec: after it closed, it is cached for 300 seconds", async (t) => {
    await outage.close(pool);
    const { body, headers } = await api.ask<Detail>(path);
    t.equal(headers["cache-control"], "public, max-age=300");
    t.equal(body.incident.status, "closed");
    const times = body.events.map(({ at }) => at);
    t.strictSame(
      body.events.map(({ kind }) => kind),
      // its last bad sample precedes the tick that opened it
      ["started", "last-bad", "opened", "closed"],
    );
    t.strictSame(times, [...times].sort(), "in chronological order");
    t.equal(times.at(-1), body.incident.closedAt);
    t.ok(body.evidence.closing.votes.length > 0);
    t.ok(body.errors.bad > 0);
    t.equal(body.latency?.source, "component");
  });

  await t.test("shows the venue's REST latency for a stream, and says so", async (t) => {
    const stream = await pastIncident(pool, {
      venue: "kraken",
      component: "ws:trades",
      startedAt: ago(120),
      minutes: 1,
    });
    const { body } = await api.ask<Detail>(`/v1/incidents/${stream}`);
    t.equal(body.latency?.source, "venue-rest");
    t.match(body.latency?.label, /REST/);
    t.strictSame(
      body.related.map(({ slug }) => slug),
      [slug],
      "it lists the other incident of that hour",
    );
  });

  await t.test("shows the basis of a stream's stall threshold", async (t) => {
    const measuredNow = structuredClone(registry);
    const { stall } = measuredNow.venues[0]!.socket!.streams[0]!;
    stall.distribution = {
      ...{ periods: 10_000, from: "2026-01-01", to: "2026-01-07" },
      ...{ p50Ms: 100, p99Ms: 500, p999Ms: 900 },
    };
    await pool.transaction((tx) => syncRegistry(tx, measuredNow));
    const { stalls } = (await (await serve(t, { pool, registry: measuredNow })).ask<Thresholds>("/v1/thresholds")).body;
    const bases = new Map(stalls.map((stream) => [stream.basis, stream]));
    t.ok(bases.has("measured") && bases.has("estimate"));
    for (const { venue, component, afterMs, basis } of bases.values())
      t.strictSame(
        await thresholdShown(venue, component),
        { afterMs, basis },
        `${venue} ${component}: the same as in /v1/thresholds`,
      );
    for (const component of ["ws:conn", "rest:ticker"])
      t.equal(await thresholdShown("okx", component), null, component);
  });

  async function thresholdShown(venue: string, component: string) {
    const past = { venue, component, startedAt: ago(3 * day), minutes: 1 };
    const { body } = await api.ask<{ stallThreshold: object | null }>(
      `/v1/incidents/${await pastIncident(pool, past)}`,
    );
    return body.stallThreshold;
  }

  await t.test("is 404 for an incident that never existed", async (t) => {
    const strangers = [
      "kraken-2020-01-01-rest-outage",
      "no-slug",
      `${slug}-2`,
      `${slug}-99999999999999999999`,
      slug.toUpperCase(),
      `${slug}%20`,
      "a".repeat(5000),
    ];
    for (const stranger of strangers) {
      const { status } = await api.ask(`/v1/incidents/${stranger}`);
      t.equal(status, 404, stranger.slice(0, 60));
    }
  });
});
