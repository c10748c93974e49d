/** Samples that wait on the disk for the database: torn and corrupt files, a full spool, full and read-only disks. */
import { execFile, spawnSync } from "node:child_process";
import { closeSync, constants, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import t, { type Test } from "tap";
import { openBacklog } from "../../../probe/delivery/backlog.js";
import { startShip } from "../../../probe/delivery/ship.js";
import { lineOf, sampleOf } from "../../../probe/delivery/spool-segment.js";
import type { Spool } from "../../../probe/delivery/spool.js";
import { makeLog } from "../../../shared/log/log.js";
import { packagedFile } from "../../../shared/config/package.js";
import type { Sample } from "../../../shared/measurement/sample.js";
import { listeningLog } from "../../support/listening-log.js";
import { madeSample } from "../../support/made-sample.js";
import { randomFrom } from "../../support/random-samples.js";
import { someSpool, spoolDirectory } from "../../support/spool.js";
import type { DiskReport } from "../../support/spool-disk-process.js";
import { until } from "../../support/until.js";
import { usedBytes } from "../../support/used-bytes.js";

const run = promisify(execFile);
const quiet = makeLog("test", "error", () => {});
const numbered = (n: number) => madeSample({ slotAt: new Date(n) });
const numberOf = ({ slotAt }: Sample) => +slotAt;
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);
const diskProgram = packagedFile("dist/test/support/spool-disk-process.js");

void t.test("a sample reads back as it was written", (t) => {
  const full: Sample = {
    ...{ venue: "kraken", component: "ws:trades, “quoted”\n", slotAt: new Date(1_790_000_000_123), lateMs: 51 },
    ...{ good: false, fault: "stall", refusal: "60018 “no such channel”", unserved: true },
    ...{ latencyUs: 1, dnsUs: 0, connectUs: 2, tlsUs: 3, firstByteUs: 4, fresh: false },
    ...{ certificateExpiresAt: new Date(1_800_000_000_000), httpStatus: 502, head: 23_000_000_000 },
    ...{ clockErrorMs: -1900, clockErrorWithinMs: 40, eventAgeMs: -5 },
    ...{ messages: 0, quietMs: 2 ** 31, sequenceGaps: 7 },
  };
  for (const sample of [full, madeSample()]) t.strictSame(sampleOf(lineWithoutEnd(sample)), sample);
  t.equal(lineOf(full).split("\n").length, 2, "one line");
  t.notMatch(lineOf(madeSample()), "unserved");
  t.equal(sampleOf(lineWithoutEnd(madeSample()))!.unserved, null, "a line without this field is whole");
  const broken = sampleOf(lineWithoutEnd(madeSample({ latencyUs: NaN })));
  t.equal(broken!.latencyUs, "NaN", "the database rejects NaN");
  t.end();
});

void t.test("every whole line of a truncated or corrupt file is read", async (t) => {
  const directory = await spoolDirectory(t);
  const file = join(directory, "000000000001.samples");
  const lines = upTo(12).map((n) => Buffer.from(lineOf(numbered(n))));
  const whole = Buffer.concat(lines);
  const ends = lines.map((_, i) => lines.slice(0, i + 1).reduce((sum, { length }) => sum + length, 0));
  for (let cut = 0; cut <= whole.length; cut += 3) {
    writeFileSync(file, whole.subarray(0, cut));
    const expected = upTo(ends.filter((end) => end <= cut).length);
    t.strictSame(await readAll(directory), { read: expected, corrupt: 0 }, `cut at ${cut}`);
  }
  const random = randomFrom(5);
  for (let at = 0; at < whole.length; at += 5) {
    const broken = Buffer.from(whole);
    broken[at]! ^= 1 + Math.floor(255 * random());
    writeFileSync(file, broken);
    const line = ends.findIndex((end) => at < end);
    // a line with a corrupt end runs into the next
    const hit = at === ends[line]! - 1 ? [line, line + 1] : [line];
    const expected = upTo(12).filter((n) => !hit.includes(n));
    const { read, corrupt } = await readAll(directory);
    t.strictSame(read, expected, `corrupt at ${at}`);
    t.ok(corrupt > 0 || hit.includes(12), "the loss is counted, unless the file seems to be cut");
  }
  t.same(readdirSync(directory), [], "no file is left");
});

