/**
 * Dispatchers and engines that are killed by SIGKILL at random moments, and around each of their statements and requests, while
 * incidents come and go and receivers answer, fail, hang, break off and come too late. KILLS says how many are killed.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import type { Alert } from "../server/alerts/alert.js";
import { deliveryRules } from "../server/alerts/rules.js";
import { type Pool, sql } from "../server/db.js";
import { packagedFile } from "../server/package.js";
import type { AlertingOptions, FaultPoint } from "./alerting-process.js";
import {
  addChannel,
  channelKey,
  happened,
  type Kind,
  native,
} from "./alerts.js";
import { migratedDatabase } from "./database.js";
import {
  cadenceMs,
  makeWorld,
  measure,
  quickPace,
  quickRules,
} from "./quick-world.js";
import { randomFrom } from "./random-samples.js";
import { until } from "./until.js";
import { type Reaction, startReceiver } from "./world/receiver.js";

const kills = Number(process.env.KILLS ?? 120);
const programsAtOnce = 4;
const deadlineMs = 300;

const alerting: AlertingOptions = {
  channelKey: channelKey.toString("base64"),
  deadlineMs,
  // quick, and patient: on a busy machine a good receiver may look like one that hangs
  rules: {
    ...deliveryRules,
    attempts: 25,
    switch_off_failures: 1_000,
    backoff_ms: 10,
    backoff_factor: 1,
    own_fault_ms: 10,
    lease_ms: 700,
    look_ms: 50,
    sweep_ms: 500,
  },
};
/** Few instants, which take a busy machine no time. */
const engine = { rules: { ...quickRules, step_ms: 1_000 }, pace: quickPace };

const steps = [
  "expand_alerts",
  "claim_deliveries",
  "settle_deliveries",
  "post",
];

/** `tick` is the engine's. */
function faultPoints(hasEngine: boolean): FaultPoint[] {
  return [...steps, ...(hasEngine ? ["tick"] : [])].flatMap((step) =>
    (["before", "after"] as const).flatMap((when) =>
      [1, 2, 4].map((time) => ({ step, when, time })),
    ),
  );
}

interface Channel {
  id: number;
  path: string;
  floor: "degraded" | "outage";
  venues?: string[];
}

void t.test(`${kills} kills lose no alert`, async (t) => {
  const { pool, url } = await migratedDatabase(t);
  await pool.query(sql`update component set cadence_ms = ${cadenceMs}`);
  const random = randomFrom(7);
  const receiver = await startReceiver({ react: reactions(random) });
  t.teardown(() => receiver.close());
  const channels = await makeChannels(pool, receiver.origin);

  const world = makeWorld(randomFrom(3), Date.now());
  const measured = measure(pool, world);
  let killed = 0;
  const programs = Array.from({ length: programsAtOnce }, async (_, i) => {
    // half of them have an engine, of which one leads
    const hasEngine = i % 2 === 0;
    const points = faultPoints(hasEngine);
    for (let life = 0; killed < kills; life++) {
      killed += 1;
      // every other one dies at a random moment
      const dieAt =
        life % 2 === 0 ? points[(life / 2) % points.length] : undefined;
      await lifeAndDeath(url, hasEngine, dieAt, random);
    }
  });
  const more = happenMore(pool, random, () => killed >= kills);

  await Promise.all([...programs, measured, more]);

  const survivors = [run(url, { ...alerting, engine }), run(url, alerting)];
  await until(() => isAllDone(pool, new Date(world.endMs)), 150_000, 100);
  for (const { child } of survivors) {
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    await exited;
  }

  const events = await whatHappened(pool);
  t.comment(
    `${killed} kills, ${events.length} events, ${receiver.arrivals.length} requests`,
  );
  t.ok(
    events.some(({ byEngine }) => byEngine),
    "the engine decided some of them",
  );
  for (const channel of channels) {
    const came = receiver.arrivals
      .filter(({ path }) => path === channel.path)
      .map(({ body, reaction }) => ({
        eventId: (JSON.parse(body.toString()) as Alert).eventId,
        reaction,
      }));
    const heard = new Set(
      came
        .filter(({ reaction }) => isGood(reaction))
        .map(({ eventId }) => eventId),
    );
    t.strictSame(
      [...heard],
      events.filter((event) => concerns(channel, event, events)).map(idOf),
      `${channel.path} was told everything that it should be, and nothing else`,
    );
    const ids = came.map(({ eventId }) => eventId);
    t.strictSame(
      ids,
      ids.toSorted((a, b) => a - b),
      "in the order in which it happened, again and again where need be",
    );
  }
  await checkLog(t, pool, channels, receiver.arrivals);
});

/** Runs a program until it kills itself at its fault point, or is killed. */
async function lifeAndDeath(
  url: string,
  hasEngine: boolean,
  dieAt: FaultPoint | undefined,
  random: () => number,
): Promise<void> {
  const { child, ready } = run(url, {
    ...alerting,
    ...(hasEngine && { engine }),
    ...(dieAt && { dieAt }),
  });
  const died = once(child, "exit");
  await Promise.race([ready, died]);
  const longestMs = dieAt ? 500 : 400 * random();
  await Promise.race([died, sleep(longestMs)]);
  child.kill("SIGKILL");
  await died;
}

