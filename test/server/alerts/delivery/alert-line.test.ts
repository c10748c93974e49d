/**
 * From the outbox into each channel's queue, and out of it: which channel gets which alert, in which order, how often,
 * and until when.
 */
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { deliveryRules } from "../../../../server/alerts/delivery/rules.js";
import { makeSealing } from "../../../../server/alerts/channels/sealing.js";
import { type Pool, sql } from "../../../../shared/database/pool.js";
import { addChannel, type ChannelGiven, happened, native, sealing } from "../../../support/alerts.js";
import { migratedDatabase } from "../../../support/database.js";

const start = new Date("2026-03-01T12:00:00Z");
const after = (seconds: number) => new Date(+start + seconds * 1000);

void t.test("an event is queued for the right channels", async (t) => {
  const { pool } = await migratedDatabase(t);

  await t.test("a new channel gets no earlier events", async (t) => {
    await begin(pool);
    await happened(pool, { venue: "okx" });
    const early = await addChannel(pool);
    const late = await addChannel(pool, { after: await newestEvent(pool) });
    await happened(pool, { venue: "kraken" });
    t.strictSame(await expand(pool), [2, 3]);
    t.strictSame(await lineOf(pool, early), ["okx opened", "kraken opened"]);
    t.strictSame(await lineOf(pool, late), ["kraken opened"]);
  });

  await t.test("a channel gets no alerts below its severity floor", async (t) => {
    await begin(pool);
    const all = await addChannel(pool);
    const worst = await addChannel(pool, { floor: "outage" });
    await happened(pool, {
      venue: "okx",
      severity: "degraded",
      kinds: ["opened", "escalated", "closed"],
    });
    await happened(pool, {
      venue: "gate",
      severity: "degraded",
      kinds: ["opened", "closed"],
    });
    await expand(pool);
    t.strictSame(await lineOf(pool, all), ["okx opened", "okx escalated", "okx closed", "gate opened", "gate closed"]);
    t.strictSame(
      await lineOf(pool, worst),
      ["okx escalated", "okx closed"],
      "alerted once it is an outage, and then of its closing",
    );
  });

  await t.test("a channel's filters select venues and categories", async (t) => {
    await begin(pool);
    const kraken = await addChannel(pool, { venues: ["kraken", "gate"] });
    const bridges = await addChannel(pool, { categories: ["bridges"] });
    const both = await addChannel(pool, {
      venues: ["kraken"],
      categories: [await categoryOf(pool, "kraken")],
    });
    for (const venue of ["okx", "kraken", "gate"]) await happened(pool, { venue });
    await expand(pool);
    t.strictSame(await lineOf(pool, kraken), ["kraken opened", "gate opened"]);
    t.strictSame(await lineOf(pool, bridges), []);
    t.strictSame(await lineOf(pool, both), ["kraken opened"]);
  });

  await t.test("a closing goes to each channel that got the opening", async (t) => {
    await begin(pool);
    const early = await addChannel(pool);
    const wasOff = await addChannel(pool);
    await switchOff(pool, wasOff);
    await happened(pool, { venue: "okx" });
    await expand(pool);
    t.strictSame(await lineOf(pool, wasOff), ["okx opened: skipped"]);
    await pool.query(sql`update channel set off_at = null, off_cause = null where channel_id = ${wasOff}`);
    const late = await addChannel(pool, { after: await newestEvent(pool) });
    await closes(pool);
    await expand(pool);
    t.strictSame(await lineOf(pool, early), ["okx opened", "okx closed"]);
    t.strictSame(await lineOf(pool, late), [], "a channel without the opening gets no closing");
    t.strictSame(await lineOf(pool, wasOff), ["okx opened: skipped"]);
  });

  await t.test("a closing goes to a channel that got the opening by a replay, or might have", async (t) => {
    await begin(pool);
    const replayed = await addChannel(pool);
    const tried = await addChannel(pool);
    await switchOff(pool, replayed);
    await happened(pool, { venue: "okx" });
    await expand(pool);
    await pool.file("by_hand_open", [replayed, 1, "cli", 30_000]);
    await settle(pool, start, replayed, "delivered", {}, "cli");
    await claim(pool, start);
    await settle(pool, start, tried, "timeout");
    await switchOff(pool, tried);
    await end(pool, start);
    await pool.script("update channel set off_at = null, off_cause = null");
    await closes(pool);
    t.strictSame(await expand(pool), [1, 2]);
    t.strictSame(await lineOf(pool, tried), ["okx opened: skipped", "okx closed"]);
  });

  await t.test("a closing goes out for an incident that began long before", async (t) => {
    await begin(pool);
    const channel = await addChannel(pool);
    await happened(pool, { venue: "okx", at: start });
    await expand(pool);
    await claim(pool, start);
    await settle(pool, start, channel, "delivered");
    const day = 24 * 3600;
    await retain(pool, after(100 * day));
    await closes(pool);
    await retain(pool, after(100 * day));
    t.strictSame(await expand(pool), [1, 1]);
    await retain(pool, after(100 * day));
    t.strictSame(await lineOf(pool, channel), ["okx closed"]);
  });

  await t.test("two dispatchers with a long outbox lose no closing", async (t) => {
    await begin(pool);
    const channels = [await addChannel(pool), await addChannel(pool)];
    const venues = ["okx", "kraken", "gate", "bybit", "kucoin", "gemini"];
    for (const venue of venues) await happened(pool, { venue });
    await closes(pool);
    // the first queues the openings, and has not committed when the second looks
    const looks = await Promise.all([lookFor(pool, channels.length * venues.length), lookFor(pool, 100)]);
    // the dispatcher that did not get the outbox looks again
    looks.push(await lookFor(pool, 100));
    t.equal(
      looks.reduce((sum, deliveries) => sum + deliveries),
      2 * 2 * venues.length,
    );
    for (const channel of channels)
      t.strictSame(await lineOf(pool, channel), [
        ...venues.map((venue) => `${venue} opened`),
        ...venues.map((venue) => `${venue} closed`),
      ]);
  });

  await t.test("no channel gets an alert of a retracted incident", async (t) => {
    await begin(pool);
    const channel = await addChannel(pool);
    await happened(pool, { venue: "okx" });
    await happened(pool, { venue: "gate" });
    await retractAll(pool, "okx");
    t.strictSame(await expand(pool), [2, 1]);
    t.strictSame(await lineOf(pool, channel), ["gate opened"]);
    const [event] = await pool.query(sql`
      select dispatched_at, dropped_at is not null as dropped from alert_event order by event_id
    `);
    t.strictSame(event, { dispatched_at: null, dropped: true });
    await retractAll(pool, "gate");
    t.strictSame(
      await claim(pool, start),
      [{ channel, what: "gate opened", state: "dropped" }],
      "a queued alert is dropped when its incident is retracted",
    );
    t.strictSame(await lineOf(pool, channel), ["gate opened: dropped, its incident was retracted"]);
  });

  await t.test("no channel gets an alert of a venue that is no longer published", async (t) => {
    await begin(pool);
    const channel = await addChannel(pool);
    await happened(pool, { venue: "okx" });
    await expand(pool);
    await pool.script("update venue set published = false where venue = 'okx'");
    t.match(await claim(pool, start), [{ state: "dropped" }]);
    await pool.script("update venue set published = true where venue = 'okx'");
    t.strictSame(await lineOf(pool, channel), ["okx opened: dropped, its venue is no longer published"]);
  });

  await t.test("an unpublished venue's closing does not go to channels without the opening", async (t) => {
    const channel = await oneInLine(pool);
    await closes(pool);
    await expand(pool);
    await pool.script("update venue set published = false where venue = 'okx'");
    t.match(await claim(pool, start), [{ state: "dropped" }]);
    t.match(await claim(pool, start), [{ state: "dropped" }]);
    await pool.script("update venue set published = true where venue = 'okx'");
    t.equal((await attempts(pool)).length, 0, `channel ${channel}`);
  });

  await t.test("an unpublished venue's closing goes to channels that got the opening", async (t) => {
    const channel = await oneInLine(pool);
    await claim(pool, start);
    await settle(pool, start, channel, "delivered");
    await pool.script("update venue set published = false where venue = 'okx'");
    await closes(pool);
    await expand(pool);
    t.match(await claim(pool, after(1)), [{ what: "okx closed", state: "due" }]);
    await pool.script("update venue set published = true where venue = 'okx'");
  });

  await t.test("an event leaves the outbox only once", async (t) => {
    await begin(pool);
    await addChannel(pool);
    for (const venue of ["okx", "kraken", "gate"]) await happened(pool, { venue });
    const limited = await Promise.all([expand(pool, 2), expand(pool, 2)]);
    const events = limited.map(([n]) => n!);
    t.equal(events[0]! + events[1]!, 3, "two dispatchers at the same time take each event once");
    t.strictSame(await expand(pool), [0, 0]);
  });
});

