/**
 * End to end with the real parts, from a venue's answer to what a user of the API reads. The steps share one setup,
 * because it takes seconds.
 */
import t, { type Test } from "tap";
import { sql } from "../../shared/database/pool.js";
import type { Fault } from "../../shared/measurement/sample.js";
import {
  allOperational,
  get,
  readBoard,
  readEvidence,
  readIncidents,
  readSights,
  type Incident,
} from "../support/board.js";
import { startReader } from "../support/reader.js";
import { until } from "../support/until.js";
import { componentsOf, startWay, type Way } from "../support/way.js";
import type { ScriptedFault } from "../../world/faults.js";

const regions = ["eu-central", "ap-southeast", "us-east"];

/** Faults that start in one region and later in a second one, and the fault that samples must show. */
const troubles: (Pick<ScriptedFault, "kind"> & { venue: string; component: string; shows: Fault })[] = [
  { venue: "okx", component: "rest:*", kind: "status", shows: "http" },
  { venue: "bybit", component: "ws:trades", kind: "silent", shows: "stall" },
  { venue: "bitfinex", component: "ws:conn", kind: "socket-closed", shows: "closed" },
];

void t.test("from a venue's answer to the board and back", async (t) => {
  const way = await startWay(t, { cadenceMs: 2_000 });
  const reader = startReader(way.url, way.registry);
  t.teardown(() => reader.close());
  for (const [name, run] of [
    ["the board shows every venue", boardShowsAll],
    ["one region confirms nothing", oneRegionConfirmsNothing],
    ["two regions open incidents", twoRegionsOpenIncidents],
    ["incidents close when it is over", incidentsClose],
  ] as const)
    await t.test(name, (t) => run(t, way));
  await reader.close();
  t.same(reader.complaints, [], "no reader got a wrong answer");
  const compared = reader.compared();
  t.ok(compared > 20, `both paths of venues were compared ${compared} times`);
});

async function boardShowsAll(t: Test, way: Way) {
  const { url } = way;
  await soon(() => everyRegionSeesEverything(way));
  const { summary, venues, incidents } = await readBoard(url);
  t.match(summary, { venues: 15, regions: 3, state: "operational" });
  t.equal(venues.length, 15);
  t.same(incidents, []);
  // a minute is rolled up once it is over
  await until(async () => (await neverRolledUp(way)).length === 0, 90_000, 500);
  for (const { id, days } of venues) t.equal(days.at(-1)!.measuredMinutes, 0, `${id}: none is published yet`);
  t.match(await get<object>(`${url}/v1/regions`), { regions: regions.map((id) => ({ id, reporting: true })) });
}

async function oneRegionConfirmsNothing(t: Test, way: Way) {
  const { url, world, engine } = way;
  const start = engine.decided.at(-1)!.at;
  beginTroubles(way, "us-east");
  world.fault({ kind: "status", status: 451, venue: "binance", component: "rest:*", regions: ["us-east"] });
  const affected = [...affectedComponents(way), ...componentsOf(way.registry, "binance", "rest:*")];
  await soon(async () => {
    const seen = await outagesSeenFrom("us-east", url);
    return affected.every((one) => seen.includes(one));
  });
  await engine.ticks(4);

  const seenFromTrouble = await outagesSeenFrom("us-east", url);
  t.same(seenFromTrouble.sort(), affected.sort(), "the region sees the faults of its own, and nothing else");
  t.same(await outagesSeenFrom("eu-central", url), []);
  for (const region of regions)
    for (const { component, newestFault } of await readSights(url, "binance", region)) {
      const isBlocked = region === "us-east" && component.startsWith("rest:");
      t.equal(newestFault, isBlocked ? "blocked" : null, `binance ${component} from ${region}`);
    }
  t.same(await changedSince(way, start), [], "no confirmed state changed");
  t.same(await readIncidents(url), []);
}

