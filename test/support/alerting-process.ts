/**
 * Runs a dispatcher as a separate process, with an engine if the options hold one, for tests that kill and freeze it.
 * Arguments: the database's URL; options as JSON. Prints `ready` on standard output once it is connected.
 */
import { startDispatcher } from "../../server/alerts/delivery/dispatcher.js";
import { makePoster, type Poster } from "../../server/alerts/delivery/post.js";
import type { DeliveryRules } from "../../server/alerts/delivery/retry-rules.js";
import { makeSealing } from "../../server/alerts/channels/sealing.js";
import { type Db, openPool, type Pool, sql } from "../../shared/database/pool.js";
import { startCore, type CoreOptions } from "../../server/engine/core.js";
import { makeLog } from "../../shared/log/log.js";
import { writeAlert } from "./write-alert.js";

export interface AlertingOptions {
  /** Base64. */
  channelKey: string;
  rules: DeliveryRules;
  deadlineMs: number;
  engine?: Pick<CoreOptions, "rules" | "pace">;
  /** The signal that the process sends to itself there. It prints `frozen` on standard output right before it stops. */
  fault?: FaultPoint & { signal: "SIGKILL" | "SIGSTOP" };
}

/** A point before or after a statement, given by the file's name, or a request to a receiver (`post`). */
export interface FaultPoint {
  /** `commit` is the point after the commit of expanded alerts; `before` and `after` are the same there. */
  step: string;
  when: "before" | "after";
  /** The number of the pass at which the fault applies, from 1. */
  time: number;
}

const [url = "", given = "{}"] = process.argv.slice(2);
const options = JSON.parse(given) as AlertingOptions;
const log = makeLog("alerting", "error");
const times = new Map<string, number>();

/** Runs the step, unless its fault applies first. */
async function step<Result>(name: string, act: () => Promise<Result>): Promise<Result> {
  const time = (times.get(name) ?? 0) + 1;
  times.set(name, time);
  const { fault } = options;
  const isHere = fault?.step === name && fault.time === time;
  if (isHere && fault.when === "before") signalItself(fault.signal);
  const result = await act();
  if (isHere && fault.when === "after") signalItself(fault.signal);
  return result;
}

function signalItself(signal: "SIGKILL" | "SIGSTOP"): void {
  // writes to a pipe are synchronous
  if (signal === "SIGSTOP") process.stdout.write("frozen\n");
  process.kill(process.pid, signal);
}

function faulty<Of extends Db>(db: Of): Of {
  return { ...db, file: (name: string, values?: readonly unknown[]) => step(name, () => db.file(name, values)) };
}

function faultyPool(pool: Pool): Pool {
  return {
    ...faulty(pool),
    async transaction(work) {
      const before = times.get("expand_alerts");
      const result = await pool.transaction((tx) => work(faulty(tx)));
      if (times.get("expand_alerts") !== before) await step("commit", () => Promise.resolve());
      return result;
    },
  };
}

const pool = openPool(url, { applicationName: "alerting", log, max: 2 });
await pool.query(sql`select`);
const poster = makePoster({ allowLoopback: true, deadlineMs: options.deadlineMs });
const posting: Poster = { ...poster, post: (...given) => step("post", () => poster.post(...given)) };
const dispatcher = startDispatcher({
  db: faultyPool(pool),
  poster: posting,
  sealing: makeSealing(Buffer.from(options.channelKey, "base64")),
  write: writeAlert,
  log,
  rules: options.rules,
});
const leasePool = openPool(url, { applicationName: "alerting lease", log });
const core =
  options.engine && startCore({ pool: faultyPool(pool), leasePool, log, ...options.engine, onAlert: dispatcher.wake });
process.once("SIGTERM", () => void stop());
process.stdout.write("ready\n");

async function stop(): Promise<void> {
  await core?.close();
  await dispatcher.close();
  await poster.close();
  await leasePool.close();
  await pool.close();
  process.exit();
}