void t.test("a channel's deliveries are sent in order", async (t) => {
  const { pool } = await migratedDatabase(t);

  await t.test("a queue advances when its first delivery has ended", async (t) => {
    await begin(pool);
    const [a, b] = [await addChannel(pool), await addChannel(pool)];
    await happened(pool, { venue: "okx", kinds: ["opened", "closed"] });
    await expand(pool);
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
    await begin(pool);
    const channel = await addChannel(pool);
    await happened(pool, { venue: "okx", kinds: ["opened", "closed"] });
    await expand(pool);
    await claim(pool, start, "gone");
    t.strictSame(await claim(pool, after(29.9), "next"), []);
    t.strictSame(await claim(pool, after(30.1), "next"), [{ channel, what: "okx opened", state: "due" }]);
    t.strictSame(await attempts(pool), [
      { by: "gone", result: "lost" },
      { by: "next", result: null },
    ]);
    t.strictSame(
      await settle(pool, after(31), channel, "delivered", {}, "gone"),
      [],
      "its late result is logged, and does not advance the queue",
    );
    t.strictSame(await attempts(pool), [
      { by: "gone", result: "delivered" },
      { by: "next", result: null },
    ]);
    t.strictSame(await lineOf(pool, channel), ["okx opened", "okx closed"]);
    await settle(pool, after(32), channel, "delivered", {}, "next");
    t.strictSame(await lineOf(pool, channel), ["okx opened: delivered", "okx closed"]);
  });

  await t.test("two dispatchers that claim at the same time get different deliveries", async (t) => {
    await begin(pool);
    for (let i = 0; i < 12; i++) await addChannel(pool);
    await happened(pool);
    await expand(pool);
    const claims = await Promise.all(["a", "b", "c", "d"].map((who) => claim(pool, start, who, 7)));
    const channels = claims.flat().map(({ channel }) => channel);
    t.equal(new Set(channels).size, channels.length, "none twice");
    t.equal((await claim(pool, start)).length, 12 - channels.length);
  });

  await t.test("a delivery put in front waits for the one in flight", async (t) => {
    await begin(pool);
    const channel = await addChannel(pool);
    for (const venue of ["okx", "gate"]) await happened(pool, { venue });
    await expand(pool);
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
    const channel = await oneInLine(pool);
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
    await begin(pool);
    const paces = { native: 0, chat: 1_000, paging: 500 };
    t.strictSame(deliveryRules.pace_ms, paces);
    const channel = await addChannel(pool, {
      to: { format: "chat", url: "https://chat.example/hook" },
    });
    await happened(pool, { venue: "okx", kinds: ["opened", "closed"] });
    await expand(pool);
    await claim(pool, start);
    await settle(pool, start, channel, "delivered");
    t.strictSame(await claim(pool, after(0.9)), []);
    t.match(await claim(pool, after(1)), [{ what: "okx closed" }]);
  });
});

