/**
 * Dispatchers with real receivers: a storm, a slow receiver among good ones, several dispatchers, and their own
 * trouble.
 */
import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import { deliveryRules } from "../../../../server/core/alerts/retry-rules.js";
import { makeSealing } from "../../../../server/core/alerts/sealing.js";
import { type Db, type Pool, sql } from "../../../../shared/database/pool.js";
import { isAllDone, retractAll } from "../../../support/alert-queue.js";
import { dispatcherFor, eventIdOf, receiverFor } from "../../../support/alerting.js";
import { addChannel, happened, type Kind, native, signingSecret } from "../../../support/alerts.js";
import { migratedDatabase } from "../../../support/database.js";
import { listeningLog } from "../../../support/listening-log.js";
import { until } from "../../../support/until.js";

const rules = { ...deliveryRules, look_ms: 20, sweep_ms: 50 };

const storm = { channels: 20, incidents: Number(process.env.STORM_INCIDENTS ?? 25) };

void t.test("a storm of incidents starves no channel", async (t) => {
  const { pool } = await migratedDatabase(t);
  const receiver = await receiverFor(t);
  for (let i = 0; i < storm.channels; i++) await addChannel(pool, { to: native(`${receiver.origin}/${i}`) });
  const hung = await receiverFor(t, () => "hang");
  await addChannel(pool, { to: native(`${hung.origin}/hung`) });
  for (let i = 0; i < storm.incidents; i++) await happened(pool, { kinds: ["opened", "closed"] });
  const each = 2 * storm.incidents;

  // it hangs for as long as the storm lasts, even on a slow machine
  dispatcherFor(t, pool, { deadlineMs: 600_000, rules: { ...rules, lease_ms: 900_000 } });
  await until(() => receiver.arrivals.length >= storm.channels * each, 120_000, 20);
  t.equal(hung.arrivals.length, 1, "a hanging receiver is still at its first alert when the others have all");
  const byPath = groupedBy(receiver.arrivals, ({ path }) => path);
  const all = Array.from({ length: each }, (_, i) => i + 1);
  t.equal(byPath.size, storm.channels);
  for (const [path, arrivals] of byPath)
    t.strictSame(arrivals.map(eventIdOf), all, `${path} gets each event once, in order`);
  const halfWay = groupedBy(receiver.arrivals.slice(0, receiver.arrivals.length / 2), ({ path }) => path);
  t.equal(halfWay.size, storm.channels);
  const fewest = Math.min(...[...halfWay.values()].map((own) => own.length));
  t.ok(fewest > each / 4, `halfway through, the last receiver has ${fewest} of ${each}`);
});

void t.test("several dispatchers send no alert twice", async (t) => {
  const { pool } = await migratedDatabase(t);
  const receiver = await receiverFor(t);
  for (let i = 0; i < 6; i++) await addChannel(pool, { to: native(`${receiver.origin}/${i}`) });
  const dispatchers = Array.from({ length: 3 }, () => dispatcherFor(t, pool, { rules }));
  for (let i = 0; i < 10; i++) {
    await happened(pool, { kinds: ["opened", "closed"] });
    dispatchers[i % 3]!.wake();
  }
  await until(() => receiver.arrivals.length >= 120);
  await Promise.all(dispatchers.map((one) => one.close()));
  const keys = receiver.arrivals.map((one) => `${one.path} ${eventIdOf(one)}`);
  t.equal(new Set(keys).size, keys.length);
  t.strictSame(await states(pool), [{ state: "delivered", deliveries: 120 }]);
});

void t.test("closing waits for attempts in flight, and records them", async (t) => {
  const { pool, receiver } = await oneChannel(t, ["opened", "closed"], 300);
  const dispatcher = dispatcherFor(t, pool, { rules });
  await until(() => receiver.arrivals.length === 1);
  await dispatcher.close();
  t.strictSame(await states(pool), [
    { state: "delivered", deliveries: 1 },
    { state: "due", deliveries: 1 },
  ]);
  t.strictSame(await results(pool), ["delivered"], "no new attempt begins");
});

void t.test("a database outage loses no alert", async (t) => {
  const { pool, receiver } = await oneChannel(t);
  const { log, lines } = listeningLog();
  const failing = new Map(Object.entries({ expand_alerts: 1, claim_deliveries: 1, settle_or_retry_deliveries: 2 }));
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
  dispatcherFor(t, db, { rules, log });
  await until(() => receiver.arrivals.length === 2);
  await until(() => isAllDone(pool));
  t.strictSame(await states(pool), [{ state: "delivered", deliveries: 2 }]);
  // an answered attempt is not repeated: its result waits until it can be recorded
  t.strictSame(receiver.arrivals.map(eventIdOf), [1, 2]);
  t.equal(lines.filter((line) => line.includes("no connection")).length, 4);
});

