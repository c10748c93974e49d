import type { OpenAPIObject, ReferenceObject, ResponseObject, SchemaObject } from "openapi3-ts/oas31";
import t, { type Test } from "tap";
import { syncRegistry } from "../../../../server/database/sync-registry.js";
import { migrate } from "../../../../server/database/migrate.js";
import { makeLog } from "../../../../shared/log/log.js";
import { packagedFile } from "../../../../shared/config/package.js";
import type { Limit, Registry, Venue } from "../../../../shared/registry/registry.js";
import { watchedVenues } from "../../../../shared/registry/chain-venues.js";
import { loadRegistry } from "../../../../shared/registry/load-registry.js";
import { type Pool, sql } from "../../../../shared/database/pool.js";
import { addChannel, happened } from "../../../support/alerts.js";
import { type Api, describedPath, documentOf, serve } from "../../../support/api.js";
import { migratedDatabase, type TestDatabase } from "../../../support/database.js";
import { claim, expand, settle } from "../../../support/alert-dispatch.js";
import { measuredStalls, insertManyEvents } from "../../../support/many-events.js";
import { ago, decide, forget, measured, outage, pastIncident } from "../../../support/fleet.js";
import { forgetSaid, notice, said, whole } from "../../../support/stored-notices.js";
import { line, listed } from "../../../support/stored-transfers.js";
import { watchedSince } from "../../../support/rollup-upkeep.js";
import { endsOn, entryIs, unjudge } from "../../../support/unjudged.js";
import { getsOf } from "../../../support/openapi-operation.js";
import { describedColumns } from "../../../support/table.js";

const document = documentOf({ registry: await loadRegistry(packagedFile("registry/all.json")) });
const coverage = trackCoverage(document);
const statuspagePaths = Object.keys(document.paths!).filter((path) => path.startsWith("/statuspage/"));

/** Requests each route in all its forms, and checks each response against its schema. */
async function askAll(api: Api, venues: { id: string }[]): Promise<void> {
  const venue = venues[0]!.id;
  const paths = [
    ...["/v1/status", "/v1/status?category=exchange", "/v1/status?category=bridge"],
    ...venues.flatMap(({ id }) => [`/v1/targets/${id}`, `/v1/targets/${id}/state`]),
    `/v1/targets/${venue}/state?region=us-east`,
    ...[`/v1/exchanges/${venue}?range=7d&region=us-east`, "/v1/regions", "/v1/thresholds"],
    ...["/v1/incidents", "/v1/incidents?status=open", "/v1/reliability", "/v1/reliability?days=1&category=bridge"],
    ...["/v1/detection", "/v1/notify", `/v1/targets/${venue}?format=csv`, `/v1/exchanges/${venue}?format=csv`],
    ...["/v1/reliability?format=csv", "/v1/incidents?format=csv", "/metrics", "/healthz", "/openapi.json"],
    ...["/v1/maintenance", "/v1/maintenance.csv", "/v1/transfers", "/v1/transfers.csv", "/v1/transfers/gate"],
    ...statuspagePaths.map((path) => path.replace("{venue}", "kraken")),
    "/badges/kraken.json",
  ];
  for (const path of paths) await request(api, path);
  const { body } = await api.ask<{ incidents: { slug: string; startedAt: string }[] }>("/v1/incidents");
  for (const { slug, startedAt } of body.incidents) {
    await request(api, `/v1/incidents/${slug}`);
    // samples are stored for eight days
    if (Date.parse(startedAt) > Date.now() - 86_400_000)
      for (const format of ["", ".csv"]) await request(api, `/v1/incidents/${slug}/samples${format}`);
  }
}

async function request(api: Api, path: string): Promise<void> {
  const { status, body } = await api.ask(path);
  if (status !== 200) throw new Error(`${path} answered ${status}`);
  coverage.note(describedPath(document, path)!, body);
}

/** The other venues are measured alike; two tests below request more. */
const someVenues = ["okx", "kraken"].map((id) => ({ id }));

/** Of each category the first venue, and more. */
function ofEachCategory(registry: Registry, more: (venue: Venue) => boolean): Venue[] {
  const venues = watchedVenues(registry);
  const first = new Map(venues.toReversed().map((venue) => [venue.category, venue]));
  return venues.filter((venue) => first.get(venue.category) === venue || more(venue));
}

const limit: Limit = {
  ...{ origin: "https://api.example.org", requests: 60, periodMs: 60_000, per: "address" },
  source: "https://docs.example.org",
};
const ends = { date: "2027-03-01", what: "It is switched off.", source: limit.source };