void t.test("failed deliveries are retried, and end", async (t) => {
  const { pool } = await migratedDatabase(t);

  await t.test("spec: up to 5 attempts, with growing pauses", async (t) => {
    const channel = await oneInLine(pool);
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
    t.strictSame(await lineOf(pool, channel), ["okx opened: failed"]);
    t.match(await expandAfter(pool, () => closes(pool)), [1, 1], "the closing is sent nevertheless");
    t.match(await claim(pool, at), [{ what: "okx closed" }]);
  });

  await t.test("pauses have jitter", async (t) => {
    const channel = await oneInLine(pool);
    await claim(pool, start);
    const [settled] = await settle(pool, start, channel, "refused", {
      spread: 1.2,
    });
    t.equal(+settled!.due_at - +start, 6_000);
  });

  await t.test("Retry-After postpones the retry", async (t) => {
    const channel = await oneInLine(pool);
    let at = start;
    for (const [askedMs, pauseMs] of [
      [90_000, 90_000],
      [3_600_000, 600_000],
      [1_000, 80_000],
    ] as const) {
      at = new Date(+at + 3_600_000);
      await claim(pool, at);
      const [settled] = await settle(pool, at, channel, "refused", {
        status: 429,
        retryAfterMs: askedMs,
      });
      t.equal(+settled!.due_at - +at, pauseMs);
    }
  });

  await t.test("Retry-After of a failed delivery postpones the next delivery", async (t) => {
    await begin(pool);
    const channel = await addChannel(pool);
    for (const venue of ["okx", "gate"]) await happened(pool, { venue });
    await expand(pool);
    await pool.script("update delivery set failures = 4 where event_id = 1");
    await claim(pool, start);
    const [last] = await settle(pool, start, channel, "refused", {
      status: 429,
      retryAfterMs: 60_000,
    });
    t.match(last, { state: "failed" });
    t.strictSame(await claim(pool, after(59)), []);
    t.match(await claim(pool, after(60)), [{ what: "gate opened" }]);
  });

  await t.test("a lasting fault of our own counts as the receiver's while others are reached", async (t) => {
    await begin(pool);
    const [a, b] = [await addChannel(pool), await addChannel(pool)];
    await happened(pool, { venue: "okx" });
    await expand(pool);
    await claim(pool, start);
    t.match(await settle(pool, start, a, "ours"), [{ failures: 0 }]);
    await settle(pool, after(1), b, "delivered");
    await claim(pool, after(30));
    t.match(await settle(pool, after(30), a, "ours"), [{ failures: 1 }]);
    await claim(pool, after(90));
    t.match(
      await settle(pool, after(90), a, "ours"),
      [{ failures: 1 }],
      "not where no receiver was reached for a while",
    );
  });

  await t.test("a fault of our own is not counted against the receiver", async (t) => {
    const channel = await oneInLine(pool);
    let at = start;
    for (let i = 0; i < 20; i++) {
      await claim(pool, at);
      const [settled] = await settle(pool, at, channel, "ours");
      t.match(settled, { state: "due", failures: 0, channel_failures: 0 });
      t.equal(+settled!.due_at - +at, 30_000);
      at = settled!.due_at;
    }
    await claim(pool, at);
    const [certain] = await settle(pool, at, channel, "ours", {
      retryAfterMs: 0,
    });
    t.match(certain, { state: "due", due_at: at }, "retried at once if the fault is certainly ours");
    const anHourLater = after(3600 + 1);
    await claim(pool, anHourLater);
    const [believed] = await settle(pool, anHourLater, channel, "ours");
    t.match(
      believed,
      { state: "due", failures: 1, channel_failures: 1 },
      "after an hour it counts against the receiver",
    );
  });

  await t.test("spec: 10 failures in a row switch a channel off", async (t) => {
    await begin(pool);
    const channel = await addChannel(pool);
    const other = await addChannel(pool);
    for (const venue of ["okx", "kraken", "gate", "bybit"]) await happened(pool, { venue });
    await expand(pool);
    let at = start;
    // nine failures, one delivery, and ten failures
    for (let i = 1; i <= 20; i++) {
      at = new Date(+at + 400_000);
      await claim(pool, at);
      const [settled] = await settle(pool, at, channel, i === 10 ? "delivered" : "refused");
      t.equal(settled!.channel_off, i === 20 ? "failures" : null, `${i}`);
    }
    t.strictSame(await lineOf(pool, channel), [
      "okx opened: failed",
      "kraken opened: delivered",
      "gate opened: failed",
      "bybit opened: failed",
    ]);
    await happened(pool, { venue: "kucoin" });
    await expand(pool);
    t.strictSame((await lineOf(pool, channel)).at(-1), "kucoin opened: skipped");
    const [row] = await pool.query(sql`
        select channel_id as id, off_cause, failures from channel where off_at is not null
      `);
    t.strictSame(row, { id: channel, off_cause: "failures", failures: 10 });
    t.ok(
      (await claim(pool, at)).every(({ channel }) => channel === other),
      "the other channel continues",
    );
  });

  await t.test("410 switches a channel off at once", async (t) => {
    await begin(pool);
    const channel = await addChannel(pool);
    for (const venue of ["okx", "kraken"]) await happened(pool, { venue });
    await expand(pool);
    await claim(pool, start);
    const [settled] = await settle(pool, start, channel, "refused", {
      status: 410,
    });
    t.match(settled, { state: "failed", channel_off: "gone" });
    t.strictSame(await claim(pool, after(3600)), []);
    t.strictSame(await end(pool, start), [{ channel_id: channel, state: "skipped", deliveries: 1 }]);
    t.strictSame(await lineOf(pool, channel), ["okx opened: failed", "kraken opened: skipped"]);
  });

  await t.test("a delivery in flight when its channel is switched off", async (t) => {
    const channel = await oneInLine(pool);
    await claim(pool, start);
    await switchOff(pool, channel);
    t.strictSame(await end(pool, after(1)), [], "is not ended before its claim expires");
    t.match(await end(pool, after(31)), [{ state: "skipped" }]);
    t.strictSame(await attempts(pool), [{ by: "test", result: "lost" }]);
  });
});

