import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, renameSync, utimesSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { lockDirectory } from "../../../shared/process/directory-lock.js";

const lockModule = new URL("../../../shared/process/directory-lock.js", import.meta.url).href;

/** Starts a process that takes the lock, reports it, and holds it until it is killed. */
async function holderOf(directory: string) {
  const script = `
    const { lockDirectory } = await import(${JSON.stringify(lockModule)});
    await lockDirectory(${JSON.stringify(directory)});
    process.stdout.write("held");
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  return child;
}

void t.test("a held directory is refused, a released one is free", async (t) => {
  const directory = t.testdir();
  const first = await lockDirectory(directory);
  await t.rejects(lockDirectory(directory), {
    message: `The directory ${directory} is in use by process ${process.pid}: stop that process, or choose another directory with DATA_DIR.`,
  });
  await first.release();
  await first.release();
  const second = await lockDirectory(directory);
  await second.release();
  t.same(readdirSync(directory), [], "nothing is left");
});

void t.test("at most one of many contenders wins", async (t) => {
  const directory = t.testdir();
  const contenders = Array.from({ length: 8 }, () => lockDirectory(directory).catch(() => null));
  const winners = (await Promise.all(contenders)).filter((lock) => lock !== null);
  t.ok(winners.length <= 1, `${winners.length} won`);
  for (const winner of winners) await winner.release();
});

void t.test("the lock of a killed process is taken over", async (t) => {
  const directory = t.testdir();
  const holder = await holderOf(directory);
  await t.rejects(lockDirectory(directory), /in use by process/);
  holder.kill("SIGKILL");
  await once(holder, "exit");
  t.equal(readdirSync(directory).length, 1, "its file is still there");
  const lock = await lockDirectory(directory);
  t.equal(readdirSync(directory).length, 1, "and is removed");
  await lock.release();
});

void t.test("the file of a process that was killed before it had the lock is removed", async (t) => {
  const directory = t.testdir();
  const holder = await holderOf(directory);
  const [lock] = readdirSync(directory);
  const claim = join(directory, lock!.replace("lock.", "claim."));
  renameSync(join(directory, lock!), claim);
  const longAgo = new Date(Date.now() - 120_000);
  utimesSync(claim, longAgo, longAgo);
  await (await lockDirectory(directory)).release();
  t.equal(readdirSync(directory).length, 1, "it stays while the process lives");

  holder.kill("SIGKILL");
  await once(holder, "exit");
  utimesSync(claim, new Date(), new Date());
  await (await lockDirectory(directory)).release();
  t.equal(readdirSync(directory).length, 1, "a recent one may still begin to listen");

  utimesSync(claim, longAgo, longAgo);
  await (await lockDirectory(directory)).release();
  t.same(readdirSync(directory), [], "a dead one is removed");
});

void t.test("a path too long for a socket can be locked on Linux", async (t) => {
  if (process.platform !== "linux") return;
  const directory = join(t.testdir(), "deep".repeat(40));
  mkdirSync(directory);
  const lock = await lockDirectory(directory);
  t.teardown(lock.release);
  await t.rejects(lockDirectory(directory), /in use by process/);
});

void t.test("a directory that cannot be created is named in a sentence", async (t) => {
  const file = join(t.testdir({ file: "" }), "file", "data");
  await t.rejects(lockDirectory(file), {
    message: /^The directory .*file\/data cannot be used \(ENOTDIR.*DATA_DIR\.$/,
  });
});