void t.test("a delivery claimed too long ago is not sent", async (t) => {
  const { pool, receiver } = await oneChannel(t, ["opened"]);
  const impatient = { ...rules, lease_ms: 400 };
  const paused: Pool = {
    ...pool,
    async file<Row>(name: string, values?: readonly unknown[]) {
      const rows = await pool.file<Row>(name, values);
      if (name === "claim_deliveries" && rows.length > 0) await sleep(500);
      return rows;
    },
  };
  const frozen = dispatcherFor(t, paused, { rules: impatient });
  await until(async () => (await results(pool))[0] === "ours");
  await frozen.close();
  t.equal(receiver.arrivals.length, 0, "another dispatcher may have sent it, and later ones");
});

void t.test("without its key a dispatcher leaves all deliveries queued", async (t) => {
  const { pool, receiver } = await oneChannel(t, ["opened"]);
  const { log, lines } = listeningLog();
  // deliveries that waited for a lease are reported
  const impatient = { ...rules, lease_ms: 100 };
  const says = (words: string) => () => lines.join("").includes(words);
  const keyless = dispatcherFor(t, pool, { sealing: null, log, rules: impatient });
  await until(says("CHANNEL_KEY is not set for this core"));
  await keyless.close();

  const wrong = dispatcherFor(t, pool, { sealing: makeSealing(Buffer.alloc(32, 1)), log, rules: impatient });
  await until(says("this core's CHANNEL_KEY is not the one"));
  await wrong.close();
  t.equal(lines.length, 2, "said once");
  t.strictSame(await states(pool), [{ state: "due", deliveries: 1 }]);
  t.strictSame(await results(pool), [], "no attempt is recorded");
  dispatcherFor(t, pool, { rules });
  await until(() => receiver.arrivals.length === 1);
});

void t.test("the log names unsent alerts and reveals no secrets", async (t) => {
  const { pool } = await migratedDatabase(t);
  const gone = await receiverFor(t, () => ({ status: 410 }));
  const good = await receiverFor(t);
  const path = "/hidden-token";
  await addChannel(pool, { to: native(gone.origin + path) });
  const kept = await addChannel(pool, { to: native(good.origin + path) });
  await happened(pool, { venue: "okx", kinds: ["opened", "closed"] });
  await happened(pool, { venue: "gate" });
  const { log, lines } = listeningLog("debug");
  // queued, and retracted before it is claimed
  const keyless = dispatcherFor(t, pool, { sealing: null, log, rules });
  await until(async () => (await states(pool)).length > 0);
  await keyless.close();
  await retractAll(pool, "gate");
  const dispatcher = dispatcherFor(t, pool, { log, rules });
  await until(() => isAllDone(pool));
  await dispatcher.close();
  const text = lines.join("");
  t.match(text, /error test: a channel was switched off.*channel=1 why="the receiver answered that it is gone"/);
  t.match(text, /warn test: alerts were not sent.*channel=1 state=skipped deliveries=2/);
  t.match(text, new RegExp(`an alert was dropped.*channel=${kept} kind=opened slug=gate-.*its incident was retracted`));
  for (const secret of [path.slice(1), signingSecret, signingSecret.slice(6)]) t.notOk(text.includes(secret));
  const attempts = await pool.query(
    sql`select a.*, d.reason from delivery_attempt a join delivery d using (delivery_id)`,
  );
  t.notOk(JSON.stringify(attempts).includes(path.slice(1)));
});

/** A database with one channel and these events of one incident, and the channel's receiver. */
async function oneChannel(t: Test, kinds: Kind[] = ["opened", "closed"], afterMs = 0) {
  const { pool } = await migratedDatabase(t);
  const receiver = await receiverFor(t, () => ({ status: 200, afterMs }));
  await addChannel(pool, { to: native(`${receiver.origin}/`) });
  await happened(pool, { kinds });
  return { pool, receiver };
}

function groupedBy<Item>(items: Item[], key: (item: Item) => string) {
  const groups = new Map<string, Item[]>();
  for (const item of items) groups.set(key(item), [...(groups.get(key(item)) ?? []), item]);
  return groups;
}

async function states(pool: Pool) {
  return pool.query(sql`select state, count(*) as deliveries from delivery group by state order by state`);
}

async function results(pool: Pool): Promise<(string | null)[]> {
  const rows = await pool.query<{ result: string | null }>(
    sql`select result from delivery_attempt order by attempt_id`,
  );
  return rows.map(({ result }) => result);
}