void t.test("samples added after a torn line are not joined to it", async (t) => {
  const directory = await spoolDirectory(t);
  const first = await someSpool(t, { directory });
  upTo(3).forEach((n) => first.add(numbered(n)));
  await first.close();
  const [place] = readdirSync(directory) as [string];
  const [file] = filesIn(join(directory, place)) as [string];
  const whole = readFileSync(file);
  writeFileSync(file, whole.subarray(0, whole.length - 30));

  const second = await someSpool(t, { directory });
  t.equal(second.process, first.process, "a restarted probe keeps its process id");
  t.match(second.status(), { waiting: 2, corrupt: 0, trouble: null });
  second.add(numbered(3));
  t.same(await shipAll(second), [0, 1, 3]);
  t.same(filesIn(join(directory, place)), [], "delivered files are deleted");
});

void t.test("a spool directory has one live owner", async (t) => {
  const directory = await spoolDirectory(t);
  const one = await someSpool(t, { directory });
  const other = await someSpool(t, { directory });
  t.not(one.process, other.process);
  t.same(readdirSync(directory), ["1", "2"]);
  await one.close();
  const again = await someSpool(t, { directory });
  t.equal(again.process, one.process, "a new probe takes the first free directory");
  await Promise.all([other.close(), again.close()]);
});

void t.test("another probe of the region delivers dead probes' samples, beside any foreign files", async (t) => {
  const directory = await spoolDirectory(t);
  const living = await someSpool(t, { directory, adoptAfterMs: 20 });
  const dead = await someSpool(t, { directory, segmentBytes: 1000 });
  upTo(2000).forEach((n) => dead.add(numbered(n)));
  await dead.close();
  t.ok(filesIn(join(directory, "2")).length > 1);
  writeFileSync(join(directory, "3"), "no directory");
  mkdirSync(join(directory, "4"));
  writeFileSync(join(directory, "4", "000000000001.samples"), lineOf(numbered(2000)));
  const { ship, read } = shipping(living);
  for (let n = 2001; read.length < 2004; n += 1) {
    if (n < 2004) ship.add(numbered(n));
    await sleep(10);
  }
  await ship.close();
  const [adopted, own] = [read.filter((n) => n <= 2000), read.filter((n) => n > 2000)];
  t.same([...adopted, ...own], upTo(2004), "each probe's samples in order");
  t.same(filesIn(join(directory, "2")), []);
  t.ok(readdirSync(join(directory, "2")).includes("process"), "only the dead probe's process id is left");
  const others = await Promise.all([someSpool(t, { directory }), someSpool(t, { directory })]);
  for (const { status } of others) t.equal(status().trouble, null, "the directories are released again");
  await Promise.all(others.map((one) => one.close()));
});

void t.test("a file created while the last adopted one is deleted is not taken for an adopted one", async (t) => {
  const directory = await spoolDirectory(t);
  const rounds = 40;
  let delivered = 0;
  for (let round = 0; round < rounds; round += 1) {
    const old = await someSpool(t, { directory });
    old.add(numbered(2 * round));
    await old.close();
    const spool = await someSpool(t, { directory });
    (await spool.next(1))!.done();
    spool.add(numbered(2 * round + 1));
    const next = spool.next(1);
    // before, during and after the creation of the file
    for (let i = 0; i < round % 8; i += 1) await new Promise(setImmediate);
    t.ok(await spool.flush());
    const batch = (await next) ?? (await spool.next(1));
    delivered += batch?.samples.length ?? 0;
    batch?.done();
    await spool.close();
  }
  t.equal(delivered, rounds);
});

void t.test("an unreadable file is left alone, and no other file is lost", async (t) => {
  const directory = await spoolDirectory(t);
  const own = join(directory, "1");
  mkdirSync(join(own, "000000000002.samples"), { recursive: true });
  writeFileSync(join(own, "000000000001.samples"), lineOf(numbered(1)));
  const { log, lines } = listeningLog();
  const spool = await someSpool(t, { directory, log });
  t.match(spool.status(), { waiting: 1, trouble: null });
  t.match(lines, [/cannot read a file of the spool.*0002/]);
  spool.add(numbered(2));
  t.ok(await spool.flush(), "new files are written beside it");
  t.same(await shipAll(spool), [1, 2]);
  t.same(filesIn(own), [join(own, "000000000002.samples")]);
});

