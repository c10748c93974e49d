/**
 * Every kind of fault occurs at the same time at some venues: our programs neither crash nor use much more memory, and
 * the other venues stay good.
 */
import t from "tap";
import { sql } from "../../shared/database/pool.js";
import type { Fault } from "../../shared/measurement/sample.js";
import { allOperational, type Board, readBoard, readIncidents } from "../support/board.js";
import { startReader } from "../support/reader.js";
import { until } from "../support/until.js";
import { componentsOf, startWay, type Way } from "../support/way.js";
import { ofChains } from "../../world/chain-heads.js";
import { faultKinds, type FaultKind, rules, type ScriptedFault } from "../../world/faults.js";

interface Trouble {
  fault: ScriptedFault;
  /** The fault that all regions must see on each affected component. */
  shows: Fault;
}

/** Every kind of fault of the world. Four venues have none. */
const crowd: Trouble[] = [
  { fault: { venue: "binance", kind: "refused" }, shows: "connect" },
  { fault: rest("coinbase", "reset"), shows: "closed" },
  { fault: rest("kraken", "timeout"), shows: "timeout" },
  { fault: rest("okx", "status"), shows: "http" },
  { fault: { ...rest("bybit", "limited"), retryAfterS: 1 }, shows: "limited" },
  { fault: rest("kucoin", "wrong-body"), shows: "body" },
  { fault: rest("gate", "error-inside"), shows: "body" },
  { fault: rest("bitget", "slow"), shows: "timeout" },
  { fault: rest("gemini", "halted"), shows: "halted" },
  { fault: rest("bitfinex", "drip"), shows: "timeout" },
  { fault: rest("bitstamp", "endless"), shows: "body" },
  { fault: socket("coinbase", "dead-socket"), shows: "timeout" },
  { fault: socket("kraken", "socket-closed"), shows: "closed" },
  { fault: socket("okx", "handshake-refused"), shows: "handshake" },
  // refusing handshakes leaves open sockets open, so this fault ends them
  { fault: socket("okx", "reset"), shows: "handshake" },
  { fault: { venue: "kucoin", component: "ws:book", kind: "silent" }, shows: "stall" },
  { fault: { venue: "bitstamp", component: "ws:book", kind: "frozen" }, shows: "stale" },
];

/** Faults under which samples stay good: missing sequence numbers, or of chains (`standing-chain.test.ts`). */
const harmless: FaultKind[] = ["lost-frames", ...ofChains];

/** We pause the whole origin for half a minute or more: tested in `real-troubles.test.ts`. */
const slowing: FaultKind[] = ["limited-inside", "blocked-inside"];

void t.test("a crowd of faults", async (t) => {
  const tested = [...harmless, ...slowing, ...crowd.map(({ fault }) => fault.kind)];
  const missing = faultKinds.filter((kind) => !isDeclared(kind) && !tested.includes(kind));
  t.same(missing, [], "every kind of fault of measured components is covered");
  const way = await startWay(t, { cadenceMs: 2_000 });
  const reader = startReader(way.url, way.registry);
  t.teardown(() => reader.close());
  await soon(async () => allOperational(await readBoard(way.url)));
  const peak = startPeakMemory();
  t.teardown(peak.stop);
  const start = new Date();

  for (const { fault } of crowd) way.world.fault(fault);
  const wanted = crowd.flatMap((one) => showing(way, one));
  await soon(async () => {
    const seen = await faultsSeenSince(way, start);
    return wanted.every((one) => seen.has(one));
  });
  await way.engine.ticks(12);

  const affected = new Set(crowd.map(({ fault }) => fault.venue));
  // after this machine stalled for seconds, all states are unknown for a moment
  const isAsExpected = (venue: Board["venues"][0]) => (venue.state === "operational") !== affected.has(venue.id);
  await soon(async () => (await readBoard(way.url)).venues.every(isAsExpected));
  t.pass("exactly the unaffected venues are well");
  const incidents = await readIncidents(way.url);
  t.ok(incidents.length > 0);
  const others = incidents.filter(({ venue }) => !affected.has(venue));
  t.same(others, [], "the others have no incidents");
  for (const probe of way.probes) t.match(probe.status(), { dropped: 0, refused: 0, unmeasured: { broken: 0 } });
  const grownMiB = peak.stop();
  t.ok(grownMiB < 256, `the process grew by at most ${grownMiB} MiB`);

  await way.world.clear();
  await soon(async () => allOperational(await readBoard(way.url)));
  await soon(async () => (await readIncidents(way.url)).every(({ status }) => status === "closed"));
  await reader.close();
  t.same(reader.complaints, [], "readers were served the whole time");
});

/** Whether it concerns only what venues declare: their notices, deposits and withdrawals. */
function isDeclared(kind: FaultKind): boolean {
  return rules[kind].places.every((place) => place === "official" || place === "line");
}

function rest(venue: string, kind: FaultKind): ScriptedFault {
  return { venue, component: "rest:*", kind };
}

function socket(venue: string, kind: FaultKind): ScriptedFault {
  return { venue, component: "ws:conn", kind };
}

function showing({ registry }: Way, { fault, shows }: Trouble): string[] {
  const { venue, component = "rest:*" } = fault;
  return componentsOf(registry, venue, component).map((name) => `${name} ${shows}`);
}

/** Texts `venue component fault` for faults that every region has seen. */
async function faultsSeenSince({ pool }: Way, at: Date): Promise<Set<string>> {
  const rows = await pool.query<{ seen: string }>(sql`
    select v.venue || ' ' || c.component || ' ' || s.fault as seen
    from sample s
    join component c using (component_id)
    join venue v using (venue_id)
    where s.ts > ${at} and not s.good
    group by v.venue, c.component, s.fault
    having count(distinct s.region_id) = 3
  `);
  return new Set(rows.map(({ seen }) => seen));
}

/** Measures this process, with the world and three probes. `stop` returns by how many MiB it grew at most. */
function startPeakMemory() {
  const before = process.memoryUsage.rss();
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 50);
  return {
    stop: () => {
      clearInterval(timer);
      return Math.round((most - before) / 2 ** 20);
    },
  };
}

function soon(condition: () => Promise<boolean>): Promise<void> {
  return until(condition, 120_000, 200);
}
