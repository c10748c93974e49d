/** From the outbox into each channel's queue, and out of it: which channel gets which alert, in which order. */
import t from "tap";
import { deliveryRules } from "../../../../server/core/alerts/retry-rules.js";
import { makeSealing } from "../../../../server/core/alerts/sealing.js";
import { sql } from "../../../../shared/database/pool.js";
import { addChannel, happened, sealing } from "../../../support/alerts.js";
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
    t.strictSame(deliveryRules.pace_ms, { native: 0, chat: 1_000, paging: 500 });
    const channel = await addChannel(pool, { to: { format: "chat", url: "https://chat.example/hook" } });
    await queueEvents(pool, ["okx"], ["opened", "closed"]);
    await claim(pool, start);
    await settle(pool, start, channel, "delivered");
    t.strictSame(await claim(pool, after(0.9)), []);
    t.match(await claim(pool, after(1)), [{ what: "okx closed" }]);
  });
});