async function twoRegionsOpenIncidents(t: Test, way: Way) {
  const { url, engine } = way;
  beginTroubles(way, "eu-central");
  const wanted = troubledComponents(way).sort();
  await soon(async () => (await readIncidents(url)).length >= wanted.length);
  await engine.ticks(4);

  const incidents = await readIncidents(url);
  const named = incidents.map(({ venue, component }) => `${venue} ${component}`);
  t.same(named.sort(), wanted, "one for each faulty component, and no other");
  for (const incident of incidents) {
    const { slug } = incident;
    t.match(incident, { status: "open", quorum: 2, reporting: 3 }, slug);
    t.same(incident.regions, ["eu-central", "us-east"], slug);
    await showsItsVotes(t, url, incident);
  }
  for (const venue of (await readBoard(url)).venues) {
    const here = incidents.filter((incident) => incident.venue === venue.id);
    t.equal(venue.activeIncidents, here.length, `incidents of ${venue.id}`);
    t.equal(venue.state === "operational", here.length === 0, `${venue.id} is ${venue.state}`);
  }
}

async function showsItsVotes(t: Test, url: string, { slug, venue }: Incident) {
  const { votes, notCounted } = (await readEvidence(url, slug)).opening;
  const { shows } = troubles.find((trouble) => trouble.venue === venue)!;
  const voters = votes.map(({ region }) => region);
  t.same(voters, regions, `${slug}: every region voted`);
  t.same(notCounted, [], slug);
  for (const { region, vote, bad, samples, faults } of votes) {
    const what = `${slug}: ${region} saw ${bad} bad of ${samples}`;
    if (region === "ap-southeast") {
      t.equal(vote, "operational", what);
    } else {
      t.match(vote, /^(degraded|outage)$/, what);
      t.ok(faults[shows]! >= 3, `${what}, ${JSON.stringify(faults)}`);
    }
  }
}

async function incidentsClose(t: Test, { url, world }: Way) {
  const before = await readIncidents(url);
  await world.clear();
  await soon(async () => allOperational(await readBoard(url)));
  await soon(async () => (await readIncidents(url)).every(({ status }) => status === "closed"));
  const slugs = (incidents: Incident[]) => incidents.map(({ slug }) => slug);
  const after = slugs(await readIncidents(url));
  t.same(after, slugs(before), "the same ones, and no others");
  for (const slug of after) t.equal((await readEvidence(url, slug)).closing?.state, "operational", slug);
  for (const { id, activeIncidents } of (await readBoard(url)).venues) t.equal(activeIncidents, 0, id);
}

function beginTroubles({ world }: Way, region: string) {
  for (const { venue, component, kind } of troubles) world.fault({ venue, component, kind, regions: [region] });
}

function troubledComponents({ registry }: Way): string[] {
  return troubles.flatMap(({ venue, component }) => componentsOf(registry, venue, component));
}

/** If a socket is down, so are all of its streams, but only the socket has an incident. */
function affectedComponents({ registry }: Way): string[] {
  return troubles.flatMap(({ venue, component }) =>
    componentsOf(registry, venue, component === "ws:conn" ? "ws:*" : component),
  );
}

async function outagesSeenFrom(region: string, url: string): Promise<string[]> {
  const venues = [...troubles.map(({ venue }) => venue), "binance"];
  const sights = venues.map(async (venue) =>
    (await readSights(url, venue, region))
      .filter(({ regionState }) => regionState === "outage")
      .map(({ component }) => `${venue} ${component}`),
  );
  return (await Promise.all(sights)).flat();
}

/** Venues and components whose confirmed state is or was different; compares `since`, so that no change is missed. */
async function changedSince({ pool }: Way, at: string): Promise<unknown[]> {
  return pool.query(sql`
    select venue as what, state, since from api.venue where since > ${at} or state <> 'operational'
    union all
    select venue || ' ' || component, s.state, s.since
    from api.component_state s join api.component using (component_id)
    where s.since > ${at} or s.state <> 'operational'
  `);
}

/** Reads the tables themselves: a minute is published when it is four minutes old, and this test is over by then. */
async function neverRolledUp({ pool }: Way): Promise<unknown[]> {
  return pool.query(sql`
    select v.venue, c.component
    from api.component c
    join api.venue v using (venue_id)
    where not exists (select from component_minute m where m.component_id = c.component_id and m.measured)
      or not exists (select from venue_minute m where m.venue_id = c.venue_id)
  `);
}

/** Every region sees every component well. In the first seconds, streams are subscribed one by one. */
async function everyRegionSeesEverything({ pool }: Way): Promise<boolean> {
  const [row] = await pool.query<{ unseen: number }>(sql`
    select count(*) filter (where state <> 'operational') as unseen
    from api.region_state
  `);
  return row!.unseen === 0;
}

function soon(condition: () => Promise<boolean>): Promise<void> {
  return until(condition, 90_000, 100);
}
