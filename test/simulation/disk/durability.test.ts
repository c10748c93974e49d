/** What survives the kill of a process, and what survives a power failure. */
import { type FileHandle, open, readFile, rename, rm, unlink, writeFile } from "node:fs/promises";
import t from "tap";
import type { Disk } from "../../../simulation/disk/disk.js";
import { finish, simulation } from "./simulated-machine.js";

const { time, machine, seedWith } = simulation("durability");
const seeds = Array.from({ length: 80 }, (_, seed) => seed);
const lines = Array.from({ length: 10 }, (_, n) => `line number ${n}\n`);
const whole = lines.join("");
const root = "/simulated";

async function writeLines(file: FileHandle, from: number, to: number): Promise<void> {
  for (const line of lines.slice(from, to)) await file.write(line);
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path);
  await directory.sync();
  await directory.close();
}

function textIn(disk: Disk, path: string): string | null {
  return (
    disk
      .files()
      .find((one) => one.path === path)
      ?.bytes.toString() ?? null
  );
}

/** Runs work in a process on a new machine, kills it, and cuts the power. */
async function powerFailure(seed: number, work: () => Promise<unknown>, options?: { zeros?: boolean }): Promise<Disk> {
  seedWith(`power ${seed}`);
  const host = machine(`power ${seed}`);
  const process = host.start("writer");
  await finish(time, process, work);
  process.kill();
  host.disk.crash(options);
  return host.disk;
}

void t.test("synced lines survive a power failure, later ones are lost from some point on", async (t) => {
  const left: string[] = [];
  for (const seed of seeds) {
    const disk = await powerFailure(seed, async () => {
      const file = await open(`${root}/log`, "wx");
      await syncDirectory(root);
      await writeLines(file, 0, 5);
      await file.sync();
      await writeLines(file, 5, 10);
    });
    const text = textIn(disk, `${root}/log`)!;
    if (!whole.startsWith(text) || !text.startsWith(lines.slice(0, 5).join(""))) t.fail(`seed ${seed}: ${text}`);
    left.push(text);
  }
  t.ok(left.includes(whole), "all may survive");
  t.ok(left.includes(lines.slice(0, 5).join("")), "all that is unsynced may be lost");
  t.ok(
    left.some((text) => !text.endsWith("\n")),
    "a line may be torn",
  );
});

void t.test("with zeros, lost data may be a hole, and nothing else is in it", async (t) => {
  let holes = 0;
  for (const seed of seeds) {
    const work = async () => {
      const file = await open(`${root}/log`, "wx");
      await syncDirectory(root);
      await writeLines(file, 0, 10);
    };
    const text = textIn(await powerFailure(seed, work, { zeros: true }), `${root}/log`)!;
    const isRight = [...text].every((one, at) => one === "\0" || one === whole[at]);
    if (!isRight) t.fail(`seed ${seed}: ${text}`);
    if (/\0+line/.test(text)) holes += 1;
  }
  t.ok(holes > 0, `${holes} holes`);
});

void t.test("a new file may vanish until its directory is synced", async (t) => {
  const seen = new Set<string | null>();
  for (const seed of seeds) {
    const unsafe = async () => {
      const file = await open(`${root}/new`, "wx");
      await file.write("content");
      await file.sync();
    };
    seen.add(textIn(await powerFailure(seed, unsafe), `${root}/new`));
    const safe = async () => {
      await unsafe();
      await syncDirectory(root);
    };
    if (textIn(await powerFailure(seed, safe), `${root}/new`) !== "content") t.fail(`seed ${seed}: lost`);
  }
  t.same(seen, new Set([null, "content"]));
});

