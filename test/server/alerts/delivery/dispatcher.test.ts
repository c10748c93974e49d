/**
 * Dispatchers with real receivers: a storm, a slow receiver among good ones, several dispatchers, and their own
 * trouble.
 */
import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import type { Alert } from "../../../../server/alerts/formats/alert.js";
import {
  type Dispatcher,
  type DispatcherOptions,
  startDispatcher,
} from "../../../../server/alerts/delivery/dispatcher.js";
import { formatAlert } from "../../../../server/alerts/formats/format-alert.js";
import { makePoster } from "../../../../server/alerts/delivery/post.js";
import { deliveryRules } from "../../../../server/alerts/delivery/rules.js";
import { makeSealing } from "../../../../server/alerts/channels/sealing.js";
import { type Db, type Pool, sql } from "../../../../shared/database/pool.js";
import { makeLog } from "../../../../shared/log/log.js";
import { addChannel, channelKey, happened, native, signingSecret } from "../../../support/alerts.js";
import { migratedDatabase } from "../../../support/database.js";
import { until } from "../../../support/until.js";
import { type ReceivedAlert, type Reaction, type Receiver, startReceiver } from "../../../../simulator/receiver.js";

const quick = { ...deliveryRules, look_ms: 20, sweep_ms: 50 };

const storm = { channels: 20, incidents: Number(process.env.STORM_INCIDENTS ?? 25) };

void t.test("a storm of incidents starves no channel", async (t) => {
  const { pool } = await migratedDatabase(t);
  const receiver = await receiverOf(t);
  for (let i = 0; i < storm.channels; i++) await addChannel(pool, { to: native(`${receiver.origin}/${i}`) });
  const hung = await receiverOf(t, () => "hang");
  await addChannel(pool, { to: native(`${hung.origin}/hung`) });
  for (let i = 0; i < storm.incidents; i++) await happened(pool, { kinds: ["opened", "closed"] });
  const each = 2 * storm.incidents;

  // it hangs for as long as the storm lasts, even on a slow machine
  start(t, pool, { deadlineMs: 600_000, rules: { ...quick, lease_ms: 900_000 } });
  await until(() => receiver.arrivals.length >= storm.channels * each, 120_000, 20);
  t.equal(hung.arrivals.length, 1, "a hanging receiver is still at its first alert when the others have all");
  const byPath = groupedBy(receiver.arrivals, ({ path }) => path);
  t.strictSame(
    [...byPath.values()].map((arrivals) => arrivals.map(eventOf)),
    Array.from({ length: storm.channels }, () => Array.from({ length: each }, (_, i) => i + 1)),
    "each receiver gets each event once, in order",
  );
  const halfWay = receiver.arrivals.slice(0, receiver.arrivals.length / 2);
  const served = groupedBy(halfWay, ({ path }) => path);
  t.equal(served.size, storm.channels);
  const fewest = Math.min(...[...served.values()].map((own) => own.length));
  t.ok(fewest > each / 4, `halfway through, the last receiver has ${fewest} of ${each}`);
});

void t.test("several dispatchers send no alert twice", async (t) => {
  const { pool } = await migratedDatabase(t);
  const receiver = await receiverOf(t);
  for (let i = 0; i < 6; i++) await addChannel(pool, { to: native(`${receiver.origin}/${i}`) });
  const dispatchers = [start(t, pool), start(t, pool), start(t, pool)];
  for (let i = 0; i < 10; i++) {
    await happened(pool, { kinds: ["opened", "closed"] });
    dispatchers[i % 3]!.wake();
  }
  await until(() => receiver.arrivals.length >= 120, 30_000);
  await Promise.all(dispatchers.map((one) => one.close()));
  const keys = receiver.arrivals.map((one) => `${one.path} ${eventOf(one)}`);
  t.equal(new Set(keys).size, keys.length);
  t.strictSame(await states(pool), [{ state: "delivered", deliveries: 120 }]);
});