void t.test("alert history is kept as long as necessary", async (t) => {
  const { pool } = await migratedDatabase(t);
  const day = 24 * 3600;

  await t.test("spec: it is kept for 90 days", async (t) => {
    await begin(pool);
    await addChannel(pool);
    await happened(pool, { venue: "okx", at: start });
    await expand(pool);
    await closes(pool);
    await expand(pool);
    for (let i = 0; i < 2; i++) {
      const [claimed] = await claim(pool, after(i));
      await settle(pool, after(i), claimed!.channel, "delivered");
    }
    const kept = async () => [
      ...(await pool.query(sql`
        select (select count(*) from delivery) as deliveries, (select count(*) from delivery_attempt) as attempts,
          (select count(*) from alert_event) as events, (select count(*) from incident) as incidents
      `)),
    ];
    await retain(pool, after(90 * day - 10));
    t.match(await kept(), [{ deliveries: 2, attempts: 2, events: 2 }]);
    await retain(pool, after(90 * day + 600));
    t.match(await kept(), [{ deliveries: 0, attempts: 0, events: 0, incidents: 1 }]);
  });

  await t.test("history that is still needed stays", async (t) => {
    await begin(pool);
    await addChannel(pool);
    await happened(pool, { venue: "okx", at: start });
    await happened(pool, {
      venue: "gate",
      at: start,
      kinds: ["opened", "closed"],
    });
    await pool.script("update alert_event set late = true where kind = 'opened'");
    t.strictSame(await expand(pool), [3, 3]);
    await retain(pool, after(200 * day));
    t.equal(await count(pool, "delivery"), 3, "deliveries that were never sent stay");
    await pool.query(sql`delete from delivery`);
    await retain(pool, after(200 * day));
    const left = await pool.query(sql`
      select v.venue, e.kind from alert_event e join incident using (incident_id) join component using (component_id)
      join venue v using (venue_id) order by e.event_id
    `);
    t.strictSame(
      left,
      [
        { venue: "okx", kind: "opened" },
        { venue: "gate", kind: "opened" },
      ],
      "events of an open incident and a late opening stay",
    );
  });
});

