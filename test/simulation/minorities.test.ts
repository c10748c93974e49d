/** The checker that no state rests on a minority, on states that a faulty engine would note. */
import t from "tap";
import { checkMinorities } from "../../simulation/checkers/minorities.js";
import type { Registry } from "../../shared/registry/registry.js";
import type { Cluster } from "../../simulation/cluster.js";
import { type Ledger, makeLedger } from "../../simulation/ledger.js";
import { registryOf, shapes } from "../../simulation/shape.js";

const largerRegistry = registryOf({ ...shapes.small!, venues: 3 });

void t.test("a venue may rest on half of its components, by whichever kind", async (t) => {
  const halves: Known[] = [
    { "rest:ticker": "operational", "rest:book": "operational" },
    { "ws:conn": "degraded", "ws:trades": "operational" },
    { "rest:ticker": "operational", "ws:trades": "operational" },
  ];
  for (const known of halves) t.same(await problemsOf("operational", known), [], JSON.stringify(known));
  t.same(await problemsOf("outage", { "rest:ticker": "outage", "ws:conn": "operational" }), []);
  t.same(await problemsOf("unknown", { "rest:ticker": "outage" }), []);
});

void t.test("a minority is found, whatever the venue is said to be", async (t) => {
  for (const state of ["operational", "degraded", "outage"])
    t.match(await problemsOf(state, { "rest:ticker": "outage", "rest:book": "unknown" }), [
      /1 of 4 components are known/,
    ]);
  t.match(await problemsOf("operational", {}), [/0 of 4 components/]);
});

void t.test("an outage by components that are not known, or by fewer than half of a kind, is found", async (t) => {
  t.match(await problemsOf("outage", { "ws:conn": "operational", "ws:trades": "operational" }), [/by a minority/]);
  const others = { "ws:conn": "operational", "ws:trades": "degraded" };
  t.match(await problemsOf("outage", { ...others, "rest:ticker": "degraded" }), [/by a minority/]);
});

void t.test("an outage needs half of all endpoints or streams, known or not", async (t) => {
  const socket = { "ws:conn": "operational", "ws:0": "operational" };
  const fourEndpoints = withComponents(4, 2);
  const oneDown = { ...socket, "rest:0": "outage", "rest:1": "operational" };
  t.match(await problemsOf("outage", oneDown, fourEndpoints), [/by a minority/]);
  t.match(await problemsOf("outage", { ...oneDown, "rest:2": "degraded" }, fourEndpoints), [/by a minority/]);
  t.same(await problemsOf("outage", { ...oneDown, "rest:2": "outage" }, fourEndpoints), []);
  const threeStreams = withComponents(1, 3);
  const oneSilent = { "rest:0": "operational", "ws:conn": "operational", "ws:0": "outage" };
  t.match(await problemsOf("outage", oneSilent, threeStreams), [/by a minority/]);
  t.same(await problemsOf("outage", { ...oneSilent, "ws:conn": "outage" }, threeStreams), []);
});

void t.test("the chain of the providers is a venue with one component", async (t) => {
  const says = (known: Known) => problemsIn(largerRegistry, "chain-chain", "outage", known);
  t.same(await says({ "rest:head": "outage" }), []);
  t.match(await says({ "rest:head": "degraded" }), [/by a minority/]);
  t.match(await says({}), [/0 of 1 components/]);
});

void t.test("the board's venues and its fleet are held to the same rule", async (t) => {
  const both = { "rest:ticker": "operational", "rest:book": "operational" };
  t.same(await problemsOnBoard("operational", both, 2), []);
  t.match(await problemsOnBoard("operational", both, 1), [/1 of 3 venues/]);
  const down = { "rest:ticker": "outage", "rest:book": "outage" };
  t.same(await problemsOnBoard("outage", down, 2), []);
  t.match(await problemsOnBoard("outage", down, 1, ["operational"]), [/outage by a minority: 1 of 3 venues/]);
  t.match(await problemsOnBoard("outage", { "ws:conn": "outage" }, 3), Array(3).fill(/1 of 4 components are known/));
});

type Known = Record<string, string>;

function problemsOf(state: string, known: Known, registry = largerRegistry): Promise<string[]> {
  return problemsIn(registry, "venue-1", state, known);
}

function problemsIn(registry: Registry, venue: string, state: string, known: Known): Promise<string[]> {
  return problemsWith(
    (ledger) => ledger.notedStates.push({ instantMs: 0, venues: [{ venue, state, components: partsOf(known) }] }),
    registry,
  );
}

/** Venues with so many endpoints, `rest:0` and so on, and streams, of which `ws:conn` is one: `ws:0` and so on. */
function withComponents(endpoints: number, streams: number): Registry {
  const of = <One extends { name: string }>(one: One, count: number) =>
    Array.from({ length: count }, (_, place) => ({ ...one, name: String(place) }));
  const venues = largerRegistry.venues.map((venue) => ({
    ...venue,
    rest: of(venue.rest[0]!, endpoints),
    socket: { ...venue.socket!, streams: of(venue.socket!.streams[0]!, streams - 1) },
  }));
  return { ...largerRegistry, venues };
}

/** Of three venues so many have the state, and the others those given, or none; the fleet has the state, too. */
function problemsOnBoard(state: string, known: Known, having: number, others: string[] = []): Promise<string[]> {
  const venues = largerRegistry.venues.map(({ id }, place) => ({
    ...{ id, state: place < having ? state : (others[place - having] ?? "unknown"), components: partsOf(known) },
  }));
  const text = JSON.stringify({ generatedAt: new Date(0).toISOString(), summary: { state }, venues });
  return problemsWith((ledger) => ledger.bodies.push({ from: "web-1", path: "/v1/status", text, atMs: 0 }));
}

function partsOf(known: Known) {
  return Object.entries(known).map(([component, state]) => ({ component, state }));
}

async function problemsWith(note: (ledger: Ledger) => void, registry = largerRegistry): Promise<string[]> {
  const ledger = makeLedger();
  note(ledger);
  const problems = await checkMinorities({ ledger, largerRegistry: registry } as Cluster);
  // it also notices that the other of the two is missing
  return problems.filter((one) => !one.includes("got none"));
}