void t.test("a probe starts on a disk that hangs, and delivers its samples once it answers", async (t) => {
  const directory = await spoolDirectory(t);
  mkdirSync(join(directory, "1"));
  // reading it hangs as on a network disk
  const hanging = join(directory, "1", "000000000001.samples");
  await run("mkfifo", [hanging]);
  const spool = await someSpool(t, { directory, answersWithinMs: 50, writeEveryMs: 5 });
  t.match(spool.status().trouble, /the disk has not answered for 0.05 s/);
  const { ship, read } = shipping(spool);
  ship.add(numbered(1));
  await until(() => read.length === 1);
  const { O_RDWR, O_NONBLOCK } = constants;
  await until(() => {
    // each time: on a loaded machine the spool may begin to read after the first
    closeSync(openSync(hanging, O_RDWR | O_NONBLOCK));
    ship.add(numbered(2));
    return spool.status().trouble === null;
  });
  t.ok(await spool.flush());
  await ship.close();
  t.same([...new Set(read)], [1, 2]);
});

void t.test("a full spool drops its oldest samples, and counts them", async (t) => {
  const { log, lines } = listeningLog();
  const spool = await someSpool(t, { maxBytes: 100_000, segmentBytes: 10_000, log });
  await addAll(spool, upTo(3000), 50);
  const { waiting, dropped, spoolBytes, spoolUsed, trouble } = spool.status();
  t.ok(spoolBytes <= 100_000 && spoolBytes > 80_000, `${spoolBytes} bytes`);
  t.equal(spoolUsed, spoolBytes / 100_000);
  t.ok(dropped > 0);
  t.equal(waiting + dropped, 3000);
  t.match(trouble, /is full, and the oldest samples are dropped/);
  t.equal(lines.length, 1, "logged once");
  t.match(lines[0], /dropped the oldest samples for lack of space dropped=\d+/);
  t.same(await shipAll(spool), upTo(3000).slice(dropped));
});

void t.test("all dropped samples are logged, at intervals", async (t) => {
  const { log, lines } = listeningLog();
  const spool = await someSpool(t, { maxBytes: 10_000, segmentBytes: 2_000, logEveryMs: 3_600_000, log });
  await addAll(spool, upTo(300), 10);
  const { dropped } = spool.status();
  const logged = () => lines.reduce((sum, line) => sum + Number(/dropped=(\d+)/.exec(line)![1]), 0);
  t.equal(lines.length, 1);
  t.ok(logged() < dropped, "later drops wait for the end of the interval");
  await spool.close();
  t.equal(lines.length, 2);
  t.ok(logged() >= dropped, "shutdown logs those that are left");
});

void t.test("samples dropped before they were written are not reported as written", async (t) => {
  const spool = await someSpool(t, { maxInMemory: 600 });
  upTo(590).forEach((n) => spool.add(numbered(n)));
  const written = spool.flush();
  upTo(500).forEach((n) => spool.add(numbered(590 + n)));
  t.equal(await written, false);
  const { dropped, waiting } = spool.status();
  t.ok(dropped > 0);
  t.equal(dropped + waiting, 1090);
  spool.add(numbered(1090));
  t.equal(await spool.flush(), true, "later samples are reported as written");
  await spool.close();
});

void t.test("a batch in flight when the spool is full is not counted as dropped", async (t) => {
  const spool = await someSpool(t, { maxBytes: 30_000, segmentBytes: 10_000 });
  upTo(50).forEach((n) => spool.add(numbered(n)));
  await spool.flush();
  const batch = (await spool.next(20))!;
  await addAll(spool, upTo(1000).slice(50), 20);
  const { dropped } = spool.status();
  t.same(batch.samples.map(numberOf), upTo(20));
  batch.done();
  const rest = await shipAll(spool);
  t.equal(20 + dropped + rest.length, 1000);
  t.same(rest, upTo(1000).slice(1000 - rest.length));
});

