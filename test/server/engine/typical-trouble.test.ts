/**
 * Typical trouble other than a failing venue, end to end with all real components: slow answers, a rate limit,
 * flapping, and a region whose own network fails.
 */
import t, { type Test } from "tap";
import { sql } from "../../../shared/database/pool.js";
import {
  allOperational,
  readBoard,
  readEvidence,
  readIncidents,
  readRegions,
  readSights,
  type Incident,
} from "../../support/board.js";
import { until } from "../../support/until.js";
import { componentsOf, startWay, type Way } from "../../support/way.js";

const region = "us-east";

/** Three venues in trouble, and enough others for most to be bad in one region. */
const venues = [...["bitget", "gate", "gemini"], ...["binance", "bybit", "coinbase", "kraken", "okx"]];

void t.test("typical trouble gets the right states and incidents", async (t) => {
  const way = await startWay(t, { typicalOf: "bitget", only: venues });
  await soon(async () => allOperational(await readBoard(way.url)));
  // all share the first failure of the flapping component, to save time
  way.world.fault({ kind: "slow", latencyMs: 450, venue: "bitget", component: "rest:*" });
  way.world.fault({ kind: "limited", venue: "gate", component: "rest:*", regions: [region] });
  await t.test("slow answers are degraded", (t) => slowIsDegraded(t, way));
  await t.test("a rate limit in one region is respected and opens no incident", (t) => limitedIsLeftAlone(t, way));
  await t.test("a third opening is flapping", (t) => thirdOpeningFlaps(t, way));
  await t.test("an impaired region has no vote", (t) => impairedHasNoVotes(t, way));
});

async function slowIsDegraded(t: Test, way: Way) {
  const wanted = componentsOf(way.registry, "bitget", "rest:*").sort();
  await soon(async () => (await openOf(way)).length >= wanted.length);
  const incidents = await openOf(way);
  t.same(incidents.map(nameOf).sort(), wanted);
  for (const { slug } of incidents) {
    const { quorum, votes } = (await readEvidence(way.url, slug)).opening;
    const slowIn = votes.filter(({ vote }) => vote === "degraded");
    t.ok(slowIn.length >= quorum, slug);
    for (const { region, samples, slow, bad, p50Ms, ...vote } of slowIn) {
      const what = `${slug}, ${region}: ${slow} slow, ${bad} bad of ${samples}`;
      t.ok(slow > bad && slow * 2 >= samples - bad, what);
      t.ok(p50Ms! > 200, `${slug}, ${region}: ${p50Ms} ms`);
      t.equal(vote.typicalP50Ms, 5);
    }
  }
}

/**
 * The probe sends no more requests than the venue allows: unserved slots count in that region, and one region alone
 * confirms nothing.
 */
async function limitedIsLeftAlone(t: Test, way: Way) {
  await soon(async () => {
    const sights = await readSights(way.url, "gate", region);
    return sights.every(({ component, regionState }) => !component.startsWith("rest:") || regionState === "degraded");
  });
  const requests = () => way.world.requests({ venue: "gate", component: "rest:ticker", region });
  const before = requests();
  await way.engine.ticks(4);
  t.equal(requests(), before, "no request is sent in its pause");
  const gate = (await readBoard(way.url)).venues.find(({ id }) => id === "gate");
  t.match(gate, { state: "operational", activeIncidents: 0 });
}

async function thirdOpeningFlaps(t: Test, way: Way) {
  const { world } = way;
  const fails = () => world.fault({ kind: "status", venue: "gemini", component: "rest:ticker" });
  const open = async () => (await openOf(way)).filter(isTicker);
  for (const time of [1, 2, 3]) {
    fails();
    await soon(async () => (await open()).length === 1);
    await world.clear();
    if (time < 3) await soon(async () => (await open()).length === 0);
  }
  const [third] = await open();
  await soon(async () => (await tickerState(way)) === "operational");
  fails();
  await soon(async () => (await tickerState(way)) !== "operational");
  const slugs = (await open()).map(({ slug }) => slug);
  t.same(slugs, [third!.slug], "a relapse extends the incident");
  await world.clear();
  await soon(async () => (await open()).length === 0);
  const flapping = (await readIncidents(way.url)).filter(isTicker).map(({ flapping }) => flapping);
  t.same(flapping, [true, false, false]);
}

async function impairedHasNoVotes(t: Test, way: Way) {
  const { world, url, engine } = way;
  await soon(async () => allOperational(await readBoard(url)));
  const slugs = async () => (await readIncidents(url)).map(({ slug }) => slug);
  const before = await slugs();
  const fails = { venue: "*", regions: [region] };
  world.fault({ ...fails, component: "rest:*", kind: "timeout" });
  world.fault({ ...fails, component: "ws:conn", kind: "dead-socket" });
  const impaired = async () => (await readRegions(url)).filter((one) => one.impaired !== null);
  await soon(async () => (await impaired()).length > 0);
  await engine.ticks(8);
  const [one, ...others] = await impaired();
  t.equal(one!.id, region);
  t.same(others, []);
  t.ok(one!.impaired!.venues.length > venues.length / 2, "recognised by most venues");
  t.ok(allOperational(await readBoard(url)), "no venue is at fault");

  await world.clear();
  await soon(async () => (await impaired()).length === 0);
  await engine.ticks(4);
  const recorded = (await readRegions(url)).filter(({ impairments }) => impairments.length > 0);
  // venues recover one by one, so the impairment may end and be recognised again meanwhile
  t.strictSame(new Set(recorded.map(({ id }) => id)), new Set([region]));
  t.same(await slugs(), before, "no incident opened");
}

async function openOf({ url }: Way): Promise<Incident[]> {
  return (await readIncidents(url)).filter(({ status }) => status === "open");
}

function nameOf({ venue, component }: Incident): string {
  return `${venue} ${component}`;
}

function isTicker(incident: Incident): boolean {
  return nameOf(incident) === "gemini rest:ticker";
}

async function tickerState({ pool }: Way): Promise<string> {
  const [row] = await pool.query<{ state: string }>(sql`
    select s.state
    from component_state s join component c using (component_id) join venue v using (venue_id)
    where v.venue = 'gemini' and c.component = 'rest:ticker'
  `);
  return row!.state;
}

function soon(condition: () => Promise<boolean>): Promise<void> {
  return until(condition, 60_000, 100);
}