void t.test("an event not yet dispatched is sent at any age", async (t) => {
  const { pool } = await migratedDatabase(t);
  const receiver = await receiverOf(t);
  await addChannel(pool, { to: native(`${receiver.origin}/`) });
  await happened(pool, { at: new Date(Date.now() - 40 * 24 * 3_600_000) });
  start(t, pool);
  await until(() => receiver.arrivals.length === 1);
  t.equal(eventOf(receiver.arrivals[0]!), 1);
});

void t.test("closing waits for attempts in flight, and records them", async (t) => {
  const { pool } = await migratedDatabase(t);
  const receiver = await receiverOf(t, () => ({ status: 200, afterMs: 300 }));
  await addChannel(pool, { to: native(`${receiver.origin}/`) });
  await happened(pool, { kinds: ["opened", "closed"] });
  const dispatcher = start(t, pool);
  await until(() => receiver.arrivals.length === 1);
  await dispatcher.close();
  t.strictSame(await states(pool), [
    { state: "delivered", deliveries: 1 },
    { state: "due", deliveries: 1 },
  ]);
  t.strictSame(await results(pool), ["delivered"], "no new attempt begins");
});

void t.test("a database outage loses no alert", async (t) => {
  const { pool } = await migratedDatabase(t);
  const receiver = await receiverOf(t);
  await addChannel(pool, { to: native(`${receiver.origin}/`) });
  await happened(pool, { kinds: ["opened", "closed"] });
  const lines: string[] = [];
  const failing = new Map([
    ["expand_alerts", 1],
    ["claim_deliveries", 1],
    ["settle_deliveries", 2],
  ]);
  const failingNow = <Of extends Db>(db: Of): Of => ({
    ...db,
    async file<Row>(name: string, values?: readonly unknown[]) {
      const left = failing.get(name) ?? 0;
      failing.set(name, left - 1);
      if (left > 0) throw new Error(`no connection for ${name}`);
      return db.file<Row>(name, values);
    },
  });
  const db: Pool = { ...failingNow(pool), transaction: (work) => pool.transaction((tx) => work(failingNow(tx))) };
  start(t, pool, { db, log: makeLog("test", "error", (one) => lines.push(one)) });
  await until(() => receiver.arrivals.length === 2, 30_000);
  await until(async () => (await states(pool)).length === 1);
  t.strictSame(await states(pool), [{ state: "delivered", deliveries: 2 }]);
  t.strictSame(
    receiver.arrivals.map(eventOf),
    [1, 2],
    "an answered attempt is not repeated: its result waits until it can be recorded",
  );
  t.equal(lines.filter((line) => line.includes("no connection")).length, 4);
});

void t.test("a delivery claimed too long ago is not sent", async (t) => {
  const { pool } = await migratedDatabase(t);
  const receiver = await receiverOf(t);
  await addChannel(pool, { to: native(`${receiver.origin}/`) });
  await happened(pool);
  const rules = { ...quick, lease_ms: 400 };
  const paused: Pool = {
    ...pool,
    async file<Row>(name: string, values?: readonly unknown[]) {
      const rows = await pool.file<Row>(name, values);
      if (name === "claim_deliveries" && rows.length > 0) await sleep(500);
      return rows;
    },
  };
  const frozen = start(t, pool, { db: paused, rules });
  await until(async () => (await results(pool))[0] === "ours");
  await frozen.close();
  t.equal(receiver.arrivals.length, 0, "another dispatcher may have sent it, and later ones");
});

void t.test("without its key a dispatcher leaves all deliveries queued", async (t) => {
  const { pool } = await migratedDatabase(t);
  const receiver = await receiverOf(t);
  await addChannel(pool, { to: native(`${receiver.origin}/`) });
  await happened(pool);
  const lines: string[] = [];
  const log = makeLog("test", "error", (one) => lines.push(one));
  // deliveries that waited for a lease are reported
  const impatient = { ...quick, lease_ms: 100 };
  const says = (words: string) => () => lines.join("").includes(words);
  const keyless = start(t, pool, { sealing: null, log, rules: impatient });
  await until(says("CHANNEL_KEY is not set for this core"));
  await keyless.close();

  const wrong = start(t, pool, { sealing: makeSealing(Buffer.alloc(32, 1)), log, rules: impatient });
  await until(says("this core's CHANNEL_KEY is not the one"));
  await wrong.close();
  t.equal(lines.length, 2, "said once");
  t.strictSame(await states(pool), [{ state: "due", deliveries: 1 }]);
  t.strictSame(await results(pool), [], "no attempt is recorded");
  start(t, pool);
  await until(() => receiver.arrivals.length === 1);
});

