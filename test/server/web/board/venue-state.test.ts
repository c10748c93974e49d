/**
 * `/v1/targets/{venue}/state`: one venue in few bytes, as a bot reads it. `/v1/regions`: a region with its own network
 * trouble, and its probes.
 */
import t from "tap";
import { accepted, tick } from "../../../../server/core/engine/tick.js";
import type { TypeOf } from "../../../../server/web/api/shapes.js";
import type { venueStateResponse } from "../../../../server/web/board/venue-state.js";
import { sql } from "../../../../shared/database/pool.js";
import { type Api, serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { emptied } from "../../../support/emptied.js";
import { ago, ago as secondsAgo, decide, decideThrough, measured, outage } from "../../../support/fleet.js";
import { forgetAt, member } from "../../../support/member.js";

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
    const brief = components.map(({ component, state, since, fault, unknownBecause, agreeing, counted }) => ({
      ...{ component, state, since, fault, unknownBecause },
      ...(fault === null ? { agreeing: null, counted: null } : { agreeing, counted }),
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

// A region with its own network trouble, and its probes, as readers see them.

interface Fleet {
  regions: {
    id: string;
    reporting: boolean;
    impaired: { since: string; recognisedAt: string; venues: string[]; measured: number; reason: string } | null;
    impairments: { startedAt: string; recognisedAt: string; endedAt: string | null; venues: string[] }[];
  }[];
  quorum: number;
}

async function fleet(api: Api): Promise<Fleet> {
  return (await api.ask<Fleet>("/v1/regions")).body;
}

void t.test("an impaired region", async (t) => {
  const { pool, registry } = await emptied(database);
  const api = await serve(t, { pool, registry });
  // instants of one clock, even if the test is slow; none so old that the engine counts as silent
  const now = Date.now();
  const ago = (seconds: number) => new Date(now - seconds * 1000);
  const venues = registry.venues.map(({ id }) => id);
  const [begins, ends] = [ago(190), ago(110)];
  await measured(pool, { from: ago(600), to: ago(0) });
  await measured(pool, { from: begins, to: ends, fault: "timeout", regions: ["us-east"] });
  const ticker = { venue: "kraken", component: "rest:ticker", regions: ["eu-central", "ap-southeast"] };
  await measured(pool, { ...ticker, from: ago(160), to: ends, fault: "timeout" });

  await t.test("is not impaired before", async (t) => {
    await decideThrough(pool, ago(210), ago(200));
    const { regions, quorum } = await fleet(api);
    const well = { reporting: true, impaired: null, impairments: [] };
    t.strictSame(
      regions.map(({ id, reporting, impaired, impairments }) => ({ id, reporting, impaired, impairments })),
      ["eu-central", "ap-southeast", "us-east"].map((id) => ({ id, ...well })),
    );
    t.equal(quorum, 2, "two of three must agree");
  });

  await t.test("is shown with the reason for its impairment", async (t) => {
    await decideThrough(pool, ago(198), ago(120));
    const { regions, quorum } = await fleet(api);
    const [eu, , us] = regions;
    t.strictSame([eu!.impaired, eu!.impairments], [null, []]);
    t.equal(us!.reporting, true, "it continues to measure");
    const { since, recognisedAt, venues: affected, measured, reason } = us!.impaired!;
    t.ok(affected.length > venues.length / 2);
    t.ok(affected.every((venue) => venues.includes(venue)));
    t.equal(measured, venues.length);
    t.match(reason, `${affected.length} of ${venues.length} venues`);
    t.ok(since >= begins.toISOString());
    t.ok(since <= recognisedAt);
    t.match(us!.impairments, [{ startedAt: since, recognisedAt, endedAt: null, venues: affected }]);
    t.equal(us!.impairments.length, 1);
    t.equal(quorum, 2, "both that have a vote must agree");
  });

  await t.test("is marked on every venue's page", async (t) => {
    const compare = [
      { region: "eu-central", impaired: false, state: "operational" },
      { region: "ap-southeast", impaired: false, state: "operational" },
      { region: "us-east", impaired: true, state: "outage" },
    ];
    // the region's trouble is not the venue's
    t.match((await api.ask("/v1/targets/okx")).body, { state: "operational", regions: { compare } });
  });

  await t.test("is named in the evidence as not counted", async (t) => {
    const { body } = await api.ask<{ incidents: { slug: string }[] }>("/v1/incidents");
    t.match(body.incidents, [{ venue: "kraken", quorum: 2, counted: 2, reporting: 3 }]);
    t.equal(body.incidents.length, 1);
    const opening = {
      confirming: 2,
      votes: [{ region: "eu-central" }, { region: "ap-southeast" }],
      notCounted: [{ region: "us-east", reason: /^impaired/ }],
    };
    const page = await api.ask(`/v1/incidents/${body.incidents[0]!.slug}`);
    t.match(page.body, { incident: { regions: ["eu-central", "ap-southeast"] }, evidence: { opening } });
  });

  await t.test("is not shown while the engine is silent", async (t) => {
    const silence = sql`interval '6 minutes'`;
    await pool.query(sql`update engine_clock set ticked_at = ticked_at - ${silence}`);
    const { regions } = await fleet(api);
    t.equal(regions[2]!.impaired, null);
    t.match(regions[2]!.impairments, [{ endedAt: null }], "the impairment as recorded");
    await pool.query(sql`update engine_clock set ticked_at = ticked_at + ${silence}`);
  });

  await t.test("recovers, and its impairment stays on record", async (t) => {
    await decideThrough(pool, ago(118), ago(20));
    const { regions, quorum } = await fleet(api);
    t.equal(regions[2]!.impaired, null);
    t.equal(quorum, 2);
    const [over] = regions[2]!.impairments;
    t.ok(over!.endedAt! > over!.recognisedAt);
    const eightDays = sql`interval '8 days'`;
    await pool.query(sql`
      update impairment
      set started_at = started_at - ${eightDays}, recognised_at = recognised_at - ${eightDays}, ended_at = ended_at - ${eightDays}
    `);
    await decideThrough(pool, ago(18), ago(16));
    t.strictSame((await fleet(api)).regions[2]!.impairments, [], "listed for a week only");
  });
});

void t.test("a region lists its probes and their troubles", async (t) => {
  const { pool, registry } = await emptied(database);
  const api = await serve(t, { pool, registry });
  const since = new Date("2026-01-15T12:00:00Z");
  const well = member(pool, { version: "1.2.3", startedAt: since, unmeasured: { late: 2 } });
  const troubled = member(pool, {
    version: "1.2.4",
    unmeasured: { network: 37, late: 1 },
    troubles: [{ kind: "network", since, detail: "there is no route" }],
    clock: { errorMs: -11.7, withinMs: 34.2 },
  });
  const ofEurope = member(pool, { region: "eu-central", clock: null });
  for (const one of [ofEurope, well, troubled, well, troubled]) await one.renew();
  await forgetAt(pool, ofEurope.process);
  accepted(await tick(pool, new Date()));

  const { body } = await api.ask<{ regions: Record<string, unknown>[] }>("/v1/regions");
  const [eu, ap, us] = body.regions;
  t.match(us, {
    probeVersion: "1.2.4",
    probeStartedAt: since.toISOString(),
    unmeasuredSlots: 40,
    troubles: [{ probe: troubled.process, kind: "network", since: since.toISOString(), detail: "there is no route" }],
  });
  const ofWell = { unmeasuredSlots: 2, unmeasuredByReason: { late: 2 }, clockErrorMs: null };
  const ofTroubled = { unmeasuredSlots: 38, unmeasuredByReason: { network: 37, late: 1 }, clockErrorMs: -12 };
  t.match(us!.probes, [
    { id: well.process, version: "1.2.3", ...ofWell },
    { id: troubled.process, version: "1.2.4", ...ofTroubled, clockErrorWithinMs: 35 },
  ]);
  const shares = (us!.probes as { venues: number }[]).map((one) => one.venues);
  t.same(shares.sort(), [7, 8], "they share its venues");
  t.match(eu!.probes, [{ id: ofEurope.process, venues: 15 }], "the probe that was alive last, where none is alive");
  t.strictSame([ap!.probes, ap!.troubles, ap!.probeVersion], [[], [], null]);
});

void t.test("a probe's heartbeat after the instant is not shown", async (t) => {
  const { pool, registry } = await emptied(database);
  const api = await serve(t, { pool, registry });
  const read = async () => {
    type Body = { generatedAt: string; regions: { probes: { id: string; seenAt: string }[] }[] };
    const { generatedAt, regions } = (await api.ask<Body>("/v1/regions")).body;
    const probes = regions.flatMap((region) => region.probes);
    t.ok(probes.every(({ seenAt }) => seenAt <= generatedAt));
    return { generatedAt, probes };
  };
  const probe = member(pool);
  /** Decides that instant after the probe's next heartbeat. */
  const decidedLater = async (at: Date, heartbeat = () => probe.renew()) => {
    await pool.query(sql`select pg_sleep(0.02)`);
    await heartbeat();
    accepted(await tick(pool, at, { now: null }));
  };
  await decidedLater(new Date());
  t.strictSame((await read()).probes, [], "the probe did not exist at the instant");

  // at every tick, and always between the instant and its decision
  let before = new Date();
  await decidedLater(before);
  for (let round = 0; round < 3; round += 1) {
    const at = new Date();
    await decidedLater(at);
    const { generatedAt, probes } = await read();
    t.equal(generatedAt, at.toISOString());
    t.equal(probes.length, 1);
    t.ok(probes[0]!.seenAt >= before.toISOString(), "the last heartbeat before the instant is shown");
    before = at;
  }
  const [kept] = await pool.query<{ n: number }>(sql`select count(*)::int as n from shown_probe`);
  t.equal(kept!.n, 2, "the shown heartbeat and the next one are stored");
  await decidedLater(new Date(), () => probe.leave());
  t.equal((await read()).probes.length, 1, "the probe says goodbye only after the instant");
});

void t.test("what a probe whose clock is ahead reports of itself is not newer than the answer", async (t) => {
  const { pool, registry } = await emptied(database);
  const ahead = secondsAgo(-40);
  const troubles = [{ kind: "clock", since: ahead, detail: "40 s ahead" }] as const;
  await member(pool, { startedAt: ahead, troubles }).renew();
  accepted(await tick(pool, new Date(), { now: null }));
  interface Body {
    generatedAt: string;
    regions: {
      id: string;
      probeStartedAt: string;
      probes: { startedAt: string; seenAt: string }[];
      troubles: { since: string }[];
    }[];
  }
  const { generatedAt, regions } = (await (await serve(t, { pool, registry })).ask<Body>("/v1/regions")).body;
  const { probeStartedAt, probes, troubles: shown } = regions.find(({ id }) => id === "us-east")!;
  const { startedAt, seenAt } = probes[0]!;
  t.ok(seenAt <= generatedAt);
  t.same([probeStartedAt, startedAt, shown[0]!.since], [seenAt, seenAt, seenAt]);
});
