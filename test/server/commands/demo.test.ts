/** `venuewatch demo` as a user runs it: real processes, killed, stopped and restarted in one directory. */
import { execFileSync } from "node:child_process";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import t, { type Test } from "tap";
import { packagedFile } from "../../../shared/config/package.js";
import { askAll } from "../../support/analysts/asked.js";
import { get, NotOk, readBoard, readIncidents, type Board } from "../../support/board.js";
import { freePort } from "../../support/free-port.js";
import { metadataIsAnswered, psqlDescribes, psqlMissing } from "../../support/metadata.js";
import { childrenOf, isAlive } from "../../support/processes.js";
import { runCli, type Script } from "../../support/run-script.js";
import { until } from "../../support/until.js";

/** Length of the history: enough for a past incident, and made in seconds. */
const days = 3;

type Env = Record<string, string>;
type Demo = Awaited<ReturnType<typeof start>>;

void t.test("venuewatch demo, over two starts", async (t) => {
  const env = {
    DATA_DIR: t.testdir({}),
    PORT: String(await freePort()),
    HEALTH_PORT: "0",
    EMBEDDED_PORT: String(await freePort()),
    // the test sends more requests than the limit for a client
    RATE_LIMIT: "0",
  };
  await t.test("discards a history that was cut off in the first start", (t) => cutOff(t, env));
  const demo = await start(t, env, "first");
  await t.test("fills the board", (t) => boardIsMeasured(t, demo));
  await t.test("stores samples and rolls them up", (t) => samplesArriveAndRollUp(t, demo));
  await t.test("reads the venues' feeds", (t) => feedsAreRead(t, demo));
  await t.test("delivers alerts", (t) => alertsArrive(t, demo));
  await t.test("lets an analyst query", (t) => analystAsks(t, demo));
  await t.test("refuses a second demo on its directory", (t) => secondIsRefused(t, demo, env));
  await t.test("restarts programs that are killed", (t) => killedOnesComeBack(t, demo));
  await t.test("stops in reverse order on SIGTERM", (t) => stopsInReverse(t, demo));
  const again = await start(t, env, "second");
  await t.test("answers psql's metadata queries after a restart", (t) => metadataIsRead(t, again.analystUrl));
  await t.test("keeps the history over a restart", (t) => historyIsStillThere(t, again));
  await t.test("reads the feeds again after a restart", (t) => feedsAreRead(t, again));
  await t.test("keeps the channels over a restart", (t) => channelsAreStillThere(t, again, env));
  again.script.kill("SIGTERM");
  t.equal(await again.script.ended, 0);
});

/** Its remains must not pass for a finished history: the next start makes the history again. */
async function cutOff(t: Test, env: Env) {
  const script = startDemo(t, env);
  await script.saw("the schema is up to date");
  const url = await ownerUrl(env);
  await soon(async () => (await rowsOf(url, "select from sample limit 1")).length > 0);
  t.notMatch(script.output(), "made the recent history", "the history is still being made");
  script.kill("SIGTERM");
  t.equal(await script.ended, 0);
}

async function start(t: Test, env: Env, which: string) {
  const begunMs = performance.now();
  const script = startDemo(t, env);
  await script.saw("Ctrl-C stops it");
  const seconds = (performance.now() - begunMs) / 1000;
  t.comment(`${which} start: ${seconds.toFixed(1)} s to the welcome`);
  const [, passFile = "", analystAddress = ""] = /PGPASSFILE=(\S+) psql (\S+)/.exec(script.output()) ?? [];
  t.match(script.output(), `http://localhost:${env["PORT"]}/v1/status`);
  t.match(analystAddress, `:${env["EMBEDDED_PORT"]}/`);
  const [line] = (await readFile(passFile, "utf8")).split("\n");
  const analystUrl = new URL(analystAddress);
  analystUrl.password = line!.split(":").at(-1)!;
  const databaseUrl = await ownerUrl(env);
  for (const { password } of [analystUrl, new URL(databaseUrl)])
    t.notMatch(script.output(), password, "no password is printed");
  return { script, databaseUrl, analystUrl: analystUrl.href, url: `http://localhost:${env["PORT"]}` };
}

async function ownerUrl(env: Env): Promise<string> {
  const file = join(env["DATA_DIR"]!, "demo", "database.password");
  const password = (await readFile(file, "utf8")).trim();
  return `postgres://postgres:${password}@127.0.0.1:${env["EMBEDDED_PORT"]}/template1`;
}

function startDemo(t: Test, env: Env): Script {
  return runCli(t, ["demo", "--days", String(days)], env);
}

