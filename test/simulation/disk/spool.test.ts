/** The probe's spool on a simulated disk: kills, power failures, and a disk that is full, broken or silent. */
import t, { type Test } from "tap";
import { openSpool, type Spool, type SpoolOptions } from "../../../probe/delivery/spool.js";
import { makeLog } from "../../../shared/log/log.js";
import type { Sample } from "../../../shared/measurement/sample.js";
import { makeSeededRandom } from "../../../simulation/seeded-random.js";
import type { Process } from "../../../simulation/virtual-time.js";
import { madeSample } from "../../support/made-sample.js";
import { finish, type SimulatedMachine, simulation } from "./simulated-machine.js";

const { time, machine, seedWith } = simulation("spool");
const seeds = Array.from({ length: 60 }, (_, seed) => seed);
const directory = "/simulated/spool/eu-central";

const numbered = (n: number) => madeSample({ slotAt: new Date(n) });
const numberOf = ({ slotAt }: Sample) => +slotAt;

/** A record of what a probe has done with its spool. */
interface History {
  added: number;
  flushed: Set<number>;
  returned: number[];
  log: string[];
}

const newHistory = (): History => ({ added: 0, flushed: new Set(), returned: [], log: [] });

function spoolIn(history: History, options: Partial<SpoolOptions> = {}): Promise<Spool> {
  const log = makeLog("probe", "info", (line) => history.log.push(line));
  return openSpool({ directory, log, segmentBytes: 4000, ...options });
}

/** Adds samples one after another, until the process dies; some of the time it waits until they are on the disk. */
async function addForever(spool: Spool, history: History, seed: number): Promise<void> {
  const random = makeSeededRandom(`adding ${seed}`);
  for (let from = history.added; ;) {
    for (let left = random.integer(1, 30); left > 0; left -= 1) spool.add(numbered(history.added++));
    const before = history.added;
    if (random.chance(0.4) && (await spool.flush())) for (; from < before; from += 1) history.flushed.add(from);
    else await new Promise((resolve) => setTimeout(resolve, random.integer(1, 200)));
  }
}

/** Returns samples, marks them as done, and goes on until the spool is empty. */
async function readAll(spool: Spool, history: History): Promise<void> {
  for (let batch = await spool.next(7); batch; batch = await spool.next(7)) {
    history.returned.push(...batch.samples.map(numberOf));
    batch.done();
  }
}

async function passFor(ms: number): Promise<void> {
  await time.pass(time.nowMs() + ms);
}

function killAt(process: Process, afterMs: number): Promise<void> {
  time.schedule(afterMs, () => process.kill(), null);
  return passFor(afterMs + 1);
}

/** Reads in a new process, after the one before it was killed. */
async function reopened(host: SimulatedMachine, history: History): Promise<{ corrupt: number }> {
  const process = host.start("probe again");
  return finish(time, process, async () => {
    const spool = await spoolIn(history);
    await readAll(spool, history);
    const { corrupt } = spool.status();
    await spool.close();
    return { corrupt };
  });
}

function missing({ flushed, returned }: History): number[] {
  const seen = new Set(returned);
  return [...flushed].filter((n) => !seen.has(n));
}

