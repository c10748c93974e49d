/**
 * Many days of upkeep: `node dist/simulation/days.js [DAYS] [SEED]`. Samples of a venue come every half hour, and some
 * of them days late; core and the database are killed now and then. Days that are over must be as they were measured,
 * raw samples must stay for eight days and not much longer, and nothing may need a repair. `MUTANT=name` replaces
 * functions of the database by mutated ones.
 *
 * The core decides and refreshes less often than usual, so that a day takes some thirty seconds.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { startEngine, usualPace } from "../server/core/engine/leader.js";
import { rulesRow } from "../shared/rules/engine-rules.js";
import { recordSamples } from "../server/database/record-samples.js";
import { openPool, type Pool, sql } from "../shared/database/pool.js";
import { makeLog } from "../shared/log/log.js";
import type { Sample } from "../shared/measurement/sample.js";
import { madeSample } from "../test/support/made-sample.js";
import { openSimulatedDatabase } from "./database.js";
import { mutatedDefinitions } from "./mutants/definitions.js";
import { mutantNamed } from "./mutants/mutants.js";
import { installVirtualDisk } from "./disk/disks.js";
import { installVirtualNetwork } from "./network/network.js";
import { copyPreparedDatabase, startMs } from "./prepared-database.js";
import { makeSeededRandom } from "./seeded-random.js";
import { registryOf } from "./shape.js";
import { installVirtualGlobals } from "./virtual-globals.js";
import { makeVirtualTime, type Process } from "./virtual-time.js";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const pace = {
  ...usualPace,
  ...{ leaseMs: 40 * minuteMs, newestMs: hourMs, openBucketsMs: hourMs, lateMs: 4 * hourMs },
  ...{ compressMs: 4 * hourMs, retainMs: 8 * hourMs },
};
const rules = { ...rulesRow, step_ms: hourMs };
const cadenceMs = 2 * minuteMs;
/** A chunk has an hour, and the chore may miss two turns in a row because of crashes. */
const droppedWithinMs = hourMs + 3 * pace.retainMs;
const feedEveryMs = 30 * minuteMs;
/** Samples arrive before the instant that the core decides then: later ones it does not know yet. */
const beforeInstantMs = 10_000;
/** Samples that are older than seven days are refused. */
const latestMs = 6.5 * dayMs;

/** Samples of one venue and region that are delivered together. */
interface Batch {
  region: string;
  samples: Sample[];
  fromMs: number;
}

const [days = "100", seed = "1"] = process.argv.slice(2);
const random = makeSeededRandom(`days ${seed}`);
const beganMs = performance.now();
const time = makeVirtualTime(startMs);
installVirtualGlobals(time, random.branch("programs"), () => 0);
const network = installVirtualNetwork(time, random.branch("network"));
network.useDisks(installVirtualDisk(time, random.branch("disks")));
const machineNamed = (name: string) => {
  const machine = { name, clock: { errorMs: 0, rate: 1 } };
  network.name(`${name}.machine`, machine);
  return machine;
};
const registry = registryOf({
  ...{ regions: 2, probesPerRegion: 1, venues: 1, statusPages: 0, cores: 1, webs: 0, channels: 0 },
  cadenceMs,
});
const problems: string[] = [];
const log = makeLog("core", "warn", (line) => {
  if (/ error /.test(line) && !/database is (still )?away/.test(line)) problems.push(line.trim().slice(0, 300));
});
const directory = await copyPreparedDatabase(registry);
const database = await openSimulatedDatabase({
  ...{ time, random: random.branch("database"), log },
  ...{ machine: machineNamed("database"), host: "database.machine", directory: `${directory}/pgdata` },
  checkpointEveryMs: 10 * minuteMs,
});
database.start();
const coreMachine = machineNamed("core");
const feeder = time.startProcess("feeder", machineNamed("feeder"));