void t.test("the log names unsent alerts and reveals no secrets", async (t) => {
  const { pool } = await migratedDatabase(t);
  const gone = await receiverOf(t, () => ({ status: 410 }));
  const good = await receiverOf(t);
  const path = "/hidden-token";
  await addChannel(pool, { to: native(gone.origin + path) });
  const kept = await addChannel(pool, { to: native(good.origin + path) });
  await happened(pool, { venue: "okx", kinds: ["opened", "closed"] });
  await happened(pool, { venue: "gate" });
  const lines: string[] = [];
  const log = makeLog("test", "debug", (one) => lines.push(one));
  // queued, and retracted before it is claimed
  const keyless = start(t, pool, { sealing: null, log });
  await until(async () => (await states(pool)).length > 0);
  await keyless.close();
  await pool.script(`
    update incident i set retracted_at = opened_at, retraction_reason = 'a mistake of ours'
    from component c join venue v using (venue_id) where c.component_id = i.component_id and v.venue = 'gate'
  `);
  const dispatcher = start(t, pool, { log });
  await until(async () => {
    const [row] = await pool.query<{ n: number }>(sql`select count(*) as n from delivery where state = 'due'`);
    return row!.n === 0;
  });
  await dispatcher.close();
  const text = lines.join("");
  t.match(text, /error test: a channel was switched off.*channel=1 why="the receiver answered 410, gone"/);
  t.match(text, /warn test: alerts were not sent.*channel=1 state=skipped deliveries=2/);
  t.match(text, new RegExp(`an alert was dropped.*channel=${kept} kind=opened slug=gate-.*its incident was retracted`));
  for (const secret of [path.slice(1), signingSecret, signingSecret.slice(6)]) t.notOk(text.includes(secret));
  const said = await pool.query(sql`select a.*, d.reason from delivery_attempt a join delivery d using (delivery_id)`);
  t.notOk(JSON.stringify(said).includes(path.slice(1)));
});

async function receiverOf(t: Test, react?: (arrival: Omit<ReceivedAlert, "reaction">) => Reaction): Promise<Receiver> {
  const receiver = await startReceiver(react && { react });
  t.teardown(() => receiver.close());
  return receiver;
}

function start(
  t: Test,
  pool: Pool,
  { deadlineMs, ...given }: Partial<DispatcherOptions> & { deadlineMs?: number } = {},
): Dispatcher {
  const poster = makePoster({ allowLoopback: true, ...(deadlineMs && { deadlineMs }) });
  const dispatcher = startDispatcher({
    db: pool,
    poster,
    sealing: makeSealing(channelKey),
    write: (to, alert, sent) =>
      formatAlert(to, alert, {
        ...sent,
        baseUrl: "https://status.example",
        userAgent: "venuewatch/test",
      }),
    log: makeLog("test", "error"),
    rules: quick,
    ...given,
  });
  t.teardown(async () => {
    await poster.close();
    await dispatcher.close();
  });
  return dispatcher;
}

function eventOf({ body }: ReceivedAlert): number {
  return (JSON.parse(body.toString()) as Alert).eventId;
}

function groupedBy<Item>(items: Item[], key: (item: Item) => string) {
  const groups = new Map<string, Item[]>();
  for (const item of items) groups.set(key(item), [...(groups.get(key(item)) ?? []), item]);
  return groups;
}

async function states(pool: Pool) {
  return pool.query<{ state: string; deliveries: number }>(
    sql`select state, count(*) as deliveries from delivery group by state order by state`,
  );
}

async function results(pool: Pool): Promise<(string | null)[]> {
  const rows = await pool.query<{ result: string | null }>(
    sql`select result from delivery_attempt order by attempt_id`,
  );
  return rows.map(({ result }) => result);
}
