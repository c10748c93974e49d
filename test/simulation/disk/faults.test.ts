/** Faults of a simulated disk, and the paths that it leaves to the real one. */
import fs, { createReadStream, existsSync, readFileSync, statSync } from "node:fs";
import { access, mkdir, open, readdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { performance } from "node:perf_hooks";
import { promisify } from "node:util";
import t from "tap";
import { keepOwnerPassword } from "../../../shared/config/embedded-passwords.js";
import { packagedFile } from "../../../shared/config/package.js";
import { makeLog } from "../../../shared/log/log.js";
import { finish, simulation } from "./simulated-machine.js";

const { time, machine, seedWith } = simulation("faults");
const root = "/simulated";
const packageFile = packagedFile("package.json");
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (error: unknown) => (error as NodeJS.ErrnoException).code ?? String(error),
  );

function hostNamed(name: string) {
  seedWith(name);
  const host = machine(name);
  return { ...host, run: <Result>(work: () => Promise<Result>) => finish(time, host.start("program"), work) };
}

void t.test("a full disk takes a part of a write, then nothing, and takes it again when it is larger", async (t) => {
  const { disk, run } = hostNamed("full");
  disk.setCapacity(100);
  await run(async () => {
    const file = await open(`${root}/file`, "w");
    t.equal((await file.write(Buffer.alloc(70), 0, 70, 0)).bytesWritten, 70);
    t.equal((await file.write(Buffer.alloc(70), 0, 70, 70)).bytesWritten, 30, "as much as fits");
    t.equal(await codeOf(file.write(Buffer.alloc(70), 0, 70, 100)), "ENOSPC");
    t.equal(await codeOf(file.write(Buffer.alloc(10), 0, 10, 20)), "done", "overwriting needs no space");
    t.equal(await codeOf(writeFile(`${root}/other`, "text")), "ENOSPC");
    t.same(await readdir(root), ["file", "other"], "its file was made nevertheless");
    await file.truncate(50);
    t.equal(await codeOf(writeFile(`${root}/other`, "text")), "done");
  });
  t.equal(disk.usedBytes(), 54);
  disk.setCapacity(Infinity);
  await run(() => writeFile(`${root}/large`, Buffer.alloc(1_000_000)));
  t.same(
    disk.files().map(({ path, sizeBytes }) => [path, sizeBytes]),
    [
      [`${root}/file`, 50],
      [`${root}/other`, 4],
      [`${root}/large`, 1_000_000],
    ],
  );
});

void t.test("a read-only disk is read, and not changed, also by open files", async (t) => {
  const { disk, run } = hostNamed("read-only");
  await run(async () => {
    await writeFile(`${root}/file`, "text");
    const file = await open(`${root}/file`, "r+");
    disk.setReadOnly(true);
    const changes = [
      ...[writeFile(`${root}/file`, "other"), writeFile(`${root}/new`, ""), mkdir(`${root}/new`), rm(`${root}/file`)],
      ...[rename(`${root}/file`, `${root}/new`), access(`${root}/file`, 2), file.write("other"), file.truncate(0)],
    ];
    t.same(new Set(await Promise.all(changes.map(codeOf))), new Set(["EROFS"]));
    t.equal(await readFile(`${root}/file`, "utf8"), "text");
    disk.setReadOnly(false);
    t.equal(await codeOf(file.write("other")), "done");
  });
});

void t.test("a share of one kind of call fails, or of all", async (t) => {
  const { disk, run } = hostNamed("share");
  await run(async () => {
    await writeFile(`${root}/file`, "text");
    disk.fail("stat", "EIO", 0.25);
    const codes = await Promise.all(Array.from({ length: 400 }, () => codeOf(stat(`${root}/file`))));
    const failed = codes.filter((code) => code === "EIO").length;
    t.ok(failed > 60 && failed < 140, `${failed} of 400`);
    await t.rejects(Promise.all(Array.from({ length: 40 }, () => stat(`${root}/file`))), {
      code: "EIO",
      errno: -5,
      syscall: "stat",
      path: `${root}/file`,
      message: `EIO: i/o error, stat '${root}/file'`,
    });
    t.equal(await codeOf(readFile(`${root}/file`)), "done");
    disk.fail("all", "EIO", 1);
    t.equal(await codeOf(readFile(`${root}/file`)), "EIO");
    t.equal(existsSync(`${root}/file`), false);
    disk.fail("all", "EIO", 0);
    disk.fail("stat", "EIO", 0);
    t.equal(await codeOf(stat(`${root}/file`)), "done");
  });
  t.throws(() => disk.fail("stat", "EWRONG", 1), /expected the code of a system error/);
});

void t.test("a write that fails may have written a part", async (t) => {
  const { disk, run } = hostNamed("part");
  const sizes = new Set<number>();
  await run(async () => {
    for (let n = 0; n < 50; n += 1) {
      disk.fail("write", "EIO", 1);
      t.equal(await codeOf(writeFile(`${root}/file`, "0123456789")), "EIO");
      sizes.add((await stat(`${root}/file`)).size);
    }
  });
  t.ok(sizes.size > 3 && !sizes.has(10), [...sizes].join(" "));
});

