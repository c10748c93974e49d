/** A demo for as long as its first alerts take, whose programs are killed, and that is started again. */
import { execFileSync } from "node:child_process";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import t, { type Test } from "tap";
import { askAll } from "../../support/analysts/questions.js";
import {
  demoDays,
  demoEnv,
  type Demo,
  type DemoEnv,
  feedsAreRead,
  isBoardMeasured,
  metadataIsRead,
  ownerUrl,
  programsOf,
  rowsOf,
  runDemo,
  soon,
  startDemo,
} from "../../support/demo.js";
import { get, readBoard, readIncidents } from "../../support/board.js";
import { runCli } from "../../support/run-script.js";

void t.test("venuewatch demo, over three starts", async (t) => {
  const env = await demoEnv(t);
  await t.test("discards a history that was cut off in the first start", (t) => cutOff(t, env));
  const demo = await startDemo(t, env);
  await t.test("fills in the history", (t) => historyIsFilledIn(t, demo));
  await t.test("stores samples and rolls them up", (t) => samplesArriveAndRollUp(t, demo));
  await t.test("delivers alerts", (t) => alertsArrive(t, demo));
  await t.test("lets an analyst query", (t) => analystAsks(t, demo));
  await t.test("restarts programs that are killed", (t) => killedOnesComeBack(t, demo));
  demo.script.kill("SIGTERM");
  t.equal(await demo.script.ended, 0);
  const again = await startDemo(t, env);
  await t.test("answers psql's metadata queries after a restart", (t) => metadataIsRead(t, again.analystUrl));
  await t.test("keeps the history over a restart", (t) => historyIsStillThere(t, again));
  await t.test("reads the feeds again after a restart", (t) => feedsAreRead(t, again));
  await t.test("keeps the channels over a restart", (t) => channelsAreStillThere(t, again, env));
  again.script.kill("SIGTERM");
  t.equal(await again.script.ended, 0);
});

/** Its remains must not pass for a finished history: the next start makes the history again. */
async function cutOff(t: Test, env: DemoEnv) {
  const script = runDemo(t, env);
  await script.saw("the schema is up to date");
  const url = await ownerUrl(env);
  await soon(async () => (await rowsOf(url, "select from sample limit 1")).length > 0);
  t.notMatch(script.output(), "made the recent history", "the history is still being made");
  script.kill("SIGTERM");
  t.equal(await script.ended, 0);
}

async function historyIsFilledIn(t: Test, { script, url }: Demo) {
  await soon(() => script.output().includes("the history is complete"));
  // the next tick makes it visible
  await soon(async () => (await readBoard(url)).venues.every(({ measuredDays }) => measuredDays === demoDays));
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

/** Connects as the printed line and docs/analysts.md do. */
async function analystAsks(t: Test, { analystUrl }: Demo) {
  await metadataIsRead(t, analystUrl);
  const client = new pg.Client(analystUrl);
  await client.connect();
  await askAll(t, client);
  await t.rejects(client.query("select * from venuewatch.sample"), { code: "42501" });
  await client.end();
}

/** Each receiver still has its one channel, and verifies what the stored key signs. */
async function channelsAreStillThere(t: Test, { script, databaseUrl }: Demo, env: DemoEnv) {
  const channels = await rowsOf(databaseUrl, "select channel_id as id, off_at, removed_at from channel order by 1");
  t.equal(channels.length, 3);
  for (const [i, channel] of channels.entries()) t.strictSame(channel, { id: i + 1, off_at: null, removed_at: null });
  const kept = join(env["DATA_DIR"]!, "demo", "channel.key");
  t.equal((await stat(kept)).mode & 0o777, 0o600, "only its owner can read it");
  const testing = runCli(t, ["channel", "test", "1"], { ...besideIt(script.output()), ALERT_LOOPBACK: "on" });
  t.equal(await testing.ended, 0, testing.output());
  await soon(() => /receiver=steady event=0 /.test(script.output()));
  t.notMatch(script.output(), "refused a request that is no alert");
}

/**
 * The settings that the welcome gives for other commands, as a shell understands them; the commands get nothing else
 * from the demo's environment.
 */
function besideIt(output: string): DemoEnv {
  const [, line = ""] = /other commands need +(export .*)/.exec(output)!;
  const env = { PATH: process.env["PATH"] };
  const text = execFileSync("/bin/sh", ["-c", `${line} && env -0`], { env, encoding: "utf8" });
  return Object.fromEntries([...text.matchAll(/([^=\0]+)=([^\0]*)\0/g)].map(([, name, value]) => [name!, value!]));
}

async function killedOnesComeBack(t: Test, { script, url, databaseUrl }: Demo) {
  for (const program of ["probe", "core", "web", "database"]) {
    const seenBefore = script.output().length;
    const [pid] = programsOf(script, program);
    process.kill(pid!, "SIGKILL");
    const since = () => script.output().slice(seenBefore);
    const name = program === "probe" ? "probe [a-z-]+" : program;
    const restarted = new RegExp(`ended unexpectedly.* program="?${name}"? .*signal=SIGKILL`);
    const ready = new RegExp(` info ${name}: ready `);
    await soon(() => restarted.test(since()) && ready.test(since()));
    t.pass(`${program} is running again`);
  }
  const killedAt = new Date().toISOString();
  const regions = `select distinct region_id from sample where good and ts > '${killedAt}'`;
  await soon(async () => (await rowsOf(databaseUrl, regions)).length === 3);
  const generatedAt = async () => (await get<{ generatedAt: string }>(`${url}/v1/regions`)).generatedAt;
  const before = await generatedAt();
  await soon(async () => (await generatedAt()) > before);
  await soon(async () => isBoardMeasured(await readBoard(url)));
}

async function historyIsStillThere(t: Test, { script, url }: Demo) {
  t.match(script.output(), "the history already exists");
  t.notMatch(script.output(), "the history is complete", "the history was complete before");
  await soon(async () => isBoardMeasured(await readBoard(url)));
  for (const { id, measuredDays } of (await readBoard(url)).venues) t.equal(measuredDays, demoDays, id);
  t.ok((await readIncidents(url)).length > 0);
}