void t.test("memory stays flat while the database is away, and all samples arrive afterwards", async (t) => {
  const spool = await someSpool(t);
  let away = true;
  let next = 0;
  const ship = startShip({
    ...{ spool, log: quiet, flushEveryMs: 10 },
    record(samples) {
      if (away) return Promise.reject(new Error("the database is away"));
      for (const sample of samples) if (numberOf(sample) !== next++) throw new Error("out of order");
      return Promise.resolve({ stored: samples.length, duplicates: 0, refused: 0 });
    },
  });
  // as objects in memory they would take thirteen million bytes
  const many = 40_000;
  const numbers = upTo(many);
  await addAll(spool, numbers.slice(0, 10_000), 500, ship);
  const before = usedBytes();
  await addAll(spool, numbers.slice(10_000), 500, ship);
  const grown = usedBytes() - before;
  const { spoolBytes, waiting } = spool.status();
  t.equal(waiting, many);
  t.ok(spoolBytes > 100 * many);
  t.ok(grown < 4 * 2 ** 20, `${grown} bytes more, ${spoolBytes} in the spool`);
  away = false;
  await until(() => spool.status().waiting === 0);
  t.equal(next, many);
  t.equal(ship.status().shipped, many);
  await ship.close();
});

for (const scenario of ["full", "crowded", "read-only", "limited"] as const)
  void t.test(`samples survive a disk that is ${scenario}`, async (t) => {
    const report = await onBadDisk(t, scenario);
    if (!report) return t.pass("this machine cannot mount a separate disk");
    t.equal(report.added, report.delivered + report.dropped);
    t.match(report.troubleMeanwhile, new RegExp(report.expected));
    t.match(report, { inOrder: true, trouble: null }, "the spool recovers without help");
    if (scenario === "full") t.ok(report.dropped > 0 && report.newestCame);
    else t.equal(report.dropped, 0, "nothing is lost");
    if (scenario === "limited") t.equal(report.corrupt, 0, "a partial write leaves no half line behind");
  });

/** Runs in a separate file system of a few hundred kilobytes, or with limited files. Null where that is impossible. */
async function onBadDisk(t: Test, scenario: string): Promise<DiskReport | null> {
  const directory = await spoolDirectory(t);
  const program = [process.execPath, diskProgram, scenario, directory];
  const read = async (command: string, args: string[]) =>
    JSON.parse((await run(command, [...args, ...program])).stdout) as DiskReport;
  // files of at most 8 KiB: the kernel accepts part of a write, and then nothing
  if (scenario === "limited") return read("bash", ["-c", 'ulimit -f 8; exec "$@"', "bash"]);
  const alone = ["--user", "--mount", "--map-root-user"];
  const mount = ["mount", "-t", "tmpfs", "-o", "size=400k", "spool", directory];
  if (spawnSync("unshare", [...alone, ...mount]).status !== 0) return null;
  const mounted = `${mount.map((word) => `'${word}'`).join(" ")} && exec "$@"`;
  return read("unshare", [...alone, "sh", "-c", mounted, "sh"]);
}

function lineWithoutEnd(sample: Sample): Buffer {
  return Buffer.from(lineOf(sample)).subarray(0, -1);
}

async function readAll(directory: string) {
  const backlog = await openBacklog(directory, quiet);
  const read: number[] = [];
  for (let batch; (batch = await backlog.next(5)); batch.done()) read.push(...batch.samples.map(numberOf));
  if (backlog.samples() !== 0) throw new Error("samples are left");
  return { read, corrupt: backlog.corrupt() };
}

/** Waits at each multiple of `flushEvery`, and at the end, until all are written. */
async function addAll(spool: Spool, numbers: readonly number[], flushEvery: number, to: Pick<Spool, "add"> = spool) {
  for (const n of numbers) {
    to.add(numbered(n));
    if (n % flushEvery === 0) await spool.flush();
  }
  await spool.flush();
}

function shipping(spool: Spool) {
  const read: number[] = [];
  const ship = startShip({
    ...{ spool, log: quiet, flushEveryMs: 10 },
    record(samples) {
      read.push(...samples.map(numberOf));
      return Promise.resolve({ stored: samples.length, duplicates: 0, refused: 0 });
    },
  });
  return { ship, read };
}

async function shipAll(spool: Spool): Promise<number[]> {
  const { ship, read } = shipping(spool);
  await ship.close();
  return read;
}

function filesIn(directory: string): string[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith(".samples"))
    .map((name) => join(directory, name));
}
