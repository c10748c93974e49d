/** `venuewatch demo` as a user runs it: real processes, from an empty directory to SIGTERM. */
import t, { type Test } from "tap";
import {
  demoEnv,
  type Demo,
  type DemoEnv,
  isBoardMeasured,
  programsOf,
  runDemo,
  soon,
  startDemo,
} from "../../support/demo.js";
import { get, readBoard } from "../../support/board.js";
import { isAlive } from "../../support/processes.js";

void t.test("venuewatch demo", async (t) => {
  const env = await demoEnv(t);
  const demo = await startDemo(t, env);
  await t.test("fills the board", (t) => boardIsMeasured(t, demo));
  await t.test("refuses a second demo on its directory", (t) => secondIsRefused(t, demo, env));
  await t.test("stops in reverse order on SIGTERM", (t) => stopsInReverse(t, demo));
});

async function boardIsMeasured(t: Test, { script, url }: Demo) {
  await soon(async () => isBoardMeasured(await readBoard(url)));
  t.match(script.output(), "The history is still being filled in");
  t.match((await readBoard(url)).summary, { venues: 15, regions: 3 });
}

async function secondIsRefused(t: Test, { url }: Demo, env: DemoEnv) {
  const ports = { PORT: "0", HEALTH_PORT: "0", EMBEDDED_PORT: "0" };
  const second = runDemo(t, { ...env, ...ports });
  t.equal(await second.ended, 2);
  const last = second.output().trim().split("\n").at(-1);
  t.match(last, /^venuewatch: .*The directory \S+ is in use by process \d+: stop/i);
  await get(`${url}/readyz`);
}

async function stopsInReverse(t: Test, { script }: Demo) {
  const pids = programsOf(script, "");
  const historyMakers = programsOf(script, "demo --part earlier").length;
  t.equal(pids.length - historyMakers, 7, "database, world, core, web and three probes");
  const seenBefore = script.output().length;
  const startMs = performance.now();
  script.kill("SIGTERM");
  t.equal(await script.ended, 0);
  const seconds = (performance.now() - startMs) / 1000;
  // its programs get nine
  t.ok(seconds < 20, `stopped within ${seconds.toFixed(1)} s`);
  const output = script.output().slice(seenBefore);
  const order = [...output.matchAll(/ info ([a-z]+)[^:]*: stopping signal=SIGTERM/g)].map(([, program]) => program);
  t.equal(order.shift(), "demo");
  t.same(order.splice(-2), ["world", "database"]);
  // these do not depend on each other, and stop in any order; the history may still be made
  const others = order.filter((program) => program !== "earlier");
  t.same(others.sort(), ["core", "probe", "probe", "probe", "web"]);
  t.same(pids.filter(isAlive), [], "no process is left");
}
