/** `venuewatch demo` as a user runs it: real processes, from an empty directory to SIGTERM. */
import t, { type Test } from "tap";
import {
  demoDays,
  demoEnv,
  type Demo,
  type DemoEnv,
  feedsAreRead,
  isBoardMeasured,
  programsOf,
  rowsOf,
  runDemo,
  soon,
  startDemo,
} from "../../support/demo.js";
import { get, readBoard, readIncidents } from "../../support/board.js";
import { isAlive } from "../../support/processes.js";

void t.test("venuewatch demo", async (t) => {
  const env = await demoEnv(t);
  const demo = await startDemo(t, env);
  await t.test("fills the board", (t) => boardIsMeasured(t, demo));
  await t.test("stores samples and rolls them up", (t) => samplesArriveAndRollUp(t, demo));
  await t.test("reads the venues' feeds", (t) => feedsAreRead(t, demo));
  await t.test("delivers alerts", (t) => alertsArrive(t, demo));
  await t.test("refuses a second demo on its directory", (t) => secondIsRefused(t, demo, env));
  await t.test("stops in reverse order on SIGTERM", (t) => stopsInReverse(t, demo));
});

async function boardIsMeasured(t: Test, { script, url }: Demo) {
  await soon(async () => isBoardMeasured(await readBoard(url)));
  t.match(script.output(), "The history is still being filled in");
  await soon(() => script.output().includes("the history is complete"));
  // the next tick makes it visible
  await soon(async () => (await readBoard(url)).venues.every(({ measuredDays }) => measuredDays === demoDays));
  const { summary } = await readBoard(url);
  t.match(summary, { venues: 15, regions: 3 });
  const hasPast = (await readIncidents(url)).some(({ status }) => status === "closed");
  t.ok(hasPast, "the history has a past incident");
  await soon(async () => (await get<{ ready: boolean }>(`${url}/readyz`)).ready);
}

/** With the names that a user of psql would type. */
async function samplesArriveAndRollUp(t: Test, { databaseUrl }: Demo) {
  const newest = async (column: string, table: string) => {
    const [row] = await rowsOf<{ at: Date }>(databaseUrl, `select max(${column}) as at from ${table}`);
    return row!.at;
  };
  const before = await newest("ts", "sample");
  await soon(async () => (await newest("ts", "sample")) > before);
  for (const table of ["sample_minute", "component_minute", "venue_minute"])
    await soon(async () => +(await newest("minute", table)) > +before - 60_000);
  // hours and days are rolled up five minutes after they end
  const over = +before - 5 * 60_000;
  const lastBefore = (ms: number) => (Math.floor(over / ms) - 1) * ms;
  const [lastHour, lastDay] = [lastBefore(3_600_000), lastBefore(86_400_000)];
  await soon(async () => +(await newest("hour", "venue_hour")) >= lastHour);
  await soon(async () => +(await newest("day", "venue_day")) >= lastDay);
  t.equal(+(await newest("day", "venue_day")), lastDay, "today is not rolled up yet");
}

/** Alerts of incidents while the demo runs, and none of its invented history. */
async function alertsArrive(t: Test, { script, url, databaseUrl }: Demo) {
  for (const line of [
    /receiver=steady .*kind=opened \S+ incident=kucoin-futures-\S+ answer=/,
    /receiver=chat .*text="Incident (opened|escalated): .* KuCoin Futures/,
    /receiver=troubled .*kind=opened .* answer=503/,
  ])
    await soon(() => line.test(script.output()));
  const notify = () => get<{ deliveries: number; p50Ms: number | null }>(`${url}/v1/notify`);
  await soon(async () => (await notify()).deliveries > 0);
  const { p50Ms } = await notify();
  t.ok(p50Ms! > 0 && p50Ms! < 300_000, "measured since the event began");
  const [before] = await rowsOf<{ events: number; sent: number }>(
    databaseUrl,
    `select count(distinct e.event_id)::int as events, count(d)::int as sent
    from alert_event e left join delivery d using (event_id)
    where e.event_id <= (select min(after_event_id) from channel)`,
  );
  t.ok(before!.events > 0);
  t.equal(before!.sent, 0, "no alert of the history is sent");
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
  t.equal(pids.length, 7, "database, world, core, web and three probes");
  const seenBefore = script.output().length;
  const begunMs = performance.now();
  script.kill("SIGTERM");
  t.equal(await script.ended, 0);
  const seconds = (performance.now() - begunMs) / 1000;
  // its programs get nine
  t.ok(seconds < 20, `stopped within ${seconds.toFixed(1)} s`);
  const output = script.output().slice(seenBefore);
  const order = [...output.matchAll(/ info ([a-z]+)[^:]*: stopping signal=SIGTERM/g)].map(([, program]) => program);
  t.equal(order.shift(), "demo");
  t.same(order.splice(-2), ["world", "database"]);
  // these do not depend on each other, and stop in any order
  t.same(order.sort(), ["core", "probe", "probe", "probe", "web"]);
  t.same(pids.filter(isAlive), [], "no process is left");
}