/** The board, after requests to all routes, from a server without cached states. */
async function boardIn(t: Test, { pool, registry }: TestDatabase) {
  const api = await serve(t, { pool, registry });
  await askAll(api, someVenues);
  return { api, ...(await api.ask<Board>("/v1/status")).body };
}

interface Board {
  summary: { state: string; activeIncidents: number };
  venues: { id: string; state: string; since: string }[];
  incidents: { slug: string; status: string }[];
}

void t.test("every response fits its schema, in every state", async (t) => {
  const database = await migratedDatabase(t);
  const { pool } = database;

  await t.test("before anything was measured", async (t) => {
    await forget(pool);
    const { summary, venues, incidents } = await boardIn(t, database);
    t.equal(summary.state, "unknown");
    t.strictSame(incidents, []);
    t.strictSame(new Set(venues.map(({ state }) => state)), new Set(["unknown"]));
  });

  await t.test("when everything is operational", async (t) => {
    await forget(pool);
    await measured(pool, { from: ago(150), to: ago(0) });
    // long enough for a whole published hour
    await measured(pool, { from: ago(2.2 * 3_600), to: ago(3_600), venue: "kraken", component: "rest:ticker" });
    await decide(pool);
    t.equal((await boardIn(t, database)).summary.state, "operational");
  });

  await t.test("when one region alone sees everything bad", async (t) => {
    await forget(pool);
    await measured(pool, { from: ago(150), to: ago(0) });
    await measured(pool, { from: ago(150), to: ago(0), regions: ["us-east"], fault: "connect" });
    await decide(pool);
    t.match((await boardIn(t, database)).summary, { state: "operational", activeIncidents: 0 });
  });

  await t.test("after a region was impaired", async (t) => {
    await forget(pool);
    await measured(pool, { from: ago(290), to: ago(0) });
    await measured(pool, { from: ago(290), to: ago(150), regions: ["us-east"], fault: "connect" });
    for (const seconds of [200, 100, 20]) await decide(pool, ago(seconds));
    const { api } = await boardIn(t, database);
    t.match((await api.ask("/v1/regions")).body, { regions: [{}, {}, { impairments: [{ endedAt: String }] }] });
  });

  await t.test("while an incident is open, and after", async (t) => {
    await forget(pool);
    await outage.open(pool);
    await pool.query(sql`
      update sample
      set dns_us = 1000, connect_us = 2000, tls_us = 3000, first_byte_us = 9000, http_status = 200, fresh = true,
        late_ms = 60, head = 21000000, sequence_gaps = 1
      where good
    `);
    t.match(await boardIn(t, database), { summary: { activeIncidents: 1 }, incidents: [{ status: "open" }] });
    // and while the engine lags
    await askAll(await serve(t, { ...database, staleAfterMs: 0 }), someVenues);

    await outage.close(pool);
    const after = { summary: { activeIncidents: 0 }, incidents: [{ status: "closed" }] };
    t.match(await boardIn(t, database), after, "listed on the board for a day");
  });

  await t.test("when venues are down in maintenance that they announced", async (t) => {
    await forget(pool);
    await measured(pool, { from: ago(900), to: ago(0) });
    for (const [venue, from, other] of [
      ["kraken", ago(300), { plannedEndAt: ago(-600) }],
      ["okx", ago(900), { url: "https://status.okx.example/m" }],
    ] as const) {
      await measured(pool, { from: ago(270), to: ago(0), venue, component: "rest:ticker", fault: "timeout" });
      const announced = notice("m", from, { kind: "maintenance", postedAt: ago(5_000), ...other });
      await said(pool, venue, ago(4_000), [{ ...whole(announced), scope: "maintenances" }]);
    }
    await decide(pool, ago(200));
    // so that nothing of OKX's time is outside of its maintenance
    await watchedSince(pool, ago(840));
    await pool.query(sql`call upkeep.refresh_all(${ago(3_600)}, now())`);
    await pool.query(sql`update venue set official_page = null where venue = 'kraken'`);
    const { api, incidents } = await boardIn(t, database);
    t.match(incidents, [{ maintenance: { title: String } }, { maintenance: { title: String } }]);
    for (const id of ["kraken", "okx"]) await request(api, `/v1/targets/${id}?format=csv`);
    await forgetSaid(pool);
    await syncRegistry(pool, database.registry);
  });

  await t.test("when a venue is down", async (t) => {
    await forget(pool);
    await measured(pool, { from: ago(150), to: ago(0) });
    await measured(pool, { from: ago(150), to: ago(0), venue: "kraken", fault: "connect" });
    await decide(pool);
    const api = await serve(t, database);
    await request(api, "/statuspage/kraken/api/v2/status.json");
    t.match((await api.ask("/v1/targets/kraken")).body, { state: "outage" });
  });

  await t.test("when venues are unknown although they are measured, or limit our requests", async (t) => {
    await forget(pool);
    await measured(pool, { from: ago(400), to: ago(0) });
    await measured(pool, { from: ago(200), to: ago(0), venue: "kraken", component: "rest:ticker", fault: "limited" });
    await measured(pool, { from: ago(200), to: ago(0), venue: "okx", fault: "connect" });
    await entryIs(pool, "okx", { until: ends, limits: [{ ...limit, per: "account" }] });
    const ofSome = { components: ["rest:ticker"] };
    await entryIs(pool, "kraken", {
      ...{ sources: [limit.source], checkedAt: "2026-01-31", until: { ...ends, ...ofSome } },
      ...{ limits: [{ ...limit, endpoints: ["ticker"] }], edgeCacheMs: 2_000 },
      blockedIn: { countries: ["US"], source: limit.source },
    });
    await endsOn(pool, "gemini", "2026-01-31", "It is switched off.");
    await entryIs(pool, "bybit", { endedAt: { date: "2026-01-31", what: "It was closed.", source: limit.source } });
    await decide(pool, ago(100));
    for (const [venue, reason] of [
      ["okx", "never"],
      ["gemini", "ended"],
      ["binance", "blocked"],
    ] as const)
      await unjudge(pool, venue, reason);
    const { incidents, venues } = await boardIn(t, database);
    t.match(incidents, [{ venue: "kraken", fault: "limited" }]);
    t.equal(venues.filter(({ state }) => state === "unknown").length, 3);
    await pool.query(
      sql`delete from region_state s using region g where g.region_id = s.region_id and g.region = 'us-east'`,
    );
    const api = await serve(t, database);
    for (const seen of ["bybit", "gemini/state", "binance/state", "kraken/state?region=us-east"])
      await request(api, `/v1/targets/${seen}`);
    await syncRegistry(pool, database.registry);
  });

  await t.test("with an incident older than every sample", async (t) => {
    await forget(pool);
    await pastIncident(pool, { venue: "okx", component: "ws:trades", startedAt: ago(80 * 86_400), minutes: 12 });
    t.strictSame((await boardIn(t, database)).incidents, [], "no incident is listed");
  });

  await t.test("when the engine fell silent, everything is unknown", async (t) => {
    await forget(pool);
    await outage.open(pool);
    await pool.query(sql`update engine_clock set ticked_at = ticked_at - interval '5 minutes'`);
    const { api, summary, venues } = await boardIn(t, database);
    t.equal(summary.state, "unknown");
    const [clock] = await pool.query<{ silent_at: Date }>(
      sql`select ticked_at + interval '5 minutes' as silent_at from engine_clock`,
    );
    const sinceSilence = `unknown since ${clock!.silent_at.toISOString()}`;
    t.strictSame(new Set(venues.map(({ state, since }) => `${state} since ${since}`)), new Set([sinceSilence]));

    interface Detail {
      state: string;
      endpoints: { state: string; regionState: string }[];
      streams: { state: string; regionState: string }[];
      regions: { compare: { state: string }[] };
    }
    const { state, endpoints, streams, regions } = (await api.ask<Detail>("/v1/targets/kraken")).body;
    const rows = [...endpoints, ...streams].flatMap((row) => [row.state, row.regionState]);
    const states = [state, ...rows, ...regions.compare.map((region) => region.state)];
    t.strictSame(new Set(states), new Set(["unknown"]));
  });
});