async function begin(pool: Pool): Promise<void> {
  await pool.script("truncate incident, alert_event, channel, delivery, delivery_attempt restart identity");
}

/** One channel with one event in its queue. */
async function oneInLine(pool: Pool, given: ChannelGiven = {}) {
  await begin(pool);
  const channel = await addChannel(pool, {
    to: native("https://receiver.example/a"),
    ...given,
  });
  await happened(pool, { venue: "okx" });
  await expand(pool);
  return channel;
}

/** @returns the number of events, and of the deliveries that they became */
async function expand(pool: Pool, most = 100): Promise<number[]> {
  const [row] = await pool.file<{ events: number; deliveries: number }>("expand_alerts", [start, most]);
  return [row!.events, row!.deliveries];
}

/** One look of a dispatcher. @returns how many deliveries it queued */
async function lookFor(pool: Pool, most: number): Promise<number> {
  return pool.transaction(async (tx) => {
    const [outbox] = await tx.file<{ held: boolean }>("hold_outbox");
    if (!outbox!.held) return 0;
    const [row] = await tx.file<{ deliveries: number }>("expand_alerts", [start, most]);
    // the other one arrives meanwhile, on a server
    await sleep(200);
    return row!.deliveries;
  });
}

async function expandAfter(pool: Pool, act: () => Promise<void>) {
  await act();
  return expand(pool);
}