async function boardIsMeasured(t: Test, { script, url }: Demo) {
  await soon(async () => isMeasured(await readBoard(url)));
  t.match(script.output(), "The history is still being filled in");
  await soon(() => script.output().includes("the history is complete"));
  // the next tick makes it visible
  await soon(async () => (await readBoard(url)).venues.every(({ measuredDays }) => measuredDays === days));
  const { summary } = await readBoard(url);
  t.match(summary, { venues: 15, regions: 3 });
  const hasPast = (await readIncidents(url)).some(({ status }) => status === "closed");
  t.ok(hasPast, "the history has a past incident");
  await soon(async () => (await get<{ ready: boolean }>(`${url}/readyz`)).ready);
}

function isMeasured({ venues }: Board): boolean {
  return venues.length === 15 && venues.every(({ state }) => state !== "unknown");
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

/**
 * Feeds in all three states; notices posted before the demo began are compared with the incidents, and do not vanish
 * after a restart.
 */
async function feedsAreRead(t: Test, { url }: Demo) {
  interface Compared {
    fleet: { paired: number; theirsOnly: number };
    venues: { id: string; feed: { state: string; problem: string | null } }[];
  }
  const compared = () => get<Compared>(`${url}/v1/detection?days=90`);
  const states: Record<string, string> = { gate: "none", bitget: "none", gemini: "unreadable" };
  await soon(async () => {
    const { venues, fleet } = await compared();
    const areAllRead = venues.every(
      ({ id, feed }) => feed.state === (states[id] ?? "readable") && feed.problem !== "not read yet",
    );
    return fleet.paired > 0 && areAllRead;
  });
  const gemini = (await compared()).venues.find(({ id }) => id === "gemini");
  t.match(gemini!.feed.problem, /HTML/);
  const { official } = await get<{ official: { incidents: { vanished: boolean }[] } }>(`${url}/v1/targets/deribit`);
  t.ok(official.incidents.length > 0);
  t.notOk(official.incidents.some(({ vanished }) => vanished));
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

async function metadataIsRead(t: Test, analystUrl: string) {
  const client = new pg.Client(analystUrl);
  await client.connect();
  await metadataIsAnswered(t, client);
  await client.end();
  if (!psqlMissing)
    await psqlDescribes(t, analystUrl, ["\\d+ analytics.samples", "\\dv+ analytics.*", "\\df analytics.*"]);
}

/** Each receiver still has its one channel, and verifies what the stored key signs. */
async function channelsAreStillThere(t: Test, { script, databaseUrl }: Demo, env: Env) {
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
function besideIt(output: string): Env {
  const [, line = ""] = /other commands need +(export .*)/.exec(output)!;
  const env = { PATH: process.env["PATH"] };
  const text = execFileSync("/bin/sh", ["-c", `${line} && env -0`], { env, encoding: "utf8" });
  return Object.fromEntries([...text.matchAll(/([^=\0]+)=([^\0]*)\0/g)].map(([, name, value]) => [name!, value!]));
}

async function secondIsRefused(t: Test, { url }: Demo, env: Env) {
  const ports = { PORT: "0", HEALTH_PORT: "0", EMBEDDED_PORT: "0" };
  const second = startDemo(t, { ...env, ...ports });
  t.equal(await second.ended, 2);
  const last = second.output().trim().split("\n").at(-1);
  t.match(last, /^venuewatch: .*The directory \S+ is in use by process \d+: stop/i);
  await get(`${url}/readyz`);
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
  await soon(async () => isMeasured(await readBoard(url)));
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

async function historyIsStillThere(t: Test, { script, url }: Demo) {
  t.match(script.output(), "the history already exists");
  t.notMatch(script.output(), "the history is complete", "the history was complete before");
  await soon(async () => isMeasured(await readBoard(url)));
  for (const { id, measuredDays } of (await readBoard(url)).venues) t.equal(measuredDays, days, id);
  t.ok((await readIncidents(url)).length > 0);
}

async function rowsOf<Row>(url: string, query: string): Promise<Row[]> {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query(query);
  await client.end();
  return rows as Row[];
}

/** Process ids of the demo's children; `""` selects all. */
function programsOf({ pid }: Script, command: string): number[] {
  const cli = packagedFile("dist/server/cli.js");
  return childrenOf(pid)
    .filter(({ args }) => args.includes(`${cli} ${command}`))
    .map((child) => child.pid);
}

/**
 * A page may be refused meanwhile: after a start the database does all of its upkeep, one statement at a time. On a
 * loaded machine the rest of the history takes minutes, because it yields to the service.
 */
function soon(condition: () => boolean | Promise<boolean>): Promise<void> {
  return until(
    async () => {
      try {
        return await condition();
      } catch (error) {
        if (error instanceof NotOk && error.status === 503) return false;
        throw error;
      }
    },
    180_000,
    200,
  );
}