void t.test("samples that were flushed survive a kill at any point", async (t) => {
  let torn = 0;
  for (const seed of seeds) {
    seedWith(`kill ${seed}`);
    const host = machine(`kill ${seed}`);
    host.disk.setLatency({ leastUs: 10, mostUs: 20_000 });
    const random = makeSeededRandom(`kill ${seed}`);
    const history = newHistory();
    for (let life = 0; life < 4; life += 1) {
      const process = host.start(`probe ${life}`);
      process.run(() => void live(history, seed + life / 10));
      await killAt(process, random.integer(1, 3000) + random.next());
    }
    const { corrupt } = await reopened(host, history);
    torn += history.log.filter((line) => line.includes("partial line")).length;
    if (missing(history).length > 0) t.same(missing(history), [], `seed ${seed}: lost samples`);
    if (history.returned.some((n) => n >= history.added)) t.fail(`seed ${seed}: a sample that was not added`);
    if (corrupt > 0) t.equal(corrupt, 0, `seed ${seed}: a kill leaves no corrupt line`);
  }
  t.same(crashes(), []);
  t.ok(torn > 0, `some kills tore a line: ${torn}`);

  async function live(history: History, seed: number): Promise<void> {
    const spool = await spoolIn(history);
    void addForever(spool, history, seed);
    const random = makeSeededRandom(`reading ${seed}`);
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, random.integer(10, 500)));
      const batch = await spool.next(random.integer(1, 20));
      if (!batch) continue;
      history.returned.push(...batch.samples.map(numberOf));
      if (random.chance(0.8)) batch.done();
    }
  }
});

void t.test("a full disk keeps samples in memory, and takes them again when there is space", async (t) => {
  seedWith("full");
  const host = machine("full");
  const history = newHistory();
  const process = host.start("probe");
  const spool = await finish(time, process, () => spoolIn(history, { segmentBytes: 10_000 }));
  process.run(() => void addForever(spool, history, 1));
  await passFor(1_000);
  const used = host.disk.usedBytes();
  host.disk.setCapacity(used + 150);
  await passFor(3_000);
  t.match(process.run(() => spool.status()).trouble, /ENOSPC/);
  t.ok(host.disk.usedBytes() <= used + 150, "no more than fits");
  const flushed = history.flushed.size;
  host.disk.setCapacity(Infinity);
  await passFor(3_000);
  t.equal(process.run(() => spool.status()).trouble, null);
  t.ok(history.flushed.size > flushed, "it writes again");
  process.kill();
  const { corrupt } = await reopened(host, history);
  t.same(missing(history), []);
  t.equal(corrupt, 0, "no partial line remains");
});

void t.test("errors of a share of the calls cost no sample", async (t) => {
  for (const seed of seeds.slice(0, 30)) {
    seedWith(`broken ${seed}`);
    const host = machine(`broken ${seed}`);
    const history = newHistory();
    const process = host.start("probe");
    const spool = await finish(time, process, () => spoolIn(history));
    process.run(() => void addForever(spool, history, seed));
    await passFor(500);
    host.disk.fail("write", "EIO", 0.5);
    host.disk.fail("ftruncate", "EIO", 0.5);
    host.disk.fail("close", "EIO", 0.5);
    host.disk.fail("open", "EIO", 0.3);
    await passFor(10_000);
    for (const syscall of ["write", "ftruncate", "close", "open"] as const) host.disk.fail(syscall, "EIO", 0);
    await passFor(5_000);
    t.equal(process.run(() => spool.status()).trouble, null, `seed ${seed}: it works again`);
    process.kill();
    await reopened(host, history);
    if (missing(history).length > 0) t.same(missing(history), [], `seed ${seed}: lost samples`);
    if (history.returned.some((n) => n >= history.added)) t.fail(`seed ${seed}: a sample that was not added`);
  }
  t.same(crashes(), []);
});

void t.test("files that a disk could not read are delivered when it can, without a restart", async (t) => {
  for (const [name, restarts] of [
    ["unreadable later", false],
    ["unreadable from the start", true],
  ] as const) {
    seedWith(name);
    const host = machine(name);
    const history = newHistory();
    const added = Array.from({ length: 200 }, (_, n) => n);
    let process = host.start("probe");
    let spool = await finish(time, process, () => spoolIn(history));
    process.run(() => added.forEach((n) => spool.add(numbered(n))));
    t.ok(await finish(time, process, () => spool.flush()));
    host.disk.fail("read", "EIO", 1);
    if (restarts) {
      process.kill();
      process = host.start("probe again");
      spool = await finish(time, process, () => spoolIn(history));
    }
    await finish(time, process, () => readAll(spool, history));
    t.same(history.returned, [], `${name}: nothing can be read`);
    t.match(history.log.join("\n"), /cannot read a file of the spool/);
    host.disk.fail("read", "EIO", 0);
    await passFor(60_001);
    await finish(time, process, () => readAll(spool, history));
    t.same(history.returned, added, `${name}: all samples are delivered, in order`);
    t.match(
      process.run(() => spool.status()),
      { waiting: 0, corrupt: 0, trouble: null },
    );
    process.kill();
  }
  t.same(crashes(), []);
});