void t.test("a process has only so many open files", async (t) => {
  const { disk, run } = hostNamed("files");
  disk.setMaxOpenFiles(3);
  await run(async () => {
    await writeFile(`${root}/file`, "");
    const files = await Promise.all([1, 2, 3].map(() => open(`${root}/file`)));
    t.equal(await codeOf(readFile(`${root}/file`)), "EMFILE");
    await files[0]!.close();
    t.equal(await codeOf(readFile(`${root}/file`)), "done");
  });
});

void t.test("calls wait while the disk stalls, and take time otherwise", async (t) => {
  const { disk, run } = hostNamed("stall");
  const took = async (work: () => Promise<unknown>) => {
    const begun = performance.now();
    await work();
    return performance.now() - begun;
  };
  await run(async () => {
    const usual = await took(() => mkdir(`${root}/a`));
    t.ok(usual >= 0.009 && usual <= 0.11, `${usual} ms`);
    disk.setLatency({ leastUs: 5_000, mostUs: 9_000 });
    const slow = await took(() => mkdir(`${root}/b`));
    t.ok(slow >= 5 && slow <= 9, `${slow} ms`);
    const begun = mkdir(`${root}/c`);
    disk.stall(time.nowMs() + 10_000);
    const stalled = await took(() => Promise.all([begun, mkdir(`${root}/d`)]));
    t.ok(stalled >= 10_000 && stalled <= 10_020, `${stalled} ms`);
    disk.stall(Infinity);
    setTimeout(() => disk.stall(0), 3_000);
    const released = await took(() => mkdir(`${root}/e`));
    t.ok(released >= 3_000 && released <= 3_020, `${released} ms`);
  });
});

void t.test("each machine has its own disk, and times of files are those of its clock", async (t) => {
  seedWith("clock");
  const [one, other] = [machine("early", -60_000), machine("late", 3_600_000)];
  await finish(time, one.start("program"), () => writeFile(`${root}/file`, "one"));
  await finish(time, other.start("program"), async () => {
    t.same(await readdir(root), []);
    await writeFile(`${root}/file`, "other");
    const { mtimeMs, mtime } = await stat(`${root}/file`);
    t.ok(Math.abs(mtimeMs - Date.now()) < 1, "the time that the program sees");
    t.ok(Math.abs(mtimeMs - time.nowMs() - 3_600_000) < 1);
    t.ok(mtime instanceof Date);
  });
  t.equal(existsSync(`${root}/file`), false, "outside of a process, the real disk");
});

void t.test("real paths stay real, and virtual time waits for them", async (t) => {
  const { run } = hostNamed("real");
  const text = readFileSync(packageFile, "utf8");
  await run(async () => {
    const begun = performance.now();
    t.equal(await readFile(packageFile, "utf8"), text);
    const file = await open(packageFile);
    t.equal(await file.readFile("utf8"), text);
    await file.close();
    t.equal((await promisify(fs.stat)(packageFile)).size, text.length);
    const streamed: Buffer[] = [];
    for await (const piece of createReadStream(packageFile)) streamed.push(piece as Buffer);
    t.equal(Buffer.concat(streamed).toString(), text);
    t.equal(performance.now() - begun, 0, "no virtual time");
    t.equal(await codeOf(readFile("/nowhere/file")), "ENOENT");
    t.equal(await codeOf(open("/nowhere/file")), "ENOENT");
    await writeFile(`${root}/file`, "text");
    t.throws(() => rename(packageFile, `${root}/package.json`), { code: "EXDEV" });
  });
});

void t.test("blocking functions know the simulated disk, and functions that are not simulated say so", async (t) => {
  const { run } = hostNamed("blocking");
  await run(async () => {
    await writeFile(`${root}/file`, "text");
    t.equal(readFileSync(`${root}/file`, "utf8"), "text");
    t.equal(statSync(`${root}/file`).size, 4);
    t.equal(statSync(`${root}/none`, { throwIfNoEntry: false }), undefined);
    t.throws(() => statSync(`${root}/none`), { code: "ENOENT", syscall: "stat", path: `${root}/none` });
    t.throws(() => readFileSync(root), { code: "EISDIR", syscall: "read" });
    t.equal(existsSync(`${root}/file`), true);
    t.equal(existsSync(new URL(`file://${root}/file`)), true);
    t.throws(() => createReadStream(`${root}/file`), /the simulated disk has no fs.createReadStream/);
    t.throws(() => fs.writeFileSync(`${root}/file`, ""), /has no fs.writeFileSync/);
    t.throws(() => symlink(`${root}/file`, `${root}/link`), /has no fs.promises.symlink/);
    const file = await open(`${root}/file`);
    t.throws(() => file.createReadStream(), /has no FileHandle.createReadStream/);
    t.throws(() => fs.fstatSync(file.fd), /has no fstatSync of a descriptor/);
  });
});

void t.test("the embedded database's password is kept on the simulated disk", async (t) => {
  const { disk, run } = hostNamed("password");
  const log = makeLog("core", "error", () => {});
  const first = await run(() => keepOwnerPassword(root, log));
  t.equal(await run(() => keepOwnerPassword(root, log)), first);
  t.equal(disk.files()[0]!.bytes.toString(), `${first}\n`);
  t.equal(await run(async () => (await stat(`${root}/database.password`)).mode & 0o777), 0o600);
});
