/** "Is it down, or just me?": what one region by itself sees, in the state of a venue and on its page. */
import t, { type Test } from "tap";
import { syncRegistry } from "../../../../server/database/sync-registry.js";
import type { regionView, venueStateResponse } from "../../../../server/web/board/venue-state.js";
import type { TypeOf } from "../../../../server/web/api/shapes.js";
import { sql } from "../../../../shared/database/pool.js";
import { type Api, serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { emptied } from "../../../support/emptied.js";
import { ago, decide, decideThrough, measured, unmeasured } from "../../../support/fleet.js";
import { endsOn } from "../../../support/unjudged.js";

type VenueState = TypeOf<typeof venueStateResponse>;
type RegionView = TypeOf<typeof regionView>;

const database = await migratedDatabase(t);
const { registry } = database;
const regionIds = registry.regions.map(({ id }) => id);

async function stateOf(api: Api, venue: string, region?: string): Promise<VenueState> {
  const query = region === undefined ? "" : `?region=${region}`;
  const { status, body } = await api.ask<VenueState>(`/v1/targets/${venue}/state${query}`);
  if (status !== 200) throw new Error(`expected 200, got ${status}`);
  return body;
}

/** The venue's page has all regions; the state has those that it names, as the page does. */
async function viewsOf(t: Test, api: Api, venue: string): Promise<Record<string, RegionView>> {
  type Page = { regions: { compare: { state: string; impaired: boolean; view: RegionView }[] } };
  const { compare } = (await api.ask<Page>(`/v1/targets/${venue}`)).body.regions;
  const named = (await stateOf(api, venue)).regions;
  const views = compare.map(({ view }) => view);
  for (const { state, impaired, view } of compare) if (!impaired) t.equal(state, view.state);
  for (const one of named)
    t.strictSame(
      views.find(({ region }) => region === one.region),
      one,
      "the same on its page",
    );
  for (const { region } of views)
    t.strictSame(
      (await stateOf(api, venue, region)).region,
      views.find((one) => one.region === region),
    );
  return Object.fromEntries(views.map((one) => [one.region, one]));
}

async function world() {
  const { pool } = await emptied(database);
  await measured(pool, { from: ago(500), to: ago(0) });
  await decide(pool, ago(300));
  return pool;
}

void t.test("a venue that blocks one region is up, and that region says blocked", async (t) => {
  const pool = await world();
  await measured(pool, { from: ago(290), to: ago(0), venue: "binance", regions: ["us-east"], fault: "blocked" });
  await decide(pool, ago(100));
  const api = await serve(t, { pool, registry });

  const all = await stateOf(api, "binance");
  t.match(all, { state: "operational", byQuorum: null, region: null, activeIncidents: 0 });
  t.match(all.regions, [{ region: "us-east", name: "US East", state: "outage", unknownBecause: null }]);
  t.equal(all.regions.length, 1);
  t.strictSame(
    all.regions[0]!.dissent.map(({ component, state, fault }) => [component, state, fault]),
    all.components.map(({ component }) => [component, "outage", "blocked"]),
  );

  const there = await stateOf(api, "binance", "us-east");
  t.match(there, { id: "binance", state: "outage", since: all.regions[0]!.since, activeIncidents: 0 });
  t.strictSame(there.byQuorum, { state: all.state, since: all.since });
  for (const one of there.components) t.match(one, { state: "outage", fault: "blocked", incident: null });
  const elsewhere = await stateOf(api, "binance", "eu-central");
  t.match(elsewhere, { state: "operational", region: { region: "eu-central", dissent: [] } });
  t.strictSame(elsewhere.regions, all.regions, "and the dissenting regions are still named");
  t.ok(Object.keys(await viewsOf(t, api, "binance")).length === regionIds.length);
});

void t.test("where all regions agree, none is named", async (t) => {
  const pool = await world();
  await measured(pool, { from: ago(290), to: ago(0), venue: "kraken", component: "rest:ticker", fault: "timeout" });
  await decide(pool, ago(100));
  const api = await serve(t, { pool, registry });
  for (const venue of ["okx", "kraken"]) {
    const all = await stateOf(api, venue);
    t.strictSame(all.regions, [], venue);
    for (const region of regionIds) {
      const { state, components } = await stateOf(api, venue, region);
      t.equal(state, all.state);
      t.strictSame(
        components.map(({ state }) => state),
        all.components.map(({ state }) => state),
        region,
      );
    }
  }
  t.equal((await stateOf(api, "kraken", "us-east")).components.find((one) => one.state === "outage")?.fault, "timeout");
});

void t.test("dead streams are an outage in a region as they are by quorum", async (t) => {
  const pool = await world();
  const streams = await pool.query<{ component: string }>(sql`
    select c.component from component c join venue v using (venue_id) where v.venue = 'okx' and c.kind = 'ws' and c.published
  `);
  const dead = { venue: "okx", regions: ["ap-southeast"], fault: "closed" as const };
  for (const { component } of streams) await measured(pool, { from: ago(290), to: ago(0), component, ...dead });
  await decide(pool, ago(100));
  const api = await serve(t, { pool, registry });
  const views = await viewsOf(t, api, "okx");
  t.match(views["ap-southeast"], { state: "outage" }, "although most of its components are REST, and work");
  t.match(views["eu-central"], { state: "operational" });
});

void t.test("an impaired region cannot tell, and says why", async (t) => {
  const pool = await world();
  await decideThrough(pool, ago(280), ago(200));
  await measured(pool, { from: ago(190), to: ago(0), regions: ["us-east"], fault: "timeout" });
  await decideThrough(pool, ago(185), ago(120));
  const api = await serve(t, { pool, registry });
  const all = await stateOf(api, "okx");
  t.equal(all.state, "operational");
  const because = { reason: "impaired", detail: /^the network of us-east itself has been in trouble since \d{4}-/ };
  t.match(all.regions, [{ region: "us-east", state: "unknown", dissent: [], unknownBecause: because }]);
  const there = await stateOf(api, "okx", "us-east");
  t.match(there, { state: "unknown", byQuorum: { state: "operational" } });
  for (const one of there.components) t.match(one, { state: "unknown", fault: null, unknownBecause: because });
  t.match((await viewsOf(t, api, "okx"))["us-east"], { state: "unknown" });
});

void t.test("a region that has gone silent cannot tell, nor one that never measured", async (t) => {
  const pool = await world();
  await unmeasured(pool, { from: ago(600), to: ago(0), regions: ["us-east"] });
  await pool.query(
    sql`delete from region_state s using region g where g.region_id = s.region_id and g.region = 'us-east'`,
  );
  await unmeasured(pool, { from: ago(290), to: ago(0), venue: "okx", regions: ["ap-southeast"] });
  await decide(pool, ago(50));
  const api = await serve(t, { pool, registry });
  const alone = await stateOf(api, "okx");
  t.equal(alone.state, "unknown", "one region confirms no health");
  t.match(alone.regions, [
    { region: "eu-central", state: "operational", unknownBecause: null },
    {
      region: "ap-southeast",
      state: "unknown",
      unknownBecause: { reason: "silent", detail: /^no measurement has come from ap-southeast since 2/ },
    },
    {
      region: "us-east",
      state: "unknown",
      unknownBecause: { reason: "unmeasured", detail: "no measurement has come from us-east" },
    },
  ]);
  t.match(await stateOf(api, "kraken", "ap-southeast"), { state: "operational" });
  const never = await stateOf(api, "kraken", "us-east");
  t.match(never, { state: "unknown", byQuorum: { state: "operational" } });
  for (const one of never.components) t.match(one, { state: "unknown", unknownBecause: { reason: "unmeasured" } });
});

void t.test("one silent component leaves a region its view of the others", async (t) => {
  const pool = await world();
  await unmeasured(pool, { from: ago(600), to: ago(0), venue: "okx", component: "rest:book", regions: ["us-east"] });
  await decide(pool, ago(50));
  const api = await serve(t, { pool, registry });
  const there = await stateOf(api, "okx", "us-east");
  t.match(there, { state: "operational", region: { unknownBecause: null } });
  t.match(
    there.components.find(({ component }) => component === "rest:book"),
    { state: "unknown", unknownBecause: { reason: "silent" } },
  );
  t.strictSame((await stateOf(api, "okx")).regions, [], "which is no dissent");
});

void t.test("while the engine decides nothing, no region has a view", async (t) => {
  const pool = await world();
  await measured(pool, { from: ago(290), to: ago(0), venue: "binance", regions: ["us-east"], fault: "blocked" });
  await decide(pool, ago(100));
  await pool.query(sql`update engine_clock set ticked_at = ticked_at - interval '10 minutes'`);
  const api = await serve(t, { pool, registry, staleAfterMs: 30_000 });
  for (const region of [undefined, "us-east"]) {
    const body = await stateOf(api, "binance", region);
    t.match(body, { state: "unknown", stale: true, regions: [] });
    t.ok(body.ageSeconds! > 300);
    for (const one of body.components) t.match(one, { state: "unknown", unknownBecause: null });
  }
});

void t.test("before the first tick, too", async (t) => {
  const { pool } = await emptied(database);
  const api = await serve(t, { pool, registry, staleAfterMs: 30_000 });
  t.match(await stateOf(api, "okx", "us-east"), { state: "unknown", stale: true, ageSeconds: null, regions: [] });
});

void t.test("two of four regions dissent, each in its own way", async (t) => {
  const { pool } = await emptied(database);
  const four = { ...registry, regions: [...registry.regions, { id: "sa-east", name: "South America" }] };
  await syncRegistry(pool, four);
  t.teardown(() => syncRegistry(pool, registry));
  await measured(pool, { from: ago(500), to: ago(0) });
  await decide(pool, ago(300));
  const ticker = { venue: "kraken", component: "rest:ticker" };
  await measured(pool, { from: ago(290), to: ago(0), ...ticker, regions: ["us-east"], fault: "timeout" });
  await measured(pool, { from: ago(290), to: ago(0), venue: "kraken", regions: ["sa-east"], fault: "http" });
  await decide(pool, ago(100));
  const api = await serve(t, { pool, registry: four });
  const all = await stateOf(api, "kraken");
  t.equal(all.state, "operational", "two of four confirm nothing");
  t.match(all.regions, [
    {
      region: "us-east",
      state: "degraded",
      dissent: [{ component: "rest:ticker", state: "outage", fault: "timeout" }],
    },
    { region: "sa-east", state: "outage" },
  ]);
  t.equal(all.regions[0]!.dissent.length, 1);
  t.equal(all.regions[1]!.dissent.length, all.components.length);
  await viewsOf(t, api, "kraken");
});

void t.test("a region that still reaches a venue that is down dissents, too", async (t) => {
  const pool = await world();
  await measured(pool, {
    from: ago(290),
    to: ago(0),
    venue: "okx",
    regions: ["us-east", "eu-central"],
    fault: "connect",
  });
  await decide(pool, ago(100));
  const api = await serve(t, { pool, registry });
  const all = await stateOf(api, "okx");
  t.equal(all.state, "outage");
  t.match(all.regions, [{ region: "ap-southeast", state: "operational" }]);
  t.match(await stateOf(api, "okx", "ap-southeast"), { state: "operational", byQuorum: { state: "outage" } });
});

void t.test("an ended component is unknown in every region, and left out of its view of the venue", async (t) => {
  const pool = await world();
  await endsOn(pool, "bybit", "2026-01-01", "The venue closed");
  await pool.query(sql`
    update component c set ends_at = '2026-01-01T00:00:00Z', ends_because = 'One stream was switched off'
    from venue v where v.venue_id = c.venue_id and v.venue = 'okx' and c.component = 'ws:trades'
  `);
  for (const venue of ["bybit", "okx"])
    await measured(pool, { from: ago(290), to: ago(0), venue, regions: ["us-east"], fault: "connect" });
  await decide(pool, ago(100));
  t.teardown(() => pool.script("update component set ends_at = null, ends_because = null"));
  const api = await serve(t, { pool, registry });
  const ended = await stateOf(api, "bybit", "us-east");
  t.match(ended, { state: "unknown", regions: [] });
  for (const one of ended.components)
    t.match(one, { state: "unknown", unknownBecause: { reason: "ended", detail: /^ended on 2026-01-01/ } });
  const partly = await stateOf(api, "okx", "us-east");
  t.match(partly, { state: "outage", byQuorum: { state: "operational" } });
  t.match(
    partly.components.find(({ component }) => component === "ws:trades"),
    { state: "unknown", unknownBecause: { reason: "ended" } },
  );
  t.notMatch(
    partly.region!.dissent.map(({ component }) => component),
    ["ws:trades"],
  );
});

void t.test("the start of a region's view does not move with each tick", async (t) => {
  const pool = await world();
  await measured(pool, { from: ago(290), to: ago(0), venue: "okx", regions: ["us-east"], fault: "blocked" });
  await decideThrough(pool, ago(260), ago(160));
  const api = await serve(t, { pool, registry });
  const before = await stateOf(api, "okx", "us-east");
  await decideThrough(pool, ago(150), ago(130));
  const after = await stateOf(api, "okx", "us-east");
  t.not(after.generatedAt, before.generatedAt);
  t.strictSame(
    [after.since, after.components.map(({ since }) => since)],
    [before.since, before.components.map(({ since }) => since)],
  );
});

void t.test("a region that does not exist is refused, and a former id of a venue is not", async (t) => {
  const pool = await world();
  const [first, ...others] = registry.venues;
  const venues = [{ ...first!, formerIds: ["old-name"] }, ...others];
  const api = await serve(t, { pool, registry: { ...registry, venues } });
  for (const wrong of ["mars", "US-EAST", "", "us-east,eu-central", "us%20east"]) {
    type Refused = { errors: { parameter: string; message: string }[] };
    const { status, body } = await api.ask<Refused>(`/v1/targets/okx/state?region=${wrong}`);
    t.equal(status, 400, wrong);
    t.match(body.errors, [{ parameter: "region", message: `expected one of ${regionIds.join(", ")}; got` }]);
  }
  t.equal((await stateOf(api, "old-name", "us-east")).id, first!.id);
  const there = await api.ask(`/v1/exchanges/okx/state?region=us-east`);
  t.equal((await api.ask(`/v1/targets/okx/state?region=us-east`)).text, there.text);
  const known = { "if-none-match": there.headers.etag! };
  t.equal((await api.ask("/v1/targets/okx/state?region=us-east", { headers: known })).status, 304);
  t.equal((await api.ask("/v1/targets/okx/state", { headers: known })).status, 200);
  t.equal(there.headers["cache-control"], "public, max-age=5, stale-while-revalidate=30");
});

void t.test("a region that only the registry has is no reason to call a venue unknown", async (t) => {
  const pool = await world();
  const more = { ...registry, regions: [...registry.regions, { ...registry.regions[0]!, id: "moon", name: "Moon" }] };
  const api = await serve(t, { pool, registry: more });
  for (const path of ["/v1/targets/okx/state", "/v1/exchanges/kraken/state", "/badges/okx.svg", "/badges/okx.json"]) {
    const { status, headers, text } = await api.ask(`${path}?region=moon`);
    t.match({ status, headers, text }, { status: 503, headers: { "retry-after": "5" }, text: /region moon yet/ }, path);
  }
});