/** The measured and the bad minutes of a component and day. A minute has one sample at most. */
const measured = new Map<string, { minutes: number; down: number }>();
const waiting: Batch[] = [];
let isFeeding = true;
let core: Process | null = null;
let crashes = 0;
startCoreProcess();
const mutant = mutantNamed(process.env.MUTANT);
const pool = feeder.run(() => openPool(database.url, { applicationName: "feeder", log: quiet(), max: 2 }));
await ask(seenGood);
if (mutant) await ask(replaceFunctions);
void feeder.run(feed);
void feeder.run(crashNowAndThen);
for (let day = 1; day <= Number(days); day += 1) {
  await time.pass(startMs + day * dayMs);
  await ask(checkRawSamples);
  if (mutant && problems.length > 0) break;
  if (day % 10 === 0) console.log(`day ${day} after ${Math.round((performance.now() - beganMs) / 1000)} s`);
}
isFeeding = false;
// all that waits is delivered, and late samples are rolled up within four hours
await time.pass(time.nowMs() + 6 * hourMs);
if (waiting.length > 0) problems.push(`${waiting.length} batches were not delivered`);
await ask(checkDays);
const tookMinutes = ((performance.now() - beganMs) / minuteMs).toFixed(1);
console.log(
  `seed ${seed}: ${days} days in ${tookMinutes} minutes; ${crashes} crashes, ${database.statements()} statements`,
);
for (const { process: name, error } of time.crashes) problems.push(`${name} crashed: ${String(error)}`);
for (const problem of problems.slice(0, 50)) console.log(`problem: ${problem}`);
console.log(problems.length === 0 ? "all checks passed" : `${problems.length} problems`);
process.exit(problems.length === 0 ? 0 : 1);

function quiet() {
  return makeLog("feeder", "error", () => {});
}

function startCoreProcess(): void {
  core = time.startProcess("core", coreMachine);
  core.run(() => {
    const open = (applicationName: string, max: number) => openPool(database.url, { applicationName, log, max });
    startEngine({ pool: open("core", 4), leasePool: open("core lease", 1), log, rules, pace });
  });
}

/** Until a component was good once, its minutes say nothing; so it was before the history begins. */
async function seenGood(pool: Pool): Promise<string[]> {
  await pool.query(sql`update component_entry set good_at = ${new Date(startMs - dayMs)}`);
  return [];
}

async function replaceFunctions(pool: Pool): Promise<string[]> {
  await pool.script(mutatedDefinitions(mutant!));
  return [];
}

async function feed(): Promise<void> {
  for (let fromMs = startMs; ; fromMs += feedEveryMs) {
    await sleep(fromMs + feedEveryMs - beforeInstantMs - Date.now());
    if (isFeeding) for (const { id } of registry.venues) waiting.push(...batchesOf(id, fromMs));
    for (const batch of waiting.filter((one) => !isFeeding || one.fromMs <= Date.now())) await deliver(batch);
  }
}

/** Half an hour of a venue, of both regions. A hundredth of the batches comes late. */
function batchesOf(venue: string, fromMs: number): Batch[] {
  const isDown = random.chance(0.02);
  const samplesAt = (slotMs: number) =>
    ["rest:ticker", "rest:book"].map((component) => {
      const verdict = isDown ? { good: false, fault: "timeout" as const, latencyUs: null, httpStatus: null } : {};
      return madeSample({ venue, component, slotAt: new Date(slotMs), ...verdict });
    });
  const samples = Array.from({ length: feedEveryMs / cadenceMs }, (_, n) => samplesAt(fromMs + n * cadenceMs)).flat();
  for (const { component } of samples) {
    const key = `${venue} ${component} ${new Date(fromMs).toISOString().slice(0, 10)}`;
    const sum = measured.get(key) ?? { minutes: 0, down: 0 };
    measured.set(key, { minutes: sum.minutes + 1, down: sum.down + Number(isDown) });
  }
  return registry.regions.map(({ id: region }) => ({
    ...{ region, samples },
    fromMs: random.chance(0.01) ? fromMs + random.next() * latestMs : fromMs,
  }));
}