void t.test("every response fits its schema, with all categories", async (t) => {
  const { pool } = await migratedDatabase(t);
  const registry = await loadRegistry(packagedFile("registry/all.json"));
  await migrate(pool, registry, makeLog("test", "warn"));
  const api = await serve(t, { pool, registry });
  await measured(pool, { from: ago(150), to: ago(0) });
  const heads = { from: ago(150), to: ago(0), component: "rest:block" };
  await measured(pool, { ...heads, venue: "publicnode", head: 21_000_005 });
  await measured(pool, { ...heads, venue: "drpc", head: 21_000_002 });
  await measured(pool, { ...heads, venue: "publicnode", regions: ["us-east"], head: 21_000_001 });
  // reported a head, but not recently
  const stale = { from: ago(150), to: ago(100), head: 270_000_000 };
  await measured(pool, { ...stale, venue: "solana", component: "rest:slot" });
  await pool.query(sql`update sample set certificate_expires_at = now() + interval '30 days'`);
  await decide(pool);
  await askAll(
    api,
    ofEachCategory(registry, ({ id }) =>
      ["publicnode", "drpc", "solana", "ethereum-chain", "solana-chain"].includes(id),
    ),
  );

  await t.test("each category lists its venues", async (t) => {
    interface Counted {
      summary: { venues: number; categories: { category: string; venues: number }[] };
      venues: { category: string }[];
    }
    const { body } = await api.ask<Counted>("/v1/status?category=oracle");
    t.equal(body.summary.venues, watchedVenues(registry).filter(({ category }) => category === "oracle").length);
    t.strictSame(new Set(body.venues.map((row) => row.category)), new Set(["oracle"]));
    const all = body.summary.categories;
    t.equal(all.length, 7);
    const sum = all.reduce((total, { venues }) => total + venues, 0);
    t.equal(sum, watchedVenues(registry).length, "the filter does not change the board's counts");
  });

  await t.test("lag compares with the freshest head of the same region", async (t) => {
    type Lagging = { endpoints: { component: string; lag: { blocks: number } | null }[] };
    async function lag(venue: string, region: string) {
      const { body } = await api.ask<Lagging>(`/v1/targets/${venue}?region=${region}`);
      return body.endpoints.find(({ component }) => component === "rest:block")?.lag?.blocks;
    }
    t.strictSame([await lag("drpc", "eu-central"), await lag("publicnode", "eu-central")], [3, 0]);
    t.strictSame([await lag("drpc", "us-east"), await lag("publicnode", "us-east")], [0, 1]);

    t.match((await api.ask("/v1/targets/drpc")).body, { exchange: { symbol: null, quote: null } });
    const { endpoints } = (await api.ask<Lagging>("/v1/targets/kraken")).body;
    for (const { lag } of endpoints) t.equal(lag, null, "an exchange has no chain");
  });

  await t.test("a chain that stands", async (t) => {
    await measured(pool, { from: ago(100), to: ago(0), venue: "ethereum-chain", fault: "stale" });
    await decide(pool);
    await askAll(
      api,
      ["publicnode", "ethereum-chain"].map((id) => ({ id })),
    );
    t.match((await api.ask("/v1/targets/drpc")).body, { chain: { state: "outage", standsSince: String } });
  });
});

