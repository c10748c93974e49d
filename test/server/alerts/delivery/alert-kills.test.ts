/**
 * Kills dispatchers and engines with SIGKILL at random moments, and around each of their statements and requests, while
 * incidents open and close and receivers answer, fail, hang, break off and answer late. KILLS is the least number of
 * kills; the test goes on until each fault point has killed and the engine has opened an incident, for as long as a
 * busy machine needs.
 */
import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import type { Alert } from "../../../../server/alerts/formats/alert.js";
import { deliveryRules } from "../../../../server/alerts/delivery/rules.js";
import { type Pool, sql } from "../../../../shared/database/pool.js";
import type { AlertingOptions, FaultPoint } from "../../../support/alerting-process.js";
import { type Alerting, startAlerting } from "../../../support/alerting.js";
import { addChannel, channelKey, happened, type Kind, native } from "../../../support/alerts.js";
import { migratedDatabase } from "../../../support/database.js";
import { cadenceMs, makeWorld, measure, quickPace, quickRules } from "../../../support/quick-world.js";
import { randomFrom } from "../../../support/random-samples.js";
import { until } from "../../../support/until.js";
import { type Reaction, startReceiver } from "../../../../simulator/receiver.js";

const kills = Number(process.env.KILLS ?? 40);
const programsAtOnce = 4;
const deadlineMs = 300;

const alerting: AlertingOptions = {
  channelKey: channelKey.toString("base64"),
  deadlineMs,
  // quick but patient: on a busy machine a good receiver may look like one that hangs
  rules: {
    ...deliveryRules,
    attempts: 1_000,
    switch_off_failures: 1_000_000,
    backoff_ms: 10,
    backoff_factor: 1,
    own_fault_ms: 10,
    lease_ms: 700,
    look_ms: 50,
    sweep_ms: 500,
  },
};
/** Few instants, so that a busy machine handles them quickly. */
const engine = { rules: { ...quickRules, step_ms: 500 }, pace: quickPace };

/** At a program's first arrival there, and at its second, when it has state. */
const faultPoints: FaultPoint[] = [
  "tick",
  "hold_outbox",
  "expand_alerts",
  "claim_deliveries",
  "settle_deliveries",
  "end_deliveries",
  "unreadable_channels",
  "post",
]
  .flatMap((step) => [
    { step, when: "before" as const },
    { step, when: "after" as const },
  ])
  .concat({ step: "commit", when: "after" })
  .flatMap((point) => [1, 2].map((time) => ({ ...point, time })));

/**
 * A program that does not reach its point within this time is killed; the point is tried again later, with this much
 * more time.
 */
const patienceMs = 5_000;

interface Channel {
  id: number;
  path: string;
  floor: "degraded" | "outage";
  venues?: string[];
}

void t.test(`${kills} kills lose no alert`, async (t) => {
  const { pool, url } = await migratedDatabase(t);
  await noteOvertaken(pool);
  await pool.query(sql`update component set cadence_ms = ${cadenceMs}`);
  const random = randomFrom(7);
  const receiver = await startReceiver({ react: reactions(random) });
  t.teardown(() => receiver.close());
  const channels = await makeChannels(pool, receiver.origin);

  const turns = takeTurns(faultPoints);
  let killed = 0;
  let engineDecided = false;
  const isOver = () => killed >= kills && turns.allWereReached() && engineDecided;
  const programs = Array.from({ length: programsAtOnce }, async (_, i) => {
    // Only one: a new leader begins with all of the upkeep.
    const hasEngine = i === 0;
    for (let life = 0; !isOver(); life++) {
      killed += 1;
      // every second one dies at a random moment
      if (life % 2 === 0) await dieAtFault(t, url, hasEngine, turns);
      else await dieSometime(t, url, hasEngine, random);
      engineDecided ||= await hasEngineDecided(pool);
    }
  });
  const measured = measureOnAndOn(pool, isOver);
  const more = happenMore(pool, random, isOver);

  await Promise.all([...programs, measured, more]);

  const survivors = [startAlerting(t, url, alerting), startAlerting(t, url, alerting)];
  await until(() => isAllDone(pool), 120_000, 50);
  await Promise.all(survivors.map((one) => one.end()));

  const events = await whatHappened(pool);
  t.comment(`${killed} kills, ${events.length} events, ${receiver.arrivals.length} requests`);
  t.comment(`kills at fault points: ${turns.told()}`);
  t.strictSame(turns.neverReached(), [], "every fault point has killed");
  t.strictSame(await untold(pool), [], "every decision of the engine has its event in the outbox");
  for (const channel of channels) {
    const came = receiver.arrivals
      .filter(({ path }) => path === channel.path)
      .map(({ body, reaction }) => ({ eventId: (JSON.parse(body.toString()) as Alert).eventId, reaction }));
    const heard = new Set(came.filter(({ reaction }) => isTaken(reaction)).map(({ eventId }) => eventId));
    t.strictSame(
      [...heard],
      events.filter((event) => concerns(channel, event, events)).map(idOf),
      `${channel.path} received all its alerts and no others`,
    );
    const ids = came.map(({ eventId }) => eventId);
    t.strictSame(
      ids,
      ids.toSorted((a, b) => a - b),
      "alerts arrive in order, repeated where necessary",
    );
  }
  await checkLog(t, pool, channels, receiver.arrivals);
});

