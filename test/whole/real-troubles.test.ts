/**
 * A world whose venues limit, block, halt, end and move, measured from one address and from three: trouble that is no
 * outage of the venue is not shown as one.
 */
import t, { type Test } from "tap";
import { migrate } from "../../server/database/migrate.js";
import { makeLog } from "../../shared/log/log.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import type { Registry } from "../../shared/registry/registry.js";
import type { ScriptedFault } from "../../world/faults.js";
import { get, readIncidents, type Incident } from "../support/board.js";
import { followStates } from "../support/states.js";
import { until } from "../support/until.js";
import { componentsOf, quickened, startRegion, startWay, type Way } from "../support/way.js";

const regions = ["eu-central", "ap-southeast", "us-east"];
const everything = await loadRegistry("registry/all.json");

/** Half of the venues, so that those in trouble are never most of them: that would be our own network's. */
const well = ["coinbase", "coingecko", "defillama", "dia", "redstone", "moonpay", "rampnetwork", "transak"];
const troubled = ["okx", "bybit", "kraken", "kucoin", "gate", "bitstamp", "gemini", "publicnode", "usdt"];

/** The endpoints of Tether that are read through third-party nodes, and the hosts of these. */
const chainReads = everything.venues.find(({ id }) => id === "usdt")!.rest.filter(({ alternatives }) => alternatives);
const readByNodes = chainReads.map(({ name }) => `usdt rest:${name}`);
const nodes = new Set(chainReads.flatMap(({ url, alternatives }) => [url, ...alternatives!]).map(hostOf));
const rpcHost = hostOf(everything.venues.find(({ id }) => id === "publicnode")!.rest[0]!.url);

interface Place {
  name: string;
  machines: Record<string, string>;
  /** The regions that share the address of `us-east`. */
  beside: string[];
}

const places: Place[] = [
  { name: "one address", machines: Object.fromEntries(regions.map((one) => [one, "m"])), beside: regions },
  { name: "three addresses", machines: Object.fromEntries(regions.map((one) => [one, one])), beside: ["us-east"] },
];

for (const place of places)
  void t.test(place.name, async (t) => {
    const states = followStates();
    const way = await startWay(t, {
      ...{ registry: everything, only: [...well, ...troubled], machines: place.machines },
      aged: [{ venue: "okx", moved: "ws.okx.com" }],
      onTick: (pool) => states.note(pool),
    });
    const story: Story = { way, states, place };
    for (const [name, run] of [
      ["an entry that its venue has left", entryIsOld],
      ["limits, in a status and in words", limitsAreNoOutage],
      ["a venue that says it does not trade", haltIsSaid],
      ["a ban of one place", banIsOfAPlace],
      ["a ban of two regions", banIsOfTwoPlaces],
      ["an end", endCloses],
      ["a node that several venues read", nodeIsShared],
      ["afterwards, with a newer release", allIsWell],
    ] as const)
      await t.test(name, (t) => run(t, story));
    const wrong = (await readIncidents(way.url)).filter(({ venue }) => well.includes(venue));
    t.same(wrong, [], "nothing happened to the others");
  });

interface Story {
  way: Way;
  states: ReturnType<typeof followStates>;
  place: Place;
}

async function entryIsOld(t: Test, { way, states }: Story) {
  const old = componentsOf(way.registry, "okx", "ws:*");
  const others = [...well, ...troubled].flatMap((id) => all(way, id)).filter((one) => !old.includes(one));
  await states.until(others, "operational");
  await states.until(old, "unknown never");
  await way.engine.ticks(4);
  t.same(await readIncidents(way.url), []);
  const body = await get<{ regions: SeenRegion[] }>(`${way.url}/v1/regions`);
  for (const { id, neverSeenGood } of body.regions) {
    const listed = neverSeenGood.map(({ venue, component, fault }) => `${venue} ${component} ${fault}`);
    t.same(listed.sort(), old.map((one) => `${one} connect`).sort(), id);
  }
  t.match((await venueOf(way, "okx")).unknown, [{ reason: "never", detail: /check the address in the entry/ }]);
}