void t.test("a disk that does not answer holds up neither the start nor delivery", async (t) => {
  seedWith("silent");
  const host = machine("silent");
  const history = newHistory();
  const process = host.start("probe");
  const spool = await finish(time, process, () => spoolIn(history, { answersWithinMs: 2_000 }));
  host.disk.stall(time.nowMs() + 20_000);
  process.run(() => void addForever(spool, history, 3));
  await passFor(5_000);
  t.match(process.run(() => spool.status()).trouble, /has not answered for \d s/);
  const batch = await finish(time, process, () => spool.next(5));
  t.ok(batch && batch.samples.length > 0, "samples in memory are delivered");
  await passFor(30_000);
  t.equal(process.run(() => spool.status()).trouble, null, "afterwards it works");
  t.ok(history.flushed.size > 0);
  process.kill();

  const other = machine("silent from the start");
  other.disk.stall(Infinity);
  const late = newHistory();
  const begun = time.nowMs();
  const starting = other.start("probe");
  const started = await finish(time, starting, () => spoolIn(late, { answersWithinMs: 2_000 }));
  t.ok(Math.abs(time.nowMs() - begun - 2_000) < 5, "it starts after the limit");
  t.match(starting.run(() => started.status()).trouble, /has not answered/);
  other.disk.stall(0);
  starting.run(() => void addForever(started, late, 4));
  await passFor(5_000);
  t.equal(starting.run(() => started.status()).trouble, null);
  starting.kill();
  t.same(crashes(), []);
});

void t.test("after a power failure, every sample that is returned was added", async (t) => {
  let lost = 0;
  let corrupt = 0;
  let kept = 0;
  for (const seed of seeds) {
    seedWith(`power ${seed}`);
    const host = machine(`power ${seed}`);
    const history = newHistory();
    const process = host.start("probe");
    const spool = await finish(time, process, () => spoolIn(history));
    process.run(() => void addForever(spool, history, seed));
    const random = makeSeededRandom(`power ${seed}`);
    await passFor(random.integer(1, 5_000));
    const old = new Set(history.flushed);
    // the spool promises to lose no more than the last half minute
    const isLong = seed % 10 === 0;
    await killAt(process, isLong ? 30_500 : 1);
    const samples = newHistory();
    host.disk.crash({ zeros: seed % 2 === 1 });
    corrupt += (await reopened(host, samples)).corrupt;
    lost += missing({ ...history, returned: samples.returned }).length;
    kept += samples.returned.length;
    if (isLong) t.same(missing({ ...samples, flushed: old }), [], `seed ${seed}: samples of half a minute before`);
    if (samples.returned.some((n) => !(n >= 0 && n < history.added)))
      t.fail(`seed ${seed}: a sample that was not added`);
    await worksAgain(t, host, samples, seed);
  }
  t.ok(lost > 0 && kept > 0, `lost ${lost}, kept ${kept}, corrupt ${corrupt}`);
  t.ok(corrupt > 0, "holes are counted as corrupt");
  t.same(crashes(), []);
});

/** The spool that a power failure has left takes samples, and returns them. */
async function worksAgain(t: Test, host: SimulatedMachine, history: History, seed: number): Promise<void> {
  const process = host.start("probe after the power failure");
  history.returned = [];
  await finish(time, process, async () => {
    const spool = await spoolIn(history);
    for (let n = 0; n < 50; n += 1) spool.add(numbered(n));
    t.equal(await spool.flush(), true, `seed ${seed}: it takes samples`);
    await readAll(spool, history);
    await spool.close();
  });
  t.equal(new Set(history.returned).size, 50, `seed ${seed}: it returns them`);
}

