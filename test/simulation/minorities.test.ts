/** The checker that no state rests on a minority, on states that a faulty engine would note. */
import t from "tap";
import { checkMinorities } from "../../simulation/checkers/minorities.js";
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

void t.test("the board's venues and its fleet are held to the same", async (t) => {
  const both = { "rest:ticker": "operational", "rest:book": "operational" };
  t.same(await problemsOnBoard("operational", both, 2), []);
  t.match(await problemsOnBoard("operational", both, 1), [/1 of 3 venues/]);
  t.match(await problemsOnBoard("outage", { "ws:conn": "outage" }, 3), Array(3).fill(/1 of 4 components are known/));
});

type Known = Record<string, string>;

function problemsOf(state: string, known: Known): Promise<string[]> {
  return problemsWith((ledger) =>
    ledger.notedStates.push({ instantMs: 0, venues: [{ venue: "venue-1", state, components: partsOf(known) }] }),
  );
}

/** Of three venues so many have the state; the fleet has it, too. */
function problemsOnBoard(state: string, known: Known, knownVenues: number): Promise<string[]> {
  const venues = largerRegistry.venues.map(({ id }, place) => ({
    ...{ id, state: place < knownVenues ? state : "unknown", components: partsOf(known) },
  }));
  const text = JSON.stringify({ generatedAt: new Date(0).toISOString(), summary: { state }, venues });
  return problemsWith((ledger) => ledger.bodies.push({ from: "web-1", path: "/v1/status", text, atMs: 0 }));
}

function partsOf(known: Known) {
  return Object.entries(known).map(([component, state]) => ({ component, state }));
}

async function problemsWith(note: (ledger: Ledger) => void): Promise<string[]> {
  const ledger = makeLedger();
  note(ledger);
  const problems = await checkMinorities({ ledger, largerRegistry } as Cluster);
  // it also notices that the other of the two is missing
  return problems.filter((one) => !one.includes("got none"));
}
