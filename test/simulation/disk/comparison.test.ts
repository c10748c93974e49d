/** The simulated file system answers as the real one does, also with errors. */
import type { Dirent, Stats } from "node:fs";
import * as fs from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { makeSeededRandom, type SeededRandom } from "../../../simulation/seeded-random.js";
import { finish, simulation } from "./simulated-machine.js";

const { time, machine } = simulation("comparison");

const names = ["a", "b", "c", "d"];
const flags = ["r", "r+", "w", "w+", "wx", "a", "ax", "a+", "wx+", 0, 1, 2, 65, 66, 193, 577, 1025, 1089];

/** The state of one run: the handles that are open in it. */
interface World {
  base: string;
  handles: (fs.FileHandle | null)[];
}

type Step = (world: World) => Promise<unknown>;

void t.test("a random sequence of operations gives the same results as on the real disk", async (t) => {
  const realBase = await fs.mkdtemp(join(tmpdir(), "disk-comparison-"));
  t.teardown(() => fs.rm(realBase, { recursive: true }));
  const simulatedBase = "/simulated/comparison";
  const process = machine("one").start("comparison");
  await finish(time, process, () => fs.mkdir(simulatedBase));
  const real: World = { base: realBase, handles: [null, null, null] };
  const simulated: World = { base: simulatedBase, handles: [null, null, null] };
  const random = makeSeededRandom("steps");
  const seen = new Map<string, number>();
  for (let count = 0; count < 12_000; count += 1) {
    const { name, step } = nextStep(random);
    const expected = await answerOf(real, step);
    const got = await finish(time, process, () => answerOf(simulated, step));
    const kind = `${name.split(" ")[0]} ${String((expected as { code?: string })?.code ?? "")}`;
    seen.set(kind, (seen.get(kind) ?? 0) + 1);
    if (JSON.stringify(got) === JSON.stringify(expected)) continue;
    t.same(got, expected, `${count}: ${name}`);
    return;
  }
  t.comment(
    [...seen]
      .map(([kind, count]) => `${kind}: ${count}`)
      .sort()
      .join(", "),
  );
  for (const kind of [
    "open EEXIST",
    "open EISDIR",
    "rename ENOTEMPTY",
    "rename EINVAL",
    "rmdir ENOTEMPTY",
    "read EBADF",
  ])
    t.ok(seen.has(kind), `the sequence contains ${kind}`);
  for (const { handles } of [real]) for (const handle of handles) await handle?.close();
});

/** What a caller can tell: the result, or the error without the place of its directory. */
async function answerOf(world: World, step: Step): Promise<unknown> {
  try {
    return plain(world, await step(world));
  } catch (error) {
    const { code, syscall, path, dest, errno } = error as NodeJS.ErrnoException & { dest?: string };
    if (!code) throw error;
    const message = (error as Error).message.replaceAll(world.base, "");
    return { code, syscall, errno, message, path: path?.replace(world.base, ""), dest: dest?.replace(world.base, "") };
  }
}

function plain(world: World, result: unknown): unknown {
  if (typeof result === "string") return result.replace(world.base, "");
  if (Buffer.isBuffer(result)) return result.toString("latin1");
  return result ?? null;
}

function nextStep(random: SeededRandom): { name: string; step: Step } {
  const someNames = () => Array.from({ length: random.integer(1, 3) }, () => random.pick(names)).join("/");
  const path = `/${someNames()}${random.chance(0.03) ? "/" : ""}`;
  const dest = `/${someNames()}`;
  const data = Buffer.alloc(random.integer(0, 30), 97 + random.integer(0, 25));
  const place = random.integer(0, 2);
  const position = random.chance(0.4) ? null : random.integer(0, 60);
  const size = random.integer(0, 50);
  const flag = random.pick(flags);
  const recursive = random.chance(0.3);
  const mode = random.pick([0o600, 0o644, 0o755, 0o777]);
  const steps: [string, Step][] = [
    ...pathSteps(path, dest, { data, size, flag, recursive, mode }),
    ...handleSteps(place, path, { data, position, size, flag }),
    // more often than the rest
    ...handleSteps(place, path, { data, position, size, flag }).slice(0, 4),
  ];
  const [name, step] = random.pick(steps);
  return {
    name: `${name} ${path} ${dest} ${JSON.stringify({ place, position, size, flag, recursive, data: data.length })}`,
    step,
  };
}

interface PathValues {
  data: Buffer;
  size: number;
  flag: string | number;
  recursive: boolean;
  mode: number;
}