async function limitsAreNoOutage(t: Test, { way, states }: Story) {
  const { world } = way;
  const [gate, kucoin] = [componentsOf(way.registry, "gate", "rest:*"), componentsOf(way.registry, "kucoin", "rest:*")];
  const places = new Map([...gate, ...kucoin].map((one) => [one, states.place(one)]));
  const before = world.requests({ venue: "kucoin" });
  world.fault({ venue: "gate", component: "rest:*", kind: "limited", retryAfterS: 2 });
  world.fault({ venue: "kucoin", component: "rest:*", kind: "limited-inside" });
  await states.until(gate, "degraded");
  await soon(() => kucoin.every((one) => states.now(one) !== "operational"));
  await way.engine.ticks(8);
  for (const [one, place] of places) {
    const been = states.since(one, place);
    t.notOk(been.includes("outage"), `${one}: ${been.join(", ")}`);
  }
  for (const { component, fault } of (await venueOf(way, "gate")).components.filter(
    ({ state }) => state === "degraded",
  ))
    t.equal(fault, "limited", `gate ${component}`);
  const incidents = (await readIncidents(way.url)).filter(({ venue }) => ["gate", "kucoin"].includes(venue));
  t.ok(incidents.some(({ venue }) => venue === "gate"));
  for (const { slug, peakSeverity } of incidents) t.equal(peakSeverity, "degraded", slug);
  // each endpoint of each region may have been on its way when the first was limited
  const asked = world.requests({ venue: "kucoin" }) - before;
  t.ok(asked <= 3 * regions.length * kucoin.length, `${asked} requests`);
}

async function haltIsSaid(t: Test, { way, states }: Story) {
  way.world.fault({ venue: "kraken", kind: "halted" });
  const saying = ["rest:status", "ws:conn"];
  await soon(async () => (await openIncidents(way, "kraken")).length >= saying.length);
  await states.until(
    saying.map((one) => `kraken ${one}`),
    "outage",
  );
  await way.engine.ticks(4);
  const incidents = await openIncidents(way, "kraken");
  t.same(incidents.map(({ component }) => component).sort(), saying, "the components that say so, and no stream");
  for (const { slug, fault } of incidents) t.equal(fault, "halted", slug);
  for (const one of all(way, "kraken").filter((id) => !saying.some((said) => id.endsWith(said))))
    t.equal(states.now(one), "operational", `${one} still answers`);
}

async function banIsOfAPlace(t: Test, { way, states, place }: Story) {
  const bybit = componentsOf(way.registry, "bybit", "rest:*");
  const places = new Map(bybit.map((one) => [one, states.place(one)]));
  const been = () => bybit.flatMap((one) => states.since(one, places.get(one)!));
  ban(way, "bybit", place.beside);
  await soon(() => bybit.some((one) => states.now(`${one} from us-east`) === "outage"));
  const isOne = place.beside.length > 1;
  if (isOne) {
    let unknown: Because[] = [];
    await soon(async () => (unknown = (await venueOf(way, "bybit")).unknown).length > 0);
    t.match(unknown[0], { reason: "blocked", detail: /^blocked from this place; the venue does not serve US/ });
    await soon(() => been().includes("unknown blocked"));
  }
  await way.engine.ticks(8);
  t.notMatch(been().join(), isOne ? /outage|degraded/ : /outage|degraded|unknown/, been().join(", "));
  t.same(await openIncidents(way, "bybit"), [], "one place");
}

async function banIsOfTwoPlaces(t: Test, { way, states, place }: Story) {
  const two = ["us-east", "eu-central"];
  const bitstamp = componentsOf(way.registry, "bitstamp", "rest:*");
  ban(way, "bitstamp", two);
  await soon(() => two.every((region) => states.now(`${bitstamp[0]} from ${region}`) === "outage"));
  if (place.beside.length > 1) {
    await way.engine.ticks(4);
    return t.same(await openIncidents(way, "bitstamp"), [], "two regions, but one address");
  }
  // of all endpoints in time; here the pause is five times as long as the window
  await soon(async () => (await openIncidents(way, "bitstamp")).length > 0);
  for (const { slug, fault, regions } of await openIncidents(way, "bitstamp")) {
    t.equal(fault, "blocked", `${slug}: ${fault}`);
    t.same(regions.sort(), two.sort(), slug);
  }
}

async function endCloses(t: Test, { way, states }: Story) {
  const ticker = ["gemini rest:ticker"];
  way.world.fault({ venue: "gemini", component: "rest:ticker", kind: "status" });
  await states.until(ticker, "outage");
  await soon(async () => (await openIncidents(way, "gemini")).length === 1);
  const end = {
    date: today(),
    what: "Gemini closes its ticker.",
    source: "its changelog",
    components: ["rest:ticker"],
  };
  await migrate(way.pool, changed(way.registry, "gemini", { until: end }), quiet);
  await states.until(ticker, "unknown ended");
  await soon(async () => (await openIncidents(way, "gemini")).length === 0);
  t.match((await venueOf(way, "gemini")).unknown, [
    { reason: "ended", detail: /^ended on .*: Gemini closes its ticker$/ },
  ]);
}

