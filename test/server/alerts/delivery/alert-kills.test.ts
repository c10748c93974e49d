/**
 * Kills dispatchers and engines with SIGKILL at random moments, and around each of their statements and requests, while
 * incidents open and close and receivers answer, fail, hang, break off and answer late. KILLS is the least number of
 * kills; the test goes on until each fault point has killed and the engine has opened an incident, for as long as a
 * busy machine needs.
 */
import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import { type Pool, sql } from "../../../../shared/database/pool.js";
import { isAllDone } from "../../../support/alert-queue.js";
import type { FaultPoint } from "../../../support/alerting-process.js";
import {
  type Alerting,
  areInOrder,
  deadlineMs,
  eventIdOf,
  patientRules,
  receiverFor,
  startAlerting,
} from "../../../support/alerting.js";
import { addChannel, type ChannelGiven, happened, type Kind, native } from "../../../support/alerts.js";
import { migratedDatabase } from "../../../support/database.js";
import { cadenceMs, makeWorld, measure, quickPace, quickRules } from "../../../support/quick-world.js";
import { randomFrom } from "../../../support/random-samples.js";
import { until } from "../../../support/until.js";
import type { Reaction, ReceivedAlert } from "../../../../simulator/receiver.js";

const kills = Number(process.env.KILLS ?? 40);
const programsAtOnce = 4;

const rules = { ...patientRules, look_ms: 50, sweep_ms: 500 };
/** Few instants, so that a busy machine handles them quickly. */
const engine = { rules: { ...quickRules, step_ms: 500 }, pace: quickPace };

/** At a program's first arrival there, and at its second, when it has state. */
const faultPoints: FaultPoint[] = [
  ...["tick", "hold_outbox", "expand_alerts", "claim_deliveries"],
  ...["settle_or_retry_deliveries", "end_deliveries", "unreadable_channels", "post"],
]
  .flatMap((step) => (["before", "after"] as const).map((when) => ({ step, when })))
  .concat({ step: "commit", when: "after" })
  .flatMap((point) => [1, 2].map((time) => ({ ...point, time })));

/**
 * A program that does not reach its point within this time is killed; the point is tried again later, with this much
 * more time.
 */
const patienceMs = 5_000;

type Channel = { id: number; path: string } & Pick<ChannelGiven, "floor" | "venues">;

void t.test(`${kills} kills lose no alert`, async (t) => {
  const { pool, url } = await migratedDatabase(t);
  await noteOvertaken(pool);
  await pool.query(sql`update component set cadence_ms = ${cadenceMs}`);
  const random = randomFrom(7);
  const receiver = await receiverFor(t, reactions(random));
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
  await Promise.all([...programs, measureOnAndOn(pool, isOver), happenMore(pool, random, isOver)]);

  const survivors = [startAlerting(t, url, { rules }), startAlerting(t, url, { rules })];
  await until(() => isAllDone(pool), 120_000, 50);
  await Promise.all(survivors.map((one) => one.end()));

  const events = await whatHappened(pool);
  t.comment(`${killed} kills, ${events.length} events, ${receiver.arrivals.length} requests`);
  t.comment(`kills at fault points: ${turns.counts()}`);
  t.strictSame(await withoutAnEvent(pool), [], "every decision of the engine has its event in the outbox");
  for (const channel of channels) {
    const requests = receiver.arrivals.filter(({ path }) => path === channel.path);
    const received = new Set(requests.filter(({ reaction }) => isTaken(reaction)).map(eventIdOf));
    t.strictSame(
      [...received],
      events.filter((event) => concerns(channel, event, events)).map(({ event_id: id }) => id),
      `${channel.path} received all its alerts and no others`,
    );
    areInOrder(t, requests.map(eventIdOf));
  }
  await checkLog(t, pool, channels, receiver.arrivals);
});

type Turns = ReturnType<typeof takeTurns>;

/** Hands fault points to programs that can reach them: first those that have not killed yet, then all in turn. */
function takeTurns(points: FaultPoint[]) {
  const all = points.map((point) => ({ point, tried: 0, reached: 0 }));
  const queue = [...all];
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
        throw new Error(`expected a program to reach ${nameOf(turn.point)}, and none of ${turn.tried} did`);
    },
    allWereReached: () => all.every(({ reached }) => reached > 0),
    counts: () =>
      all
        .map(({ point, reached }) => `${nameOf(point)}: ${reached}`)
        .sort()
        .join(", "),
  };
}

