/** How often a delivery is tried, when its channel is switched off, and how long its history is kept. */
import t from "tap";
import { sql } from "../../../../shared/database/pool.js";
import { addChannel, happened } from "../../../support/alerts.js";
import { migratedDatabase } from "../../../support/database.js";
import {
  after,
  attempts,
  channelWithQueue,
  claim,
  clearAlerts,
  closeAll,
  end,
  expand,
  queueEvents,
  queueOf,
  retain,
  settle,
  start,
  switchOff,
} from "../../../support/alert-queue.js";

void t.test("failed deliveries are retried, and end", async (t) => {
  const { pool } = await migratedDatabase(t);
  t.beforeEach(() => clearAlerts(pool));

  await t.test("spec: up to 5 attempts, with growing pauses", async (t) => {
    const channel = await channelWithQueue(pool);
    let at = start;
    for (const pauseS of [5, 20, 80, 320]) {
      await claim(pool, at);
      const [settled] = await settle(pool, at, channel, "refused");
      t.equal(+settled!.due_at - +at, pauseS * 1000);
      at = new Date(+settled!.due_at);
      t.strictSame(await claim(pool, new Date(+at - 1)), []);
    }
    t.match(await claim(pool, at), [{ what: "okx opened" }]);
    const [last] = await settle(pool, at, channel, "timeout");
    t.match(last, { state: "failed", failures: 5 });
    t.strictSame(await queueOf(pool, channel), ["okx opened: failed"]);
    await closeAll(pool);
    t.strictSame(await expand(pool), [1, 1], "the closing is sent nevertheless");
    t.match(await claim(pool, at), [{ what: "okx closed" }]);
  });

  await t.test("pauses have jitter", async (t) => {
    const channel = await channelWithQueue(pool);
    await claim(pool, start);
    const [settled] = await settle(pool, start, channel, "refused", { spread: 1.2 });
    t.equal(+settled!.due_at - +start, 6_000);
  });

  await t.test("Retry-After postpones the retry", async (t) => {
    const channel = await channelWithQueue(pool);
    let at = start;
    const cases = [
      { retryAfterMs: 90_000, pauseMs: 90_000 },
      { retryAfterMs: 3_600_000, pauseMs: 600_000 },
      { retryAfterMs: 1_000, pauseMs: 80_000 },
    ];
    for (const { retryAfterMs, pauseMs } of cases) {
      at = new Date(+at + 3_600_000);
      await claim(pool, at);
      const [settled] = await settle(pool, at, channel, "refused", { status: 429, retryAfterMs });
      t.equal(+settled!.due_at - +at, pauseMs);
    }
  });

  await t.test("Retry-After of a failed delivery postpones the next delivery", async (t) => {
    const channel = await channelWithQueue(pool, ["okx", "gate"]);
    await pool.script("update delivery set failures = 4 where event_id = 1");
    await claim(pool, start);
    const [last] = await settle(pool, start, channel, "refused", { status: 429, retryAfterMs: 60_000 });
    t.match(last, { state: "failed" });
    t.strictSame(await claim(pool, after(59)), []);
    t.match(await claim(pool, after(60)), [{ what: "gate opened" }]);
  });

  await t.test("a lasting fault of our own counts as the receiver's while others are reached", async (t) => {
    const [a, b] = [await addChannel(pool), await addChannel(pool)];
    await queueEvents(pool);
    await claim(pool, start);
    t.match(await settle(pool, start, a, "ours"), [{ failures: 0 }]);
    await settle(pool, after(1), b, "delivered");
    await claim(pool, after(30));
    t.match(await settle(pool, after(30), a, "ours"), [{ failures: 1 }]);
    await claim(pool, after(90));
    const alone = await settle(pool, after(90), a, "ours");
    t.match(alone, [{ failures: 1 }], "not where no receiver was reached for a while");
  });

  await t.test("a fault of our own is not counted against the receiver", async (t) => {
    const channel = await channelWithQueue(pool);
    let at = start;
    for (let i = 0; i < 20; i++) {
      await claim(pool, at);
      const [settled] = await settle(pool, at, channel, "ours");
      t.match(settled, { state: "due", failures: 0, channel_failures: 0 });
      t.equal(+settled!.due_at - +at, 30_000);
      at = settled!.due_at;
    }
    await claim(pool, at);
    const [certain] = await settle(pool, at, channel, "ours", { retryAfterMs: 0 });
    t.match(certain, { state: "due", due_at: at.toISOString() }, "retried at once if the fault is certainly ours");
    const anHourLater = after(3600 + 1);
    await claim(pool, anHourLater);
    const [lasting] = await settle(pool, anHourLater, channel, "ours");
    t.match(lasting, { state: "due", failures: 1, channel_failures: 1 }, "after an hour it counts");
  });

  await t.test("spec: 10 failures in a row switch a channel off", async (t) => {
    const channel = await addChannel(pool);
    const other = await addChannel(pool);
    await queueEvents(pool, ["okx", "kraken", "gate", "bybit"]);
    let at = start;
    // nine failures, one delivery, and ten failures
    for (let i = 1; i <= 20; i++) {
      at = new Date(+at + 400_000);
      await claim(pool, at);
      const [settled] = await settle(pool, at, channel, i === 10 ? "delivered" : "refused");
      t.equal(settled!.channel_off, i === 20 ? "failures" : null, `${i}`);
    }
    const [okx, kraken, gate, bybit] = await queueOf(pool, channel);
    t.equal(kraken, "kraken opened: delivered");
    t.strictSame([okx, gate, bybit], ["okx opened: failed", "gate opened: failed", "bybit opened: failed"]);
    await queueEvents(pool, ["kucoin"]);
    t.strictSame((await queueOf(pool, channel)).at(-1), "kucoin opened: skipped");
    const off = await pool.query(sql`select channel_id, off_cause, failures from channel where off_at is not null`);
    t.strictSame(off, [{ channel_id: channel, off_cause: "failures", failures: 10 }]);
    const claimed = await claim(pool, new Date(+at + 400_000));
    t.match(claimed, [{ channel: other }], "the other channel continues");
    t.equal(claimed.length, 1);
  });

  await t.test("410 switches a channel off at once", async (t) => {
    const channel = await channelWithQueue(pool, ["okx", "kraken"]);
    await claim(pool, start);
    const [settled] = await settle(pool, start, channel, "refused", { status: 410 });
    t.match(settled, { state: "failed", channel_off: "gone" });
    t.strictSame(await claim(pool, after(3600)), []);
    t.strictSame(await end(pool, start), [{ channel_id: channel, state: "skipped", deliveries: 1 }]);
    t.strictSame(await queueOf(pool, channel), ["okx opened: failed", "kraken opened: skipped"]);
  });

  await t.test("a delivery in flight when its channel is switched off", async (t) => {
    const channel = await channelWithQueue(pool);
    await claim(pool, start);
    await switchOff(pool, channel);
    t.strictSame(await end(pool, after(1)), [], "is not ended before its claim expires");
    t.match(await end(pool, after(31)), [{ state: "skipped" }]);
    t.strictSame(await attempts(pool), [{ by: "test", result: "lost" }]);
  });
});

