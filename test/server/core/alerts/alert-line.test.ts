/** From the outbox into each channel's queue, and out of it: which channel gets which alert, in which order. */
import t from "tap";
import { deliveryRules } from "../../../../server/core/alerts/retry-rules.js";
import { makeSealing } from "../../../../server/core/alerts/sealing.js";
import { sql } from "../../../../shared/database/pool.js";
import {
  after,
  attempts,
  channelWithQueue,
  claim,
  clearAlerts,
  closeAll,
  end,
  expand,
  lookOnce,
  newestEvent,
  queueEvents,
  queueOf,
  retain,
  retractAll,
  settle,
  start,
  switchOff,
} from "../../../support/alert-queue.js";
import { addChannel, happened, sealing } from "../../../support/alerts.js";
import { migratedDatabase } from "../../../support/database.js";

void t.test("an event is queued for the right channels", async (t) => {
  const { pool } = await migratedDatabase(t);
  t.beforeEach(() => clearAlerts(pool));

  await t.test("a new channel gets no earlier events", async (t) => {
    await happened(pool, { venue: "okx" });
    const early = await addChannel(pool);
    const late = await addChannel(pool, { after: await newestEvent(pool) });
    await happened(pool, { venue: "kraken" });
    t.strictSame(await expand(pool), [2, 3]);
    t.strictSame(await queueOf(pool, early), ["okx opened", "kraken opened"]);
    t.strictSame(await queueOf(pool, late), ["kraken opened"]);
  });

  await t.test("a channel gets no alerts below its severity floor", async (t) => {
    const all = await addChannel(pool);
    const worst = await addChannel(pool, { floor: "outage" });
    await happened(pool, { venue: "okx", severity: "degraded", kinds: ["opened", "escalated", "closed"] });
    await happened(pool, { venue: "gate", severity: "degraded", kinds: ["opened", "closed"] });
    await expand(pool);
    t.strictSame(await queueOf(pool, all), ["okx opened", "okx escalated", "okx closed", "gate opened", "gate closed"]);
    t.strictSame(
      await queueOf(pool, worst),
      ["okx escalated", "okx closed"],
      "the closing of an incident that it was alerted to",
    );
  });

  await t.test("a channel's filters select venues and categories", async (t) => {
    const kraken = await addChannel(pool, { venues: ["kraken", "gate"] });
    const bridges = await addChannel(pool, { categories: ["bridges"] });
    const both = await addChannel(pool, { venues: ["kraken"], categories: ["exchange"] });
    await queueEvents(pool, ["okx", "kraken", "gate"]);
    t.strictSame(await queueOf(pool, kraken), ["kraken opened", "gate opened"]);
    t.strictSame(await queueOf(pool, bridges), []);
    t.strictSame(await queueOf(pool, both), ["kraken opened"]);
  });

  await t.test("a closing goes to each channel that got the opening", async (t) => {
    const early = await addChannel(pool);
    const wasOff = await addChannel(pool);
    await switchOff(pool, wasOff);
    await queueEvents(pool);
    t.strictSame(await queueOf(pool, wasOff), ["okx opened: skipped"]);
    await pool.query(sql`update channel set off_at = null, off_cause = null where channel_id = ${wasOff}`);
    const late = await addChannel(pool, { after: await newestEvent(pool) });
    await closeAll(pool);
    await expand(pool);
    t.strictSame(await queueOf(pool, early), ["okx opened", "okx closed"]);
    t.strictSame(await queueOf(pool, late), [], "a channel without the opening gets no closing");
    t.strictSame(await queueOf(pool, wasOff), ["okx opened: skipped"]);
  });

  await t.test("a closing goes to a channel that got the opening by a replay, or might have", async (t) => {
    const replayed = await addChannel(pool);
    const tried = await addChannel(pool);
    await switchOff(pool, replayed);
    await queueEvents(pool);
    await pool.file("by_hand_open", [replayed, 1, "cli", 30_000]);
    await settle(pool, start, replayed, "delivered", {}, "cli");
    await claim(pool, start);
    await settle(pool, start, tried, "timeout");
    await switchOff(pool, tried);
    await end(pool, start);
    await pool.script("update channel set off_at = null, off_cause = null");
    await closeAll(pool);
    t.strictSame(await expand(pool), [1, 2]);
    t.strictSame(await queueOf(pool, tried), ["okx opened: skipped", "okx closed"]);
  });

  await t.test("a closing goes out for an incident that began long before", async (t) => {
    const channel = await addChannel(pool);
    await happened(pool, { venue: "okx", at: start });
    await expand(pool);
    await claim(pool, start);
    await settle(pool, start, channel, "delivered");
    const day = 24 * 3600;
    await retain(pool, after(100 * day));
    await closeAll(pool);
    await retain(pool, after(100 * day));
    t.strictSame(await expand(pool), [1, 1]);
    await retain(pool, after(100 * day));
    t.strictSame(await queueOf(pool, channel), ["okx closed"]);
  });

  await t.test("two dispatchers with a long outbox lose no closing", async (t) => {
    const channels = [await addChannel(pool), await addChannel(pool)];
    const venues = ["okx", "kraken", "gate", "bybit", "kucoin", "gemini"];
    for (const venue of venues) await happened(pool, { venue });
    await closeAll(pool);
    // the first queues the openings, and has not committed when the second looks
    const looks = await Promise.all([lookOnce(pool, channels.length * venues.length), lookOnce(pool, 100)]);
    // the dispatcher that did not get the outbox looks again
    looks.push(await lookOnce(pool, 100));
    const queued = looks.reduce((sum, deliveries) => sum + deliveries);
    t.equal(queued, 2 * 2 * venues.length);
    const all = ["opened", "closed"].flatMap((kind) => venues.map((venue) => `${venue} ${kind}`));
    for (const channel of channels) t.strictSame(await queueOf(pool, channel), all);
  });

  await t.test("no channel gets an alert of a retracted incident", async (t) => {
    const channel = await addChannel(pool);
    for (const venue of ["okx", "gate"]) await happened(pool, { venue });
    await retractAll(pool, "okx");
    t.strictSame(await expand(pool), [2, 1]);
    t.strictSame(await queueOf(pool, channel), ["gate opened"]);
    const [event] = await pool.query(sql`
      select dispatched_at, dropped_at is not null as dropped from alert_event order by event_id
    `);
    t.strictSame(event, { dispatched_at: null, dropped: true });
    await retractAll(pool, "gate");
    t.strictSame(await claim(pool, start), [{ channel, what: "gate opened", state: "dropped" }], "although queued");
    t.strictSame(await queueOf(pool, channel), ["gate opened: dropped, its incident was retracted"]);
  });

  await t.test("no channel gets an alert of a venue that is no longer published", async (t) => {
    const channel = await channelWithQueue(pool);
    await closeAll(pool);
    await expand(pool);
    await pool.script("update venue set published = false where venue = 'okx'");
    for (const kind of ["opened", "closed"])
      t.match(await claim(pool, start), [{ what: `okx ${kind}`, state: "dropped" }]);
    await pool.script("update venue set published = true where venue = 'okx'");
    const dropped = "dropped, its venue is no longer published";
    t.strictSame(await queueOf(pool, channel), [`okx opened: ${dropped}`, `okx closed: ${dropped}`]);
    t.strictSame(await attempts(pool), []);
  });

  await t.test("an unpublished venue's closing goes to channels that got the opening", async (t) => {
    const channel = await channelWithQueue(pool);
    await claim(pool, start);
    await settle(pool, start, channel, "delivered");
    await pool.script("update venue set published = false where venue = 'okx'");
    await closeAll(pool);
    await expand(pool);
    t.match(await claim(pool, after(1)), [{ what: "okx closed", state: "due" }]);
    await pool.script("update venue set published = true where venue = 'okx'");
  });

  await t.test("an event leaves the outbox only once", async (t) => {
    await addChannel(pool);
    for (const venue of ["okx", "kraken", "gate"]) await happened(pool, { venue });
    const [first, second] = await Promise.all([expand(pool, 2), expand(pool, 2)]);
    t.equal(first[0]! + second[0]!, 3, "two dispatchers at the same time take each event once");
    t.strictSame(await expand(pool), [0, 0]);
  });
});