async function nodeIsShared(t: Test, { way, states }: Story) {
  const [tether, rpc] = [all(way, "usdt"), all(way, "publicnode")];
  const places = new Map(tether.map((one) => [one, states.place(one)]));
  refuse(way, rpcHost);
  await states.until(
    rpc.filter((one) => one.includes("rest:")),
    "outage",
  );
  await soon(async () => (await openIncidents(way, "publicnode")).length > 0);
  await states.until(tether, "operational");
  await way.engine.ticks(4);
  for (const one of tether) t.equal(states.now(one), "operational", `${one}: another node answers`);
  for (const other of [...nodes].filter((one) => one !== rpcHost)) refuse(way, other);
  await states.until(
    readByNodes.filter((one) => one.includes("rest:")),
    "unknown",
  );
  await way.engine.ticks(4);
  for (const [one, place] of places) {
    const been = states.since(one, place);
    t.notMatch(been.join(), /outage|degraded/, `${one}: ${been.join(", ")}`);
  }
  t.same(await openIncidents(way, "usdt"), []);
}

/** The operator installs a release whose entries are right; all faults are over. */
async function allIsWell(t: Test, { way, states }: Story) {
  const banned = componentsOf(way.registry, "bybit", "rest:*").filter((one) =>
    states.since(one, 0).includes("unknown blocked"),
  );
  for (const one of banned) t.equal(states.now(one), "unknown blocked", `${one}: ${states.since(one, 0).join(", ")}`);
  await Promise.all(way.probes.map((probe) => probe.close()));
  await way.world.clear();
  const registry = quickened(way.world.corrected);
  await migrate(way.pool, registry, quiet);
  const probes = await Promise.all(regions.map((region) => startRegion(t, way.pool, registry, region)));
  t.teardown(() => Promise.all(probes.map((probe) => probe.close())));
  await states.until(
    [...well, ...troubled].flatMap((id) => all(way, id)),
    "operational",
  );
  await soon(async () => (await readIncidents(way.url)).every(({ status }) => status === "closed"));
  const body = await get<{ regions: SeenRegion[] }>(`${way.url}/v1/regions`);
  for (const { id, neverSeenGood } of body.regions) t.same(neverSeenGood, [], id);
}

interface SeenRegion {
  id: string;
  neverSeenGood: { venue: string; component: string; fault: string }[];
}

interface Because {
  reason: string;
  detail: string;
}

interface SeenComponent {
  component: string;
  state: string;
  fault: string | null;
  unknownBecause: Because | null;
}

async function venueOf({ url }: Way, id: string) {
  const page = await get<{ endpoints: SeenComponent[]; streams: SeenComponent[] }>(`${url}/v1/targets/${id}`);
  const components = [...page.endpoints, ...page.streams];
  return { components, unknown: components.flatMap(({ unknownBecause }) => unknownBecause ?? []) };
}

async function openIncidents({ url }: Way, id: string): Promise<(Incident & { fault: string | null })[]> {
  return ((await readIncidents(url)) as (Incident & { fault: string | null })[]).filter(
    ({ venue, status }) => venue === id && status === "open",
  );
}

/** Answers with an error page of the CDN in front of the venue, which has no words that a program could read. */
function ban({ world }: Way, venue: string, of: string[]) {
  const page = "ERROR: The request could not be satisfied. Generated by cloudfront (CloudFront)";
  world.fault({ venue, component: "rest:*", kind: "status", status: 403, text: page, regions: of });
}

function refuse({ world }: Way, host: string) {
  const fault: ScriptedFault = { venue: "*", kind: "refused", host };
  world.fault(fault);
}

function changed(registry: Registry, id: string, change: Partial<Registry["venues"][number]>): Registry {
  return { ...registry, venues: registry.venues.map((venue) => (venue.id === id ? { ...venue, ...change } : venue)) };
}

function all({ registry }: Way, id: string): string[] {
  return [...componentsOf(registry, id, "rest:*"), ...componentsOf(registry, id, "ws:*")];
}

function hostOf(url: string): string {
  return new URL(url).host;
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}

const quiet = makeLog("test", "error");

function soon(condition: () => boolean | Promise<boolean>): Promise<void> {
  return until(condition, 60_000, 100);
}