type Turns = ReturnType<typeof takeTurns>;

/** Hands fault points to programs that can reach them: first those that have not killed yet, then all in turn. */
function takeTurns(points: FaultPoint[]) {
  const all = points.map((point) => ({ point, tried: 0, reached: 0 }));
  const queue = [...all];
  const never = () => all.filter(({ reached }) => reached === 0);
  return {
    take(hasEngine: boolean) {
      const canReach = queue.filter(({ point }) => hasEngine || point.step !== "tick");
      const turn = canReach.find(({ reached }) => reached === 0) ?? canReach[0]!;
      queue.splice(queue.indexOf(turn), 1);
      return turn;
    },
    giveBack(turn: (typeof all)[number], wasReached: boolean): void {
      turn.tried += 1;
      if (wasReached) turn.reached += 1;
      queue.push(turn);
      if (turn.reached === 0 && turn.tried >= 20)
        throw new Error(`expected a program to reach ${tell(turn.point)}, and none of ${turn.tried} did`);
    },
    allWereReached: () => never().length === 0,
    neverReached: () => never().map(({ point }) => tell(point)),
    told: () =>
      all
        .map(({ point, reached }) => `${tell(point)}: ${reached}`)
        .sort()
        .join(", "),
  };
}

function tell({ step, when, time }: FaultPoint): string {
  return `${when} ${step} ${time}`;
}

async function dieAtFault(t: Test, url: string, hasEngine: boolean, turns: Turns): Promise<void> {
  const turn = turns.take(hasEngine);
  const program = startAlerting(t, url, {
    ...alerting,
    ...(hasEngine && { engine }),
    fault: { ...turn.point, signal: "SIGKILL" },
  });
  await program.says("ready");
  const killedItself = await diesWithin(program, patienceMs * (1 + turn.tried));
  turns.giveBack(turn, killedItself);
}

async function dieSometime(t: Test, url: string, hasEngine: boolean, random: () => number): Promise<void> {
  const program = startAlerting(t, url, { ...alerting, ...(hasEngine && { engine }) });
  await program.says("ready");
  // an engine leads only once the killed engine's lease has expired
  await diesWithin(program, (hasEngine ? 1_500 : 400) * random());
}

/** @returns false where the test had to kill it */
async function diesWithin({ child, died }: Alerting, longestMs: number): Promise<boolean> {
  const over = new AbortController();
  await Promise.race([died, sleep(longestMs, undefined, { signal: over.signal }).catch(() => {})]);
  over.abort();
  child.kill("SIGKILL");
  const signal = await died;
  if (signal !== "SIGKILL") throw new Error(`expected SIGKILL to end the program, it ended by ${signal}`);
  // a signal to a process that has already ended is not recorded as sent
  return !child.killed;
}

/** Up to three random attempts of a request get a bad answer. */
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

/** A late answer may have arrived in time for a dispatcher that stood still meanwhile. */
function isTaken(reaction: Reaction): boolean {
  return typeof reaction === "object" && reaction.status < 300;
}

/** Faults begin and end until the test is over. */
async function measureOnAndOn(pool: Pool, isOver: () => boolean): Promise<void> {
  const random = randomFrom(3);
  while (!isOver()) await measure(pool, makeWorld(random, Date.now()), isOver);
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

/**
 * Adds events of venues that the engine does not measure: as many as are sent meanwhile, so that there is always work,
 * and little is left at the end.
 */
async function happenMore(pool: Pool, random: () => number, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    if ((await inLine(pool)) < 20) {
      const kinds: Kind[] = random() < 0.5 ? ["opened", "closed"] : ["opened", "escalated", "closed"];
      await happened(pool, {
        venue: more[Math.floor(random() * more.length)]!,
        severity: kinds.length === 3 || random() < 0.5 ? "degraded" : "outage",
        at: new Date(Date.now() - 60_000),
        kinds,
      });
    }
    await sleep(200 * random());
  }
}

async function inLine(pool: Pool): Promise<number> {
  const [row] = await pool.query<{ deliveries: number }>(
    sql`select count(*) as deliveries from delivery where state = 'due'`,
  );
  return row!.deliveries;
}