void t.test("every response fits its schema, after many events", async (t) => {
  const { pool } = await migratedDatabase(t);
  const registry = measuredStalls(await loadRegistry(packagedFile("registry/all.json")));
  await migrate(pool, registry, makeLog("test", "warn"));
  await insertManyEvents(pool);
  await announceMaintenance(pool);
  await declareTransfers(pool);
  await addChannel(pool);
  await happened(pool, { at: ago(600), kinds: ["opened", "closed"] });
  await pool.query(sql`
    update alert_event set dispatched_at = recorded_at
    where event_id < (select max(event_id) from alert_event where kind = 'opened')
  `);
  await expand(pool, ago(600));
  await settle(pool, ago(598), await claim(pool, ago(599)), "delivered");
  const api = await serve(t, { pool, registry });
  await askAll(
    api,
    ofEachCategory(registry, ({ category }) => category === "exchange"),
  );
});

/** Lines of each kind: paused with and without a notice, open again, unknown, and of no named network. */
async function declareTransfers(pool: Pool): Promise<void> {
  const btc = line("BTC", "BTC", "paused", "open", "wallet maintenance");
  const eth = line("ETH", "NEW", "unknown", "paused", null);
  await listed(pool, "gate", ago(1_200), [line("BTC", "BTC"), line("USDT", null), line("ETH", "NEW")]);
  await listed(pool, "gate", ago(900), [btc, line("USDT", null, "paused"), eth]);
  eth.deposit.because = "network upgrade";
  await listed(pool, "gate", ago(600), [btc, line("USDT", null), eth]);
  const [withdrawals, deposits] = ["BTC withdrawals", "ETH deposits"].map((what) =>
    notice(what, ago(920), { title: `${what} are suspended`, url: "https://status.gate.example/notice" }),
  );
  await said(pool, "gate", ago(500), [whole(withdrawals!, deposits!)]);
}

/** Maintenance to come, under way, and over. */
async function announceMaintenance(pool: Pool): Promise<void> {
  const notices = [
    notice("next", ago(-9_000), {
      ...{ kind: "maintenance", postedAt: ago(900), url: "https://status.bybit.example/next" },
      plannedEndAt: ago(-12_600),
    }),
    notice("now", ago(300), { kind: "maintenance", postedAt: ago(900) }),
    notice("over", ago(3_000), { kind: "maintenance", over: true, postedAt: ago(5_000), resolvedAt: ago(1_000) }),
  ];
  await said(pool, "bybit", ago(150), [{ scope: "maintenances", notices, listedFrom: new Date(0) }]);
}

