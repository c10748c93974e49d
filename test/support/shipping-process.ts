/**
 * The parts of a probe that store and deliver samples, for tests that kill them. Arguments: the database's URL; options
 * as JSON. Prints `ready`, and then the number of each sample when the spool has confirmed that it is written.
 */
import fsPromises, { type FileHandle } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { openPool } from "../../shared/database/pool.js";
import { makeLog } from "../../shared/log/log.js";
import { recordSamples } from "../../server/database/record-samples.js";
import { numberedSample } from "./numbered-sample.js";

export interface ShippingOptions {
  directory: string;
  region: string;
  /** The number of its first sample. */
  first: number;
  /** The slot of number 0, milliseconds. */
  slotsFrom: number;
  /** The point at which it kills itself. */
  fault: ShippingFault | null;
}

export interface ShippingFault {
  step: "open" | "write" | "truncate" | "unlink" | "record";
  when: "before" | "during" | "after";
  /** The number of the pass at which the fault applies. */
  time: number;
}

const [url = "", json = ""] = process.argv.slice(2);
const { directory, region, first, slotsFrom, fault } = JSON.parse(json) as ShippingOptions;
let times = 0;

if (fault) await arm(fault);
// imported after the modules that they import are patched
const { openSpool } = await import("../../probe/delivery/spool.js");
const { startShip } = await import("../../probe/delivery/ship.js");

const log = makeLog("shipping", "error");
const pool = openPool(url, { applicationName: "shipping", log, max: 2 });
const spool = await openSpool({ directory, log, segmentBytes: 4_096, writeEveryMs: 2, adoptAfterMs: 50 });
const ship = startShip({
  spool,
  log,
  flushEveryMs: 5,
  record: (samples) => at("record", () => recordSamples(pool, region, samples)),
});
process.stdout.write("ready\n");
for (let number = first; ;) {
  const from = number;
  while (number < from + 1 + 20 * Math.random() ** 3) ship.add(numberedSample(number++, slotsFrom));
  if (await spool.flush()) process.stdout.write(`${from} ${number - 1}\n`);
  await sleep(30 * Math.random());
}

async function arm({ step }: ShippingFault): Promise<void> {
  if (step === "unlink") {
    const { unlink } = fsPromises;
    fsPromises.unlink = (path) => {
      const isSegment = String(path).endsWith(".samples");
      return isSegment ? at("unlink", () => unlink(path)) : unlink(path);
    };
  }
  if (step === "open") {
    const { open } = fsPromises;
    fsPromises.open = (path, flags, mode) =>
      flags === "wx" ? at("open", () => open(path, flags, mode)) : open(path, flags, mode);
  }
  syncBuiltinESMExports();
  const some = await fsPromises.open(process.execPath);
  const handles = Object.getPrototypeOf(some) as FileHandle;
  await some.close();
  if (step === "truncate") {
    const truncate: FileHandle["truncate"] = Reflect.get(handles, "truncate");
    handles.truncate = function (bytes) {
      return at("truncate", () => truncate.call(this, bytes));
    };
  }
  if (step === "write") {
    type Write = (this: unknown, bytes: Buffer, from: number, length: number, position: number) => Promise<object>;
    const patched = handles as unknown as { write: Write };
    const { write } = patched;
    patched.write = function (bytes, from, length, position) {
      const part = Math.floor(length * Math.random());
      return at(
        "write",
        () => write.call(this, bytes, from, length, position),
        () => write.call(this, bytes, from, part, position),
      );
    };
  }
}

async function at<Result>(
  step: ShippingFault["step"],
  work: () => Promise<Result>,
  part?: () => Promise<unknown>,
): Promise<Result> {
  const isHere = fault?.step === step && ++times === fault.time;
  if (!isHere) return work();
  if (fault.when === "during") {
    // what is in flight when the signal arrives: for a write, a part of it
    if (part) await part();
    else void work().catch(() => {});
  }
  if (fault.when === "after") await work();
  process.kill(process.pid, "SIGKILL");
  return new Promise(() => {});
}
