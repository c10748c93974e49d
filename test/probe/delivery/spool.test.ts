/** Samples that wait on the disk for the database: torn and corrupt files, a full spool, full and read-only disks. */
import { execFile } from "node:child_process";
import { closeSync, constants, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import t, { type Test } from "tap";
import { openBacklog } from "../../../probe/delivery/backlog.js";
import { startShip } from "../../../probe/delivery/ship.js";
import { lineOf, sampleOf } from "../../../probe/delivery/spool-record.js";
import type { Spool } from "../../../probe/delivery/spool.js";
import { makeLog } from "../../../shared/log/log.js";
import { packagedFile } from "../../../shared/config/package.js";
import type { Sample } from "../../../shared/measurement/sample.js";
import { madeSample } from "../../support/made-sample.js";
import { randomFrom } from "../../support/random-samples.js";
import { someSpool, spoolDirectory } from "../../support/spool.js";
import type { DiskReport } from "../../support/spool-disk-process.js";
import { until } from "../../support/until.js";
import { usedBytes } from "../../support/used-bytes.js";

const quiet = makeLog("test", "error", () => {});
const numbered = (n: number) => madeSample({ slotAt: new Date(n) });
const numberOf = ({ slotAt }: Sample) => +slotAt;
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);

void t.test("a sample reads back as it was written", (t) => {
  const full: Sample = {
    venue: "kraken",
    component: "ws:trades, “quoted”\n",
    slotAt: new Date(1_790_000_000_123),
    lateMs: 51,
    good: false,
    fault: "stall",
    refusal: "60018 “no such channel”",
    unserved: true,
    latencyUs: 1,
    dnsUs: 0,
    connectUs: 2,
    tlsUs: 3,
    firstByteUs: 4,
    fresh: false,
    certificateExpiresAt: new Date(1_800_000_000_000),
    httpStatus: 502,
    head: 23_000_000_000,
    clockErrorMs: -1900,
    clockErrorWithinMs: 40,
    messages: 0,
    quietMs: 2 ** 31,
    eventAgeMs: -5,
    sequenceGaps: 7,
  };
  for (const sample of [full, madeSample()]) t.strictSame(sampleOf(lineWithoutEnd(sample)), sample);
  t.equal(lineOf(full).split("\n").length, 2, "one line");
  t.notMatch(lineOf(madeSample()), "unserved");
  t.equal(sampleOf(lineWithoutEnd(madeSample()))!.unserved, null, "a line from before this field existed is whole");
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
    const { read, corrupt } = await readAll(directory);
    const expected = upTo(ends.filter((end) => end <= cut).length);
    if (String(read) !== String(expected) || corrupt !== 0)
      t.strictSame({ cut, read, corrupt }, { cut, read: expected, corrupt: 0 });
  }
  const random = randomFrom(5);
  for (let at = 0; at < whole.length; at += 5) {
    const broken = Buffer.from(whole);
    broken[at]! ^= 1 + Math.floor(255 * random());
    writeFileSync(file, broken);
    const { read, corrupt } = await readAll(directory);
    const line = ends.findIndex((end) => at < end);
    // a line with a corrupt end runs into the next
    const hit = at === ends[line]! - 1 ? [line, line + 1] : [line];
    const expected = upTo(12).filter((n) => !hit.includes(n));
    const isCut = hit.includes(12);
    if (String(read) !== String(expected) || (corrupt === 0 && !isCut))
      t.strictSame({ at, read, corrupt }, { at, read: expected, corrupt: 1 });
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

void t.test("another probe of the region delivers a dead probe's samples, in order", async (t) => {
  const directory = await spoolDirectory(t);
  const living = await someSpool(t, { directory, adoptAfterMs: 20 });
  const dead = await someSpool(t, { directory, segmentBytes: 1000 });
  upTo(2000).forEach((n) => dead.add(numbered(n)));
  await dead.close();
  t.ok(filesIn(join(directory, "2")).length > 1);
  const { ship, read } = shipping(living);
  for (let n = 2000; read.length < 2003; n += 1) {
    if (n < 2003) ship.add(numbered(n));
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await ship.close();
  t.same(
    read.filter((n) => n < 2000),
    upTo(2000),
  );
  t.same(
    read.filter((n) => n >= 2000),
    [2000, 2001, 2002],
  );
  t.same(filesIn(join(directory, "2")), []);
  t.ok(readdirSync(join(directory, "2")).includes("process"), "only the dead probe's process id is left");
});

void t.test(
  "a file that is created while the last adopted file is deleted is not taken for an adopted one",
  async (t) => {
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
  },
);

void t.test("dead probes' samples are delivered, with any foreign files beside them", async (t) => {
  const directory = await spoolDirectory(t);
  for (const name of ["2", "4"]) {
    mkdirSync(join(directory, name));
    const n = Number(name);
    writeFileSync(join(directory, name, "000000000001.samples"), lineOf(numbered(n)));
  }
  writeFileSync(join(directory, "3"), "no directory");
  const spool = await someSpool(t, { directory, adoptAfterMs: 20 });
  const { ship, read } = shipping(spool);
  await until(() => read.length === 2);
  await ship.close();
  t.same(read, [2, 4]);
  t.same(filesIn(join(directory, "2")), []);
  const others = await Promise.all([someSpool(t, { directory }), someSpool(t, { directory })]);
  t.same(
    others.map(({ status }) => status().trouble),
    [null, null],
    "the directories are released again",
  );
  await Promise.all(others.map((one) => one.close()));
});

void t.test("an unreadable file is left alone, and no other file is lost", async (t) => {
  const directory = await spoolDirectory(t);
  const own = join(directory, "1");
  mkdirSync(join(own, "000000000002.samples"), { recursive: true });
  writeFileSync(join(own, "000000000001.samples"), lineOf(numbered(1)));
  const lines: string[] = [];
  const log = makeLog("test", "error", (line) => lines.push(line));
  const spool = await someSpool(t, { directory, log });
  t.match(spool.status(), { waiting: 1, trouble: null });
  t.match(lines, [/cannot read a file of the spool, and skip it: the file stays.*0002/]);
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
  await promisify(execFile)("mkfifo", [hanging]);
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
  const lines: string[] = [];
  const spool = await someSpool(t, {
    maxBytes: 100_000,
    segmentBytes: 10_000,
    log: makeLog("test", "error", (line) => lines.push(line)),
  });
  for (const n of upTo(3000)) {
    spool.add(numbered(n));
    if (n % 50 === 0) await spool.flush();
  }
  await spool.flush();
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
  const told: number[] = [];
  const spool = await someSpool(t, {
    maxBytes: 10_000,
    segmentBytes: 2_000,
    tellEveryMs: 200,
    log: makeLog("test", "error", (line) => told.push(Number(/dropped=(\d+)/.exec(line)![1]))),
  });
  for (const n of upTo(300)) {
    spool.add(numbered(n));
    if (n % 10 === 0) await spool.flush();
  }
  await spool.flush();
  const { dropped } = spool.status();
  const all = () => told.reduce((sum, one) => sum + one, 0);
  t.ok(all() < dropped, "not each drop is logged at once");
  await until(() => all() === dropped);
  t.ok(told.length < 10);
  await spool.close();
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
  const again = spool.flush();
  t.equal(await again, true, "later samples are reported as written");
  await spool.close();
});

void t.test("a batch in flight when the spool is full is not counted as dropped", async (t) => {
  const spool = await someSpool(t, { maxBytes: 30_000, segmentBytes: 10_000 });
  upTo(50).forEach((n) => spool.add(numbered(n)));
  await spool.flush();
  const batch = (await spool.next(20))!;
  for (const n of upTo(1000).slice(50)) {
    spool.add(numbered(n));
    if (n % 20 === 0) await spool.flush();
  }
  await spool.flush();
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
    spool,
    log: quiet,
    flushEveryMs: 10,
    record(samples) {
      if (away) return Promise.reject(new Error("the database is away"));
      for (const sample of samples) if (numberOf(sample) !== next++) throw new Error("out of order");
      const stored = samples.length;
      return Promise.resolve({ stored, duplicates: 0, refused: 0 });
    },
  });
  // as objects in memory they would take thirteen million bytes
  const many = 40_000;
  const feed = async (from: number, to: number) => {
    for (let n = from; n < to; n += 1) {
      ship.add(numbered(n));
      if (n % 500 === 499) await spool.flush();
    }
  };
  await feed(0, 10_000);
  const before = usedBytes();
  await feed(10_000, many);
  const grown = usedBytes() - before;
  const { spoolBytes, waiting } = spool.status();
  t.equal(waiting, many);
  t.ok(spoolBytes > 100 * many);
  t.ok(grown < 4 * 2 ** 20, `${grown} bytes more, ${spoolBytes} in the spool`);
  away = false;
  await until(() => spool.status().waiting === 0, 30_000);
  t.equal(next, many);
  t.equal(ship.status().shipped, many);
  await ship.close();
});

const scenarios = ["full", "crowded", "read-only"] as const;
for (const scenario of scenarios)
  void t.test(`a disk that is ${scenario}`, async (t) => {
    const report = await onSmallDisk(t, scenario);
    if (!report) return t.pass("this machine cannot mount a separate disk");
    t.equal(report.added, report.delivered + report.dropped);
    t.match(report.troubleMeanwhile, new RegExp(report.expected));
    t.equal(report.trouble, null, "the spool recovers without help");
    t.equal(report.inOrder, true);
    if (scenario !== "full") t.equal(report.dropped, 0, "nothing is lost");
    else t.ok(report.dropped > 0 && report.newestCame);
  });

void t.test("a partial write leaves no half line behind", async (t) => {
  const directory = await spoolDirectory(t);
  // files are limited to 8 KiB: the kernel accepts part of a write, and then nothing
  const { stdout } = await promisify(execFile)("bash", [
    "-c",
    'ulimit -f 8; exec "$@"',
    "bash",
    process.execPath,
    packagedFile("dist/test/support/spool-disk-process.js"),
    "limited",
    directory,
  ]);
  const report = JSON.parse(stdout) as DiskReport;
  t.match(report, { dropped: 0, corrupt: 0, inOrder: true, trouble: null });
  t.equal(report.delivered, report.added);
  t.match(report.troubleMeanwhile, /EFBIG/);
});

/** Runs in a separate file system of a few hundred kilobytes. Null where this machine cannot create one. */
async function onSmallDisk(t: Test, scenario: string): Promise<DiskReport | null> {
  const directory = await spoolDirectory(t);
  const run = promisify(execFile);
  const alone = ["--user", "--mount", "--map-root-user"];
  const mount = ["mount", "-t", "tmpfs", "-o", "size=400k", "spool", directory];
  const isPossible = await run("unshare", [...alone, ...mount]).then(
    () => true,
    () => false,
  );
  if (!isPossible) return null;
  const program = packagedFile("dist/test/support/spool-disk-process.js");
  const { stdout } = await run("unshare", [
    ...alone,
    "sh",
    "-c",
    `${mount.map((word) => `'${word}'`).join(" ")} && exec "$@"`,
    "sh",
    process.execPath,
    program,
    scenario,
    directory,
  ]);
  return JSON.parse(stdout) as DiskReport;
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

function shipping(spool: Spool) {
  const read: number[] = [];
  const ship = startShip({
    spool,
    log: quiet,
    flushEveryMs: 10,
    record(samples) {
      read.push(...samples.map(numberOf));
      const stored = samples.length;
      return Promise.resolve({ stored, duplicates: 0, refused: 0 });
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