interface ClaimedRow {
  channel_id: number;
  slug: string;
  kind: string;
  state: string;
}

async function claim(pool: Pool, at: Date, who = "test", most = 100, head = sealing.head) {
  const rows = await pool.file<ClaimedRow>("claim_deliveries", [
    at,
    who,
    deliveryRules.lease_ms,
    most,
    JSON.stringify(deliveryRules.pace_ms),
    head,
  ]);
  return rows.map(({ channel_id: channel, slug, kind, state }) => ({
    channel,
    what: `${slug.split("-")[0]} ${kind}`,
    state,
  }));
}

interface SettledRow {
  state: string;
  failures: number;
  due_at: Date;
  channel_off: string | null;
  channel_failures: number;
}

/** Settles the newest attempt for a channel, by `who`. */
async function settle(
  pool: Pool,
  at: Date,
  channel: number,
  result: string,
  more: { status?: number; retryAfterMs?: number; spread?: number } = {},
  who = "test",
): Promise<SettledRow[]> {
  const [attempt] = await pool.query<{ id: number }>(sql`
    select max(attempt_id) as id from delivery_attempt a
    where a.channel_id = ${channel} and a.sent_by = ${who}
  `);
  const ended = {
    attemptId: attempt!.id,
    result,
    durationMs: 12,
    agoMs: 0,
    spread: 1,
    ...more,
  };
  return pool.file<SettledRow>("settle_deliveries", [at, JSON.stringify([ended]), JSON.stringify(deliveryRules)]);
}

async function end(pool: Pool, at: Date) {
  return pool.file("end_deliveries", [at]);
}

/** `venue kind`, and the outcome if the delivery ended. */
async function lineOf(pool: Pool, channel: number): Promise<string[]> {
  const rows = await pool.query<{ line: string }>(sql`
    select v.venue || ' ' || e.kind || case
      when d.state = 'dropped' then ': dropped, ' || d.reason
      when d.state <> 'due' then ': ' || d.state
      else ''
    end as line
    from delivery d
    join alert_event e using (event_id)
    join incident using (incident_id)
    join component using (component_id)
    join venue v using (venue_id)
    where d.channel_id = ${channel}
    order by d.event_id
  `);
  return rows.map(({ line }) => line);
}

async function attempts(pool: Pool) {
  return pool.query(sql`select sent_by as by, result from delivery_attempt order by attempt_id`);
}

async function newestEvent(pool: Pool): Promise<number> {
  const [row] = await pool.query<{ id: number }>(sql`select max(event_id) as id from alert_event`);
  return row!.id;
}

async function categoryOf(pool: Pool, venue: string): Promise<string> {
  const [row] = await pool.query<{ category: string }>(sql`select category from venue where venue = ${venue}`);
  return row!.category;
}

async function switchOff(pool: Pool, channel: number): Promise<void> {
  await pool.query(sql`update channel set off_at = ${start}, off_cause = 'operator' where channel_id = ${channel}`);
}

/** Closes all open incidents, with their events in the outbox. */
async function closes(pool: Pool): Promise<void> {
  await pool.script(`
    with closed as (
      update incident set closed_at = opened_at + interval '5 minutes'
      where closed_at is null and retracted_at is null
      returning incident_id, peak_severity, closed_at
    )
    insert into alert_event (incident_id, kind, severity, at, recorded_at, late)
    select incident_id, 'closed', peak_severity, closed_at, closed_at, false from closed order by incident_id
  `);
}

/** Retracts an incident whose events have left the outbox, or are leaving it. */
async function retractAll(pool: Pool, venue: string): Promise<void> {
  await pool.query(sql`
    update incident i set retracted_at = i.opened_at, retraction_reason = 'false'
    from component c join venue v using (venue_id)
    where c.component_id = i.component_id and v.venue = ${venue} and i.retracted_at is null
  `);
}

async function retain(pool: Pool, at: Date): Promise<void> {
  await pool.query(sql`call upkeep.retain(${at})`);
}

async function count(pool: Pool, table: string): Promise<number> {
  const [row] = await pool.text<{ n: number }>(`select count(*) as n from ${table}`, []);
  return row!.n;
}