void t.test("alert history is kept as long as necessary", async (t) => {
  const { pool } = await migratedDatabase(t);
  t.beforeEach(() => clearAlerts(pool));
  const day = 24 * 3600;

  await t.test("spec: it is kept for 90 days", async (t) => {
    await addChannel(pool);
    await happened(pool, { venue: "okx", at: start });
    await expand(pool);
    await closeAll(pool);
    await expand(pool);
    for (let i = 0; i < 2; i++) {
      const [claimed] = await claim(pool, after(i));
      await settle(pool, after(i), claimed!.channel, "delivered");
    }
    const kept = () =>
      pool.query(sql`
        select (select count(*) from delivery) as deliveries, (select count(*) from delivery_attempt) as attempts,
          (select count(*) from alert_event) as events, (select count(*) from incident) as incidents
      `);
    await retain(pool, after(90 * day - 10));
    t.match(await kept(), [{ deliveries: 2, attempts: 2, events: 2 }]);
    await retain(pool, after(90 * day + 600));
    t.match(await kept(), [{ deliveries: 0, attempts: 0, events: 0, incidents: 1 }]);
  });

  await t.test("history that is still needed stays", async (t) => {
    await addChannel(pool);
    await happened(pool, { venue: "okx", at: start });
    await happened(pool, { venue: "gate", at: start, kinds: ["opened", "closed"] });
    await pool.script("update alert_event set late = true where kind = 'opened'");
    t.strictSame(await expand(pool), [3, 3]);
    await retain(pool, after(200 * day));
    const unsent = await pool.query(sql`delete from delivery returning event_id`);
    t.equal(unsent.length, 3, "deliveries that were never sent stay");
    await retain(pool, after(200 * day));
    const left = await pool.query<{ event: string }>(sql`
      select v.venue || ' ' || e.kind as event
      from alert_event e join incident using (incident_id) join component using (component_id) join venue v using (venue_id)
      order by e.event_id
    `);
    const openings = [{ event: "okx opened" }, { event: "gate opened" }];
    t.strictSame(left, openings, "events of an open incident and a late opening stay");
  });
});