function pathSteps(path: string, dest: string, { data, size, flag, recursive, mode }: PathValues): [string, Step][] {
  const seconds = 1_700_000_000 + size;
  return [
    ["readFile", ({ base }) => fs.readFile(base + path)],
    ["readFileText", ({ base }) => fs.readFile(base + path, "utf8")],
    ["writeFile", ({ base }) => fs.writeFile(base + path, data)],
    [
      "writeFileWith",
      ({ base }) => fs.writeFile(base + path, data.toString(), { flag: String(flags[size % 9]), mode }),
    ],
    ["appendFile", ({ base }) => fs.appendFile(base + path, data)],
    ["rename", ({ base }) => fs.rename(base + path, base + dest)],
    ["renameAgain", ({ base }) => fs.rename(base + path, base + dest)],
    ["unlink", ({ base }) => fs.unlink(base + path)],
    ["rm", ({ base }) => fs.rm(base + path, { recursive: recursive && path.length > 4, force: flag === "r" })],
    ["rmdir", ({ base }) => fs.rmdir(base + path)],
    ["mkdir", ({ base }) => fs.mkdir(base + path, { recursive, mode })],
    ["mkdirAgain", ({ base }) => fs.mkdir(base + path)],
    ["readdir", ({ base }) => fs.readdir(base + path)],
    ["entries", async ({ base }) => entries(await fs.readdir(base + path, { withFileTypes: true }), base)],
    ["stat", async ({ base }) => status(await fs.stat(base + path))],
    ["lstat", async ({ base }) => status(await fs.lstat(base + path))],
    ["access", ({ base }) => fs.access(base + path, size % 8)],
    ["chmod", ({ base }) => fs.chmod(base + path, mode)],
    [
      "utimes",
      async ({ base }) => {
        await fs.utimes(base + path, seconds, new Date(seconds * 1000));
        const { mtimeMs, atimeMs } = await fs.stat(base + path);
        return [mtimeMs, atimeMs];
      },
    ],
    ["truncate", ({ base }) => fs.truncate(base + path, size)],
    ["copyFile", ({ base }) => fs.copyFile(base + path, base + dest, size % 2)],
  ];
}

interface HandleValues {
  data: Buffer;
  position: number | null;
  size: number;
  flag: string | number;
}

function handleSteps(place: number, path: string, { data, position, size, flag }: HandleValues): [string, Step][] {
  const handle = (world: World) => world.handles[place] ?? { code: "none" };
  const using = (use: (file: fs.FileHandle) => Promise<unknown>) => async (world: World) => {
    const file = handle(world);
    return "code" in file ? "not open" : use(file);
  };
  return [
    [
      "open",
      async (world) => {
        await world.handles[place]?.close();
        world.handles[place] = null;
        world.handles[place] = await fs.open(world.base + path, flag);
      },
    ],
    ["write", using(async (file) => (await file.write(data, 0, data.length, position)).bytesWritten)],
    ["read", using(async (file) => bytes(await file.read(Buffer.alloc(size), 0, size, position)))],
    ["writeText", using(async (file) => (await file.write(data.toString(), position)).bytesWritten)],
    ["readWith", using(async (file) => bytes(await file.read({ buffer: Buffer.alloc(20), offset: 3, position })))],
    ["writePart", using(async (file) => (await file.write(data, data.length >> 1, null, position)).bytesWritten)],
    [
      "writev",
      using(async (file) => (await file.writev([data, Buffer.from("+"), data], position ?? undefined)).bytesWritten),
    ],
    ["handleWriteFile", using((file) => file.writeFile(data))],
    ["handleAppend", using((file) => file.appendFile(data.toString()))],
    ["handleReadFile", using(async (file) => (await file.readFile()).toString("latin1"))],
    ["handleStat", using(async (file) => status(await file.stat()))],
    ["handleTruncate", using((file) => file.truncate(size))],
    ["sync", using((file) => file.sync())],
    ["datasync", using((file) => file.datasync())],
    ["close", using((file) => file.close())],
    [
      "closeWhileWriting",
      using(async (file) => {
        const all = await Promise.allSettled([file.write(data), file.close(), file.stat()]);
        return all.map(({ status }) => status);
      }),
    ],
  ];
}

function bytes({ bytesRead, buffer }: { bytesRead: number; buffer: Buffer }): unknown {
  return [bytesRead, buffer.toString("latin1")];
}

function status(stats: Stats): unknown {
  const { mode, size, nlink } = stats;
  const kind = [stats.isFile(), stats.isDirectory(), stats.isSocket(), stats.isSymbolicLink()];
  // the size of a directory, and its count of links, differ between file systems
  return stats.isDirectory() ? { mode, kind } : { mode, kind, size, nlink, isDate: stats.mtime instanceof Date };
}

function entries(all: Dirent[], base: string): unknown {
  return all.map((one) => [one.name, one.isFile(), one.isDirectory(), one.parentPath.replace(base, "")]);
}
