/** `/v1/targets/{venue}/state`: one venue in few bytes, as a bot reads it. */
import t from "tap";
import { sql } from "../../../../shared/database/pool.js";
import type { venueStateResponse } from "../../../../server/web/board/venue-state.js";
import type { TypeOf } from "../../../../server/web/api/shapes.js";
import { type Api, serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { emptied } from "../../../support/emptied.js";
import { ago, decide, measured, outage } from "../../../support/fleet.js";

type VenueState = TypeOf<typeof venueStateResponse>;

const stateOf = async (api: Api, venue: string) => (await api.ask<VenueState>(`/v1/targets/${venue}/state`)).body;

const database = await migratedDatabase(t);
const { registry } = database;

void t.test("a venue in trouble", async (t) => {
  const { pool } = await emptied(database);
  const api = await serve(t, { pool, registry });
  await outage.open(pool);

  await t.test("has its state, that of each component, and who agrees", async (t) => {
    const { state, components, activeIncidents, ...head } = await stateOf(api, "kraken");
    t.match(head, { id: "kraken", name: "Kraken", category: "exchange", stale: false, ageSeconds: null });
    const detail = (await api.ask<{ state: string }>("/v1/targets/kraken")).body;
    t.equal(state, detail.state, "as everywhere else");
    t.equal(activeIncidents, 1);
    const ticker = components.find(({ component }) => component === "rest:ticker")!;
    t.match(ticker, { state: /degraded|outage/, fault: "timeout", agreeing: 2, counted: 3, reporting: 3 });
    const { body } = await api.ask<{ incident: { component: string } }>(`/v1/incidents/${ticker.incident}`);
    t.equal(body.incident.component, "rest:ticker", "with a permalink");
    for (const other of components.filter(({ component }) => component !== "rest:ticker"))
      t.match(other, { state: "operational", agreeing: 3, counted: 3, reporting: 3, incident: null }, other.component);
  });

  await t.test("has the same components on the board and on its page", async (t) => {
    const { components } = await stateOf(api, "kraken");
    type Row = { id: string; components: object[] };
    const { venues } = (await api.ask<{ venues: Row[] }>("/v1/status")).body;
    const brief = components.map(({ component, state, since, fault, unknownBecause }) => ({
      ...{ component, state, since, fault, unknownBecause },
    }));
    t.strictSame(venues.find(({ id }) => id === "kraken")!.components, brief);
    type Page = { endpoints: { component: string }[]; streams: { component: string }[] };
    const { endpoints, streams } = (await api.ask<Page>("/v1/targets/kraken")).body;
    const onPage = [...endpoints, ...streams].map(({ component }) => component);
    t.strictSame(new Set(onPage), new Set(components.map(({ component }) => component)));
  });

  await t.test("is the same at both paths, and is not sent again to a client with its ETag", async (t) => {
    const newer = await api.ask("/v1/targets/kraken/state");
    t.equal((await api.ask("/v1/exchanges/kraken/state")).text, newer.text);
    const etag = newer.headers.etag!;
    t.equal((await api.ask("/v1/targets/kraken/state", { headers: { "if-none-match": etag } })).status, 304);
    t.equal(newer.headers["cache-control"], "public, max-age=5, stale-while-revalidate=30");
  });

  await t.test("counts a region that sees worse as one that agrees", async (t) => {
    await pool.query(sql`update region_state r set state = 'outage'
      from component c, region g, venue v
      where r.component_id = c.component_id and r.region_id = g.region_id and v.venue_id = c.venue_id
        and v.venue = 'kraken' and c.component = 'rest:ticker' and g.region = 'us-east'`);
    await pool.query(sql`update component_state s set state = 'degraded'
      from component c, venue v
      where s.component_id = c.component_id and v.venue_id = c.venue_id
        and v.venue = 'kraken' and c.component = 'rest:ticker'`);
    await pool.query(sql`update region_state r set state = 'degraded'
      from component c, region g, venue v
      where r.component_id = c.component_id and r.region_id = g.region_id and v.venue_id = c.venue_id
        and v.venue = 'kraken' and c.component = 'rest:ticker' and g.region = 'eu-central'`);
    const fresh = await serve(t, { pool, registry });
    const { components } = await stateOf(fresh, "kraken");
    t.match(
      components.find(({ component }) => component === "rest:ticker"),
      { state: "degraded", agreeing: 2 },
    );
  });

  await t.test("does not count a region that has gone silent", async (t) => {
    const silent = { venue: "kraken", component: "rest:book", regions: ["us-east"] };
    await pool.query(sql`
      delete from sample s using component c, region g, venue v
      where s.component_id = c.component_id and s.region_id = g.region_id and v.venue_id = c.venue_id
        and v.venue = ${silent.venue} and c.component = ${silent.component} and g.region = any (${silent.regions})
    `);
    await decide(pool, ago(100));
    const { components } = await stateOf(api, "kraken");
    const book = components.find(({ component }) => component === "rest:book")!;
    t.match(book, { state: "operational", agreeing: 2, counted: 2, reporting: 2 });
  });
});

void t.test("a region may report a component without having a vote on it", async (t) => {
  const { pool } = await emptied(database);
  await measured(pool, { from: ago(400), to: ago(0) });
  const kraken = { venue: "kraken", regions: ["us-east"] };
  await measured(pool, { from: ago(300), to: ago(0), ...kraken, component: "rest:ticker", fault: "blocked" });
  await measured(pool, { from: ago(300), to: ago(0), ...kraken, component: "rest:book", fault: "timeout" });
  await decide(pool, ago(100));
  const votes = async (venue: string, id: string) => {
    const api = await serve(t, { pool, registry });
    const { components } = await stateOf(api, venue);
    const { state, agreeing, counted, reporting } = components.find(({ component }) => component === id)!;
    return { state, agreeing, counted, reporting };
  };
  const two = { state: "operational", agreeing: 2, counted: 2, reporting: 3 };
  t.strictSame(await votes("kraken", "rest:ticker"), two, "it is refused alone");
  t.strictSame(await votes("kraken", "rest:book"), { ...two, counted: 3 }, "its vote counts, and it disagrees");
  await pool.query(sql`
    insert into outlier (component_id, region_id, started_at)
    select component_id, region_id, ${ago(1_000)} from component join venue using (venue_id), region
    where venue = 'kraken' and component = 'rest:book' and region = 'us-east'
  `);
  t.strictSame(await votes("kraken", "rest:book"), two, "it is an outlier");
  t.strictSame(await votes("okx", "rest:ticker"), { ...two, agreeing: 3, counted: 3 });
  await pool.query(sql`
    insert into impairment (region_id, started_at, recognised_at, venues, measured)
    select region_id, ${ago(1_000)}, ${ago(900)}, '{okx}', 1 from region where region = 'eu-central'
  `);
  t.strictSame(await votes("okx", "rest:ticker"), two, "it is impaired");
  await pool.script("delete from impairment");
});

void t.test("without an engine, it agrees on nothing", async (t) => {
  const { pool } = await emptied(database);
  const api = await serve(t, { pool, registry, staleAfterMs: 30_000 });
  const { state, stale, ageSeconds, components } = await stateOf(api, "kraken");
  t.match({ state, stale, ageSeconds }, { state: "unknown", stale: true, ageSeconds: null });
  for (const one of components)
    t.match(one, { state: "unknown", agreeing: 0, counted: 0, reporting: 0, incident: null });
});

void t.test("an unknown venue is not found, and a former id is", async (t) => {
  const { pool } = await emptied(database);
  const [first, ...others] = registry.venues;
  const venues = [{ ...first!, formerIds: ["old-name"] }, ...others];
  const api = await serve(t, { pool, registry: { ...registry, venues } });
  t.equal((await api.ask("/v1/targets/nobody/state")).status, 404);
  t.equal((await stateOf(api, "old-name")).id, first!.id);
});

void t.test("nine components that all fail take at most 2.2 kB", async (t) => {
  const { pool } = await emptied(database);
  const api = await serve(t, { pool, registry });
  const venue = "kraken";
  await pool.query(sql`
    insert into component (venue_id, component, label, target, cadence_ms, position, published)
    select v.venue_id, 'rest:more' || chr(96 + n), 'One more', 'http://localhost', 5000, 100 + n, true
    from venue v, generate_series(1, 9) n
    where v.venue = ${venue}
      and n <= 9 - (select count(*) from component c where c.venue_id = v.venue_id and c.published)
  `);
  await measured(pool, { from: ago(400), to: ago(0), venue });
  await measured(pool, { from: ago(200), to: ago(0), venue, fault: "timeout" });
  await decide(pool, ago(100));
  const { text, body } = await api.ask<VenueState>(`/v1/targets/${venue}/state`);
  t.ok(body.components.length >= 9, `${body.components.length} components`);
  t.ok(body.components.filter(({ incident }) => incident !== null).length >= 9, "each with an incident");
  const bytesOfNine = Buffer.byteLength(text) - Buffer.byteLength(JSON.stringify(body.components.slice(9)));
  t.ok(bytesOfNine <= 2_200, `${bytesOfNine} bytes`);
});