void t.test("a flipped bit costs one line, or two", async (t) => {
  for (const seed of seeds.slice(0, 20)) {
    seedWith(`corrupt ${seed}`);
    const host = machine(`corrupt ${seed}`);
    const history = newHistory();
    const process = host.start("probe");
    const spool = await finish(time, process, () => spoolIn(history));
    process.run(() => void addForever(spool, history, seed));
    await passFor(2_000);
    process.kill();
    const file = host.disk.files().find(({ path, sizeBytes }) => path.endsWith(".samples") && sizeBytes > 500)!;
    host.disk.corrupt(file.path);
    const { corrupt } = await reopened(host, history);
    t.ok(missing(history).length <= 2 && corrupt <= 2, `seed ${seed}: ${missing(history).length} lost`);
    if (missing(history).length > 0) t.ok(corrupt > 0 || endsTorn(history), `seed ${seed}: the loss is noticed`);
  }
});

function endsTorn({ log }: History): boolean {
  return log.some((line) => line.includes("partial line"));
}

void t.test("two processes of one machine never share a directory, one takes over after a kill", async (t) => {
  for (const seed of seeds.slice(0, 20)) {
    seedWith(`lock ${seed}`);
    const host = machine(`lock ${seed}`);
    host.disk.setLatency({ leastUs: 10, mostUs: 5_000 });
    const probes = ["one", "two"].map((name) => host.start(name));
    const places: string[] = [];
    for (const probe of probes) probe.run(() => void spoolIn(newHistory()).then((spool) => places.push(spool.process)));
    await passFor(4_000);
    t.equal(new Set(places).size, 2, `seed ${seed}: each has a directory of its own`);
    const before = new Set(places);
    probes[0]!.kill();
    const again = await finish(time, host.start("again"), async () => (await spoolIn(newHistory())).process);
    t.ok(before.has(again), `seed ${seed}: the next one takes the dead one's`);
  }
  t.same(crashes(), []);
});

function crashes(): string[] {
  return time.crashes.map(({ process, error }) => `${process}: ${String((error as Error).stack)}`);
}

void t.test(
  "after a disk that failed at the start, a probe takes its own directory, and delivers the samples there",
  async (t) => {
    const own = machine("failing at the start");
    const [before, after] = [newHistory(), newHistory()];
    const first = own.start("first");
    const { process: identity } = await finish(time, first, async () => {
      const spool = await spoolIn(before);
      spool.add(numbered(1));
      await spool.flush();
      return spool;
    });
    first.kill();
    own.disk.fail("scandir", "EIO", 1);
    const second = own.start("second");
    const spool = await finish(time, second, () => spoolIn(after));
    await passFor(2_000);
    own.disk.fail("scandir", "EIO", 0);
    // the directory is taken with the next write
    second.run(() => spool.add(numbered(2)));
    await passFor(5_000);
    await finish(time, second, () => readAll(spool, after));
    t.strictSame(after.returned, [1, 2]);
    second.kill();
    const third = own.start("third");
    t.equal((await finish(time, third, () => spoolIn(newHistory()))).process, identity, "and keeps its identity");
    third.kill();
  },
);

void t.test("an identity that cannot be read at a start is there at the next one", async (t) => {
  const own = machine("unreadable identity");
  const identities: string[] = [];
  for (const share of [0, 1, 0]) {
    const process = own.start(`with ${share}`);
    own.disk.fail("read", "EIO", share);
    identities.push((await finish(time, process, () => spoolIn(newHistory()))).process);
    process.kill();
  }
  t.not(identities[1], identities[0]);
  t.equal(identities[2], identities[0]);
});