function nameOf({ step, when, time }: FaultPoint): string {
  return `${when} ${step} ${time}`;
}

async function dieAtFault(t: Test, url: string, hasEngine: boolean, turns: Turns): Promise<void> {
  const turn = turns.take(hasEngine);
  const fault = { ...turn.point, signal: "SIGKILL" as const };
  const program = startAlerting(t, url, { rules, fault, ...(hasEngine && { engine }) });
  turns.giveBack(turn, await diesWithin(program, patienceMs * (1 + turn.tried)));
}

async function dieSometime(t: Test, url: string, hasEngine: boolean, random: () => number): Promise<void> {
  const program = startAlerting(t, url, { rules, ...(hasEngine && { engine }) });
  // an engine leads only once the killed engine's lease has expired
  await diesWithin(program, (hasEngine ? 1_500 : 400) * random());
}

/** @param longestMs after it is ready. @returns false where the test had to kill it */
async function diesWithin(program: Alerting, longestMs: number): Promise<boolean> {
  await program.prints("ready");
  const { child, died } = program;
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
  return (request: { path: string; body: Buffer }): Reaction => {
    const key = keyOf(request);
    const bads = left.get(key) ?? Math.max(0, Math.floor(random() * 30) - 26);
    left.set(key, bads - 1);
    return bads > 0
      ? bad[Math.floor(random() * bad.length)]!
      : { status: random() < 0.5 ? 200 : 204, afterMs: random() * 20 };
  };
}

function keyOf(request: { path: string; body: Buffer }): string {
  return `${request.path} ${eventIdOf(request)}`;
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
  const channels: Omit<Channel, "id">[] = [
    { path: "/channel-0", floor: "degraded" },
    { path: "/channel-1", floor: "degraded" },
    { path: "/channel-2", floor: "outage" },
    { path: "/channel-3", floor: "degraded", venues: ["deribit", "kraken", "okx"] },
  ];
  return Promise.all(
    channels.map(async (channel) => ({
      ...channel,
      id: await addChannel(pool, { ...channel, to: native(origin + channel.path) }),
    })),
  );
}

const more = ["deribit", "binance-futures", "kraken-futures", "bitstamp"];

/**
 * Adds events of venues that the engine does not measure: as many as are sent meanwhile, so that there is always work,
 * and little is left at the end.
 */
async function happenMore(pool: Pool, random: () => number, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const due = await pool.query(sql`select from delivery where state = 'due'`);
    if (due.length < 20) {
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

async function hasEngineDecided(pool: Pool): Promise<boolean> {
  const decided = await pool.query(sql`
    select from incident join component using (component_id) join venue v using (venue_id)
    where v.venue <> all (${more}::text[])
  `);
  return decided.length > 0;
}

async function withoutAnEvent(pool: Pool): Promise<string[]> {
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
  const earlier = events.filter(({ incident_id, kind }) => incident_id === event.incident_id && kind !== "closed");
  return earlier.some(isOfIt);
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

async function checkLog(t: Test, pool: Pool, channels: Channel[], arrivals: ReceivedAlert[]): Promise<void> {
  const pathOf = new Map(channels.map(({ id, path }) => [id, path]));
  const requests = new Map<string, number>();
  for (const key of arrivals.map(keyOf)) requests.set(key, (requests.get(key) ?? 0) + 1);

  type Count = "attempts" | "failures" | "answered" | "delivered" | "failed" | "lost" | "open";
  const log = await pool.query<{ channel_id: number; event_id: number; state: string } & Record<Count, number>>(sql`
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
  const undelivered = log.filter(({ state, delivered, open }) => state !== "delivered" || delivered !== 1 || open > 0);
  t.same(undelivered, [], "the log shows each alert as delivered once");
  const miscounted = log.filter(({ failures, failed }) => failures !== failed);
  t.same(miscounted, [], "the counted failures are those in the log");
  const unlogged = log.filter(({ channel_id, event_id, answered, attempts }) => {
    const arrived = requests.get(`${pathOf.get(channel_id)!} ${event_id}`) ?? 0;
    return arrived < answered || arrived > attempts;
  });
  t.same(unlogged, [], "every request that a receiver saw is an attempt in the log");
  const lost = log.reduce((sum, row) => sum + row.lost, 0);
  t.comment(`${lost} attempts were cut off and retried`);
  t.ok(lost > 0, "some kills interrupted an attempt");
}