async function isAllDone(pool: Pool): Promise<boolean> {
  const [row] = await pool.query<{ done: boolean }>(sql`
    select not exists (select from alert_event where dispatched_at is null and dropped_at is null)
      and not exists (select from delivery where state = 'due') as done
  `);
  return row!.done;
}

async function hasEngineDecided(pool: Pool): Promise<boolean> {
  const [row] = await pool.query<{ decided: boolean }>(sql`
    select exists (
      select from incident join component using (component_id) join venue v using (venue_id)
      where v.venue <> all (${more}::text[])
    ) as decided
  `);
  return row!.decided;
}

/** Incidents without one of their events. */
async function untold(pool: Pool): Promise<string[]> {
  const rows = await pool.query<{ slug: string }>(sql`
    select i.slug
    from incident i
    left join alert_event e using (incident_id)
    where i.retracted_at is null
    group by i.incident_id
    having count(*) filter (where e.kind = 'opened') <> 1
      or count(*) filter (where e.kind = 'escalated') <> (i.escalated_at is not null)::int
      or count(*) filter (where e.kind = 'closed') <> (i.closed_at is not null)::int
  `);
  return rows.map(({ slug }) => slug);
}

interface Event {
  event_id: number;
  incident_id: number;
  kind: Kind;
  severity: "degraded" | "outage";
  venue: string;
}

async function whatHappened(pool: Pool): Promise<Event[]> {
  return pool.query<Event>(sql`
    select e.event_id, e.incident_id, e.kind, e.severity, v.venue
    from alert_event e
    join incident i using (incident_id) join component using (component_id) join venue v using (venue_id)
    where i.retracted_at is null
    order by e.event_id
  `);
}

/** Judges by what is promised, and not by the implementation. */
function concerns(channel: Channel, event: Event, events: Event[]): boolean {
  const { floor, venues } = channel;
  const isOfIt = ({ severity, venue }: Event) =>
    (floor === "degraded" || severity === "outage") && (!venues || venues.includes(venue));
  if (event.kind !== "closed") return isOfIt(event);
  return events.some(
    (earlier) => earlier.incident_id === event.incident_id && earlier.kind !== "closed" && isOfIt(earlier),
  );
}

function idOf({ event_id: id }: Event): number {
  return id;
}

/** Records which attempts got an answer after they were taken over: those are in the log, and do not count. */
async function noteOvertaken(pool: Pool): Promise<void> {
  await pool.script(`
    create table overtaken (attempt_id bigint primary key);
    create function note_overtaken() returns trigger language plpgsql as $$
    begin
      insert into overtaken values (new.attempt_id);
      return null;
    end;
    $$;
    create trigger note_overtaken after update of result on delivery_attempt for each row
    when (old.result = 'lost' and new.result <> 'lost') execute function note_overtaken();
  `);
}

async function checkLog(
  t: Test,
  pool: Pool,
  channels: Channel[],
  arrivals: { path: string; body: Buffer; reaction: Reaction }[],
): Promise<void> {
  const pathOf = new Map(channels.map(({ id, path }) => [id, path]));
  const requests = new Map<string, number>();
  const count = (key: string) => requests.set(key, (requests.get(key) ?? 0) + 1);
  for (const { path, body } of arrivals) count(`${path} ${(JSON.parse(body.toString()) as Alert).eventId}`);

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
      count(*) filter (where a.result = 'delivered' and o.attempt_id is null) as delivered,
      count(*) filter (where a.result in ('refused', 'timeout', 'unreachable') and o.attempt_id is null) as failed,
      count(*) filter (where a.result = 'lost') as lost,
      count(*) filter (where a.result is null) as open
    from delivery d
    join delivery_attempt a using (delivery_id)
    left join overtaken o using (attempt_id)
    group by d.delivery_id
  `);
  t.same(
    log.filter(({ state, delivered, open }) => state !== "delivered" || delivered !== 1 || open > 0),
    [],
    "the log shows each alert as delivered once",
  );
  t.same(
    log.filter(({ failures, failed }) => failures !== failed),
    [],
    "the counted failures are those in the log",
  );
  t.same(
    log.filter(({ channel_id, event_id, answered, attempts }) => {
      const came = requests.get(`${pathOf.get(channel_id)!} ${event_id}`) ?? 0;
      return came < answered || came > attempts;
    }),
    [],
    "every request that a receiver saw is an attempt in the log",
  );
  const lost = log.reduce((sum, row) => sum + row.lost, 0);
  t.comment(`${lost} attempts were cut off and retried`);
  t.ok(lost > 0, "some kills interrupted an attempt");
}