function run(url: string, options: AlertingOptions) {
  const program = packagedFile("dist/test/alerting-process.js");
  const child = spawn(
    process.execPath,
    [program, url, JSON.stringify(options)],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  t.teardown(() => child.kill("SIGKILL"));
  return { child, ready: once(child.stdout, "data") };
}

/** Up to three times a request is not answered well; which ones, chance says. */
function reactions(random: () => number) {
  const bad: Reaction[] = [
    { status: 500 },
    { status: 302, headers: { location: "/elsewhere" } },
    "hang",
    "reset",
    { status: 200, afterMs: deadlineMs + 100 },
  ];
  const left = new Map<string, number>();
  return ({ path, body }: { path: string; body: Buffer }): Reaction => {
    const { eventId } = JSON.parse(body.toString()) as Alert;
    const key = `${path} ${eventId}`;
    const bads = left.get(key) ?? Math.max(0, Math.floor(random() * 30) - 26);
    left.set(key, bads - 1);
    return bads > 0
      ? bad[Math.floor(random() * bad.length)]!
      : { status: random() < 0.5 ? 200 : 204, afterMs: random() * 20 };
  };
}

function isGood(reaction: Reaction): boolean {
  return (
    typeof reaction === "object" &&
    reaction.status < 300 &&
    (reaction.afterMs ?? 0) < deadlineMs
  );
}

async function makeChannels(pool: Pool, origin: string): Promise<Channel[]> {
  const wanted: Omit<Channel, "id" | "path">[] = [
    { floor: "degraded" },
    { floor: "degraded" },
    { floor: "outage" },
    { floor: "degraded", venues: ["deribit", "kraken", "okx"] },
  ];
  return Promise.all(
    wanted.map(async (given, i) => {
      const path = `/channel-${i}`;
      const to = native(origin + path);
      return { ...given, path, id: await addChannel(pool, { ...given, to }) };
    }),
  );
}

const more = ["deribit", "binance-futures", "kraken-futures", "bitstamp"];

/** Events beside those of the engine, of venues that it measures nothing of. */
async function happenMore(
  pool: Pool,
  random: () => number,
  isOver: () => boolean,
): Promise<void> {
  while (!isOver()) {
    const kinds: Kind[] =
      random() < 0.5 ? ["opened", "closed"] : ["opened", "escalated", "closed"];
    await happened(pool, {
      venue: more[Math.floor(random() * more.length)]!,
      severity: kinds.length === 3 || random() < 0.5 ? "degraded" : "outage",
      at: new Date(Date.now() - 60_000),
      kinds,
    });
    await sleep(600 * random());
  }
}

async function isAllDone(pool: Pool, end: Date): Promise<boolean> {
  const [row] = await pool.query<{ done: boolean }>(sql`
    select (select ticked_at >= ${end} from engine_clock)
      and not exists (select from alert_event where dispatched_at is null and dropped_at is null)
      and not exists (select from delivery where state = 'due') as done
  `);
  return row!.done;
}

interface Event {
  event_id: number;
  incident_id: number;
  kind: Kind;
  severity: "degraded" | "outage";
  venue: string;
  byEngine: boolean;
}

async function whatHappened(pool: Pool): Promise<Event[]> {
  return pool.query<Event>(sql`
    select e.event_id, e.incident_id, e.kind, e.severity, v.venue, v.venue <> all (${more}::text[]) as "byEngine"
    from alert_event e
    join incident i using (incident_id) join component using (component_id) join venue v using (venue_id)
    where i.retracted_at is null
    order by e.event_id
  `);
}

/** By what is promised, and not by how it is done. */
function concerns(channel: Channel, event: Event, events: Event[]): boolean {
  const { floor, venues } = channel;
  const isOfIt = ({ severity, venue }: Event) =>
    (floor === "degraded" || severity === "outage") &&
    (!venues || venues.includes(venue));
  if (event.kind !== "closed") return isOfIt(event);
  return events.some(
    (earlier) =>
      earlier.incident_id === event.incident_id &&
      earlier.kind !== "closed" &&
      isOfIt(earlier),
  );
}

function idOf({ event_id: id }: Event): number {
  return id;
}

async function checkLog(
  t: Test,
  pool: Pool,
  channels: Channel[],
  arrivals: { path: string; body: Buffer; reaction: Reaction }[],
): Promise<void> {
  const pathOf = new Map(channels.map(({ id, path }) => [id, path]));
  const requests = new Map<string, number>();
  const count = (key: string) =>
    requests.set(key, (requests.get(key) ?? 0) + 1);
  for (const { path, body } of arrivals)
    count(`${path} ${(JSON.parse(body.toString()) as Alert).eventId}`);

  const log = await pool.query<{
    channel_id: number;
    event_id: number;
    state: string;
    failures: number;
    attempts: number;
    answered: number;
    delivered: number;
    failed: number;
    lost: number;
    open: number;
  }>(sql`
    select
      d.channel_id, d.event_id, d.state, d.failures, count(*) as attempts,
      count(*) filter (where a.status is not null) as answered,
      count(*) filter (where a.result = 'delivered') as delivered,
      count(*) filter (where a.result in ('refused', 'timeout', 'unreachable')) as failed,
      count(*) filter (where a.result = 'lost') as lost,
      count(*) filter (where a.result is null) as open
    from delivery d join delivery_attempt a using (delivery_id)
    group by d.delivery_id
  `);
  t.same(
    log.filter(
      ({ state, delivered, open }) =>
        state !== "delivered" || delivered !== 1 || open > 0,
    ),
    [],
    "the log has each as delivered, once",
  );
  t.same(
    log.filter(({ failures, failed }) => failures !== failed),
    [],
    "the failures that were counted are those that it shows",
  );
  t.same(
    log.filter(({ channel_id, event_id, answered, attempts }) => {
      const came = requests.get(`${pathOf.get(channel_id)!} ${event_id}`) ?? 0;
      return came < answered || came > attempts;
    }),
    [],
    "and every request that a receiver saw is an attempt in it",
  );
  const lost = log.reduce((sum, row) => sum + row.lost, 0);
  t.comment(`${lost} attempts were cut off and made again`);
  t.ok(lost > 0, "kills have met it in the middle of sending");
}