void t.test("a channel's deliveries are sent in order", async (t) => {
  const { pool } = await migratedDatabase(t);
  t.beforeEach(() => clearAlerts(pool));

  await t.test("a queue advances when its first delivery has ended", async (t) => {
    const [a, b] = [await addChannel(pool), await addChannel(pool)];
    await queueEvents(pool, ["okx"], ["opened", "closed"]);
    const first = await claim(pool, start);
    t.strictSame(first, [
      { channel: a, what: "okx opened", state: "due" },
      { channel: b, what: "okx opened", state: "due" },
    ]);
    t.strictSame(await claim(pool, start), [], "no other dispatcher gets them");
    await settle(pool, start, a, "delivered");
    t.strictSame(await claim(pool, start), [{ channel: a, what: "okx closed", state: "due" }]);
    await settle(pool, start, b, "refused");
    t.strictSame(await claim(pool, after(1)), [], "the next delivery waits for it");
  });

  await t.test("a dispatcher that is gone loses its claims", async (t) => {
    const channel = await channelWithQueue(pool, ["okx"], ["opened", "closed"]);
    await claim(pool, start, "gone");
    t.strictSame(await claim(pool, after(29.9), "next"), []);
    t.strictSame(await claim(pool, after(30.1), "next"), [{ channel, what: "okx opened", state: "due" }]);
    const next = { by: "next", result: null };
    t.strictSame(await attempts(pool), [{ by: "gone", result: "lost" }, next]);
    const late = await settle(pool, after(31), channel, "delivered", {}, "gone");
    t.strictSame(late, [], "its late result is logged, and does not advance the queue");
    t.strictSame(await attempts(pool), [{ by: "gone", result: "delivered" }, next]);
    t.strictSame(await queueOf(pool, channel), ["okx opened", "okx closed"]);
    await settle(pool, after(32), channel, "delivered", {}, "next");
    t.strictSame(await queueOf(pool, channel), ["okx opened: delivered", "okx closed"]);
  });

  await t.test("two dispatchers that claim at the same time get different deliveries", async (t) => {
    for (let i = 0; i < 12; i++) await addChannel(pool);
    await happened(pool);
    await expand(pool);
    const claims = await Promise.all(["a", "b", "c", "d"].map((who) => claim(pool, start, who, 7)));
    const channels = claims.flat().map(({ channel }) => channel);
    t.equal(new Set(channels).size, channels.length, "none twice");
    t.equal((await claim(pool, start)).length, 12 - channels.length);
  });

  await t.test("a delivery put in front waits for the one in flight", async (t) => {
    const channel = await channelWithQueue(pool, ["okx", "gate"]);
    await pool.script("update delivery set state = 'failed', ended_at = due_at where event_id = 1");
    t.match(await claim(pool, start), [{ what: "gate opened" }]);
    t.equal((await pool.file("channel_queue_open", [channel])).length, 1);
    const soon = new Date(Date.now() + 1_000);
    await pool.query(sql`update delivery set claimed_until = ${new Date(+soon + 1)} where claimed_by is not null`);
    t.strictSame(await claim(pool, soon), []);
    await settle(pool, soon, channel, "delivered");
    t.match(await claim(pool, soon), [{ what: "okx opened" }]);
  });

  await t.test("a channel encrypted with another key is left to the core with that key", async (t) => {
    const channel = await channelWithQueue(pool);
    const other = makeSealing(Buffer.alloc(32, 9)).head;
    const unreadable = async (head: Buffer) => {
      const [row] = await pool.file<{ channels: number[] | null }>("unreadable_channels", [head, 0]);
      return row!.channels;
    };
    t.strictSame(await claim(pool, start, "other", 10, other), []);
    t.strictSame(await unreadable(other), [channel]);
    t.strictSame(await unreadable(Buffer.alloc(0)), [channel]);
    t.equal(await unreadable(sealing.head), null);
    t.equal((await claim(pool, start)).length, 1);
  });

  await t.test("deliveries to chat and paging services are paced", async (t) => {
    t.match(deliveryRules.pace_ms, { native: 0, chat: 1_000, paging: 500, telegram: 3_000 });
    const channel = await addChannel(pool, { to: { format: "chat", url: "https://chat.example/hook" } });
    await queueEvents(pool, ["okx"], ["opened", "closed"]);
    await claim(pool, start);
    await settle(pool, start, channel, "delivered");
    t.strictSame(await claim(pool, after(0.9)), []);
    t.match(await claim(pool, after(1)), [{ what: "okx closed" }]);
  });
});

// How often a delivery is tried, when its channel is switched off, and how long its history is kept.

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