void t.test("a replaced file is the old or the new one, and empty or torn only if it was not synced", async (t) => {
  const replaced = async (sync: boolean) => {
    await writeFile(`${root}/file`, "old content");
    const old = await open(`${root}/file`, "r+");
    await old.sync();
    await syncDirectory(root);
    const file = await open(`${root}/file.new`, "w");
    await file.write("new content");
    if (sync) await file.sync();
    await rename(`${root}/file.new`, `${root}/file`);
  };
  const unsynced = new Set<string | null>();
  const synced = new Set<string | null>();
  for (const seed of seeds) {
    unsynced.add(textIn(await powerFailure(seed, () => replaced(false)), `${root}/file`));
    synced.add(textIn(await powerFailure(seed, () => replaced(true)), `${root}/file`));
  }
  t.same(synced, new Set(["old content", "new content"]));
  t.ok(unsynced.has(""), "the empty file that follows a rename without a sync");
  for (const text of unsynced) t.ok("old content" === text || "new content".startsWith(text!), `“${text}”`);
});

void t.test("an unsynced deletion may be undone", async (t) => {
  const seen = new Set<string | null>();
  for (const seed of seeds) {
    const disk = await powerFailure(seed, async () => {
      const file = await open(`${root}/file`, "wx");
      await file.write("content");
      await file.sync();
      await syncDirectory(root);
      await unlink(`${root}/file`);
    });
    seen.add(textIn(disk, `${root}/file`));
  }
  t.same(seen, new Set([null, "content"]));
});

void t.test("data written half a minute before is on the medium", async (t) => {
  for (const seed of seeds.slice(0, 20)) {
    const disk = await powerFailure(seed, async () => {
      await writeFile(`${root}/file`, whole);
      await new Promise((resolve) => setTimeout(resolve, 31_000));
    });
    if (textIn(disk, `${root}/file`) !== whole) t.fail(`seed ${seed}: lost`);
  }
});

void t.test("a kill undoes no completed call, and the last call may have been done or not", async (t) => {
  const seen = new Set<string>();
  for (const seed of seeds) {
    seedWith(`kill ${seed}`);
    const host = machine(`kill ${seed}`);
    const process = host.start("writer");
    let answered = false;
    process.run(() => void writeFile(`${root}/file`, whole).then(() => (answered = true)));
    await time.pass(time.nowMs() + (seed % 40) / 200);
    process.kill();
    await time.pass(time.nowMs() + 10);
    const text = textIn(host.disk, `${root}/file`);
    const kind = text === null ? "none" : text === "" ? "empty" : text === whole ? "whole" : "part";
    if (text !== null && !whole.startsWith(text)) t.fail(`seed ${seed}: ${text}`);
    if (answered) t.equal(text, whole, `seed ${seed}: the data of completed calls is there`);
    seen.add(answered ? "answered" : kind);
  }
  t.same([...seen].sort(), ["answered", "empty", "none", "part", "whole"]);
});

void t.test("a deleted file stays readable while it is open, and takes space until then", async (t) => {
  seedWith("deleted");
  const host = machine("deleted");
  const process = host.start("reader");
  const file = await finish(time, process, async () => {
    await writeFile(`${root}/file`, whole);
    const file = await open(`${root}/file`, "r+");
    await unlink(`${root}/file`);
    await writeFile(`${root}/file`, "another");
    t.equal(await file.readFile("utf8"), whole);
    t.equal((await file.stat()).nlink, 0);
    await file.write("more");
    t.equal(await readFile(`${root}/file`, "utf8"), "another");
    return file;
  });
  t.equal(host.disk.usedBytes(), whole.length + 4 + 7);
  await finish(time, process, () => file.close());
  t.equal(host.disk.usedBytes(), 7);
  await finish(time, process, async () => {
    await open(`${root}/file`);
    await rm(`${root}/file`);
  });
  t.equal(host.disk.usedBytes(), 7);
  process.kill();
  t.equal(host.disk.usedBytes(), 0, "a kill closes the files of a process");
});

void t.test("a process that outlives its machine's power failure is a defect of the test", async (t) => {
  seedWith("outlives");
  const host = machine("outlives");
  const process = host.start("writer");
  const file = await finish(time, process, () => open(`${root}/file`, "w"));
  host.disk.crash();
  await t.rejects(
    finish(time, process, () => file.write("more")),
    /kill a machine's processes before the crash/,
  );
});