/** Stays in line until the database has it. */
async function deliver(batch: Batch): Promise<void> {
  try {
    const { refused } = await recordSamples(pool, batch.region, batch.samples);
    if (refused > 0) problems.push(`${refused} samples of ${batch.samples[0]!.slotAt.toISOString()} were refused`);
    waiting.splice(waiting.indexOf(batch), 1);
  } catch {
    // the database is down: the next round delivers it
  }
}

async function crashNowAndThen(): Promise<void> {
  for (;;) {
    await sleep(random.next() * 24 * hourMs);
    crashes += 1;
    if (random.chance(0.5)) {
      core!.kill();
      await sleep(random.next() * 5 * minuteMs);
      startCoreProcess();
    } else {
      await database.crash();
      await sleep(random.next() * 5 * minuteMs);
      database.start();
    }
  }
}

async function ask(check: (pool: Pool) => Promise<string[]>): Promise<void> {
  let isDone = false;
  let failure: unknown;
  // the database may be down
  void feeder.run(async () => {
    for (; !isDone; await sleep(minuteMs))
      try {
        problems.push(...(await check(pool)));
        isDone = true;
      } catch (error) {
        failure = error;
      }
  });
  await time.pass(time.nowMs() + hourMs, () => isDone);
  if (!isDone) throw new Error("a check of the database failed for an hour", { cause: failure });
}

/** Raw samples are dropped by whole chunks, and by a chore that runs every eight hours. */
async function checkRawSamples(pool: Pool): Promise<string[]> {
  const [row] = await pool.query<{ kept: number; expired: number }>(sql`
    select
      count(*) filter (where ts > now() - interval '8 days')::int as kept,
      count(*) filter (where ts < now() - interval '8 days' - ${droppedWithinMs} * interval '1 millisecond')::int as expired
    from sample
  `);
  const { kept, expired } = row!;
  const lastMs = time.nowMs();
  const undelivered = waiting.flatMap(({ samples }) => samples).length;
  const samplesAtOnce = (feedEveryMs / cadenceMs) * registry.regions.length * registry.venues.length * 2;
  const expected = Math.floor(Math.min(lastMs - startMs, 8 * dayMs) / feedEveryMs) * samplesAtOnce - undelivered;
  const at = new Date(lastMs).toISOString();
  return [
    // the newest and the oldest half hours are coming or going
    ...(Math.abs(kept - expected) > 2 * samplesAtOnce
      ? [`${at}: expected ${expected} raw samples of eight days, got ${kept}`]
      : []),
    ...(expired > 0 ? [`${at}: ${expired} raw samples are older than eight days`] : []),
  ];
}

/** Days, and the hours that they are computed from, are as they were measured. */
async function checkDays(pool: Pool): Promise<string[]> {
  const rows = await pool.query<{ key: string; minutes: number; down: number; samples: number; good: number }>(sql`
    with hours as (
      select component_id, time_bucket('1 day', hour) as day, sum(samples)::int as samples, sum(good)::int as good
      from sample_hour
      group by 1, 2
    )
    select
      concat_ws(' ', venue, component, to_char(day, 'YYYY-MM-DD')) as key,
      d.measured_minutes as minutes, d.down_minutes as down, h.samples, h.good
    from component_day d
    full join hours h using (component_id, day)
    join component using (component_id)
    join venue using (venue_id)
  `);
  const found = new Map(rows.map((row) => [row.key, row]));
  const today = new Date(time.nowMs()).toISOString().slice(0, 10);
  return [...measured].flatMap(([key, { minutes, down }]) => {
    const regions = registry.regions.length;
    const expected = { key, minutes, down, samples: regions * minutes, good: regions * (minutes - down) };
    const isAsExpected = JSON.stringify(found.get(key)) === JSON.stringify(expected);
    return isAsExpected || key.endsWith(today)
      ? []
      : [`expected ${JSON.stringify(expected)}, got ${JSON.stringify(found.get(key))}`];
  });
}