/** Described values that no web program returns yet, or ever, and the reason for their description. */
const neverReturned = [
  // requests need no credentials
  "/openapi.json.security[]",
  // the other programs report it on their own ports
  "HealthResponse.service=core",
  "HealthResponse.service=probe",
  // Statuspage has these, and we have nothing for them
  ...["StatuspageComponent.description|0", "StatuspageComponent.group_id|0", "StatuspageIncident.monitoring_at|0"],
  ...["StatuspageMaintenance.monitoring_at|0"],
];

void t.test("every described value is returned in some state", (t) => {
  t.strictSame(coverage.missing().sort(), neverReturned.sort());
  t.end();
});

type Row = Record<string, string>;
type Part = SchemaObject | ReferenceObject;

interface Coverage {
  /** Records what the body of a 200 answer, or the rows of a table, have shown. They must match the description. */
  note(template: string, body: unknown): void;
  /**
   * Returns the described parts that were not shown, as pointers: each property, each alternative of a value that may
   * be null or has two forms, each word of an enumeration, and the items of each list; for tables, each column with a
   * value, and without one where it may be empty. A named schema is one place, wherever it is used.
   */
  missing(): string[];
}

/**
 * Finds the parts of the OpenAPI document that no real answer has shown. What no answer ever contains should not be
 * described.
 */
function trackCoverage(document: OpenAPIObject): Coverage {
  const shown = new Set<string>();

  /** Returns a part and its place, with references followed. */
  function resolved(part: Part, place: string): [SchemaObject, string] {
    if (part.$ref === undefined) return [part as SchemaObject, place];
    const name = part.$ref.split("/").at(-1)!;
    return [document.components!.schemas![name] as SchemaObject, name];
  }

  function note(part: Part, place: string, value: unknown): void {
    const [schema, at] = resolved(part, place);
    shown.add(at);
    if (schema.enum) shown.add(`${at}=${String(value)}`);
    for (const [i, form] of (schema.anyOf ?? []).entries()) if (fits(form, value)) note(form, `${at}|${i}`, value);
    // the items of a list that may be null are noted with its form above
    if (Array.isArray(value)) for (const item of schema.items ? value : []) note(schema.items!, `${at}[]`, item);
    else if (typeof value === "object" && value !== null)
      for (const [name, one] of Object.entries(value)) {
        const property = schema.properties?.[name];
        if (property) note(property, `${at}.${name}`, one);
        else shown.add(`${at}.*`);
      }
  }

  /** Forms differ in whether they are null, and in the fields that they require. */
  function fits(part: Part, value: unknown): boolean {
    const [schema] = resolved(part, "");
    if (value === null || schema.type === "null") return value === null && schema.type === "null";
    return (schema.required ?? []).every((name) => name in Object(value));
  }

  function described(part: Part, place: string, into: Set<string>): void {
    const [schema, at] = resolved(part, place);
    if (into.has(at)) return;
    into.add(at);
    for (const word of (schema.enum ?? []) as unknown[]) into.add(`${at}=${String(word)}`);
    for (const [i, form] of (schema.anyOf ?? []).entries()) described(form, `${at}|${i}`, into);
    if (schema.items) described(schema.items, `${at}[]`, into);
    for (const [name, one] of Object.entries(schema.properties ?? {})) described(one, `${at}.${name}`, into);
    if (typeof schema.additionalProperties === "object") into.add(`${at}.*`);
  }

  const answers = new Map(
    getsOf(document).map(([template, get]) => {
      const ok = get.responses!["200"] as ResponseObject;
      return [template, ok.content?.["application/json"]?.schema] as const;
    }),
  );
  return {
    note(template, body) {
      const schema = answers.get(template);
      const fields = Array.isArray(body) ? (body as Row[]).flatMap((row) => Object.entries(row)) : [];
      for (const [name, field] of fields) shown.add(`${template} ${name}${field === "" ? ", empty" : ""}`);
      // answers that are neither JSON nor tables have separate tests
      if (schema && !Array.isArray(body)) note(schema, template, body);
    },
    missing() {
      const all = new Set<string>();
      for (const [template, schema] of answers) {
        if (schema) described(schema, template, all);
        for (const { name, mayBeEmpty } of describedColumns(document, template)) {
          all.add(`${template} ${name}`);
          if (mayBeEmpty) all.add(`${template} ${name}, empty`);
        }
      }
      return [...all].filter((place) => !shown.has(place));
    },
  };
}
