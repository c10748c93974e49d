/** How alerts are sent by hand, and how earlier ones are replayed. */
import { randomBytes } from "node:crypto";
import t from "tap";
import { channelOf, disableChannel, removeChannel, rotateSecret } from "../../../../server/core/alerts/channels.js";
import { credentialOf, makeSealing } from "../../../../server/core/alerts/sealing.js";
import {
  deliveriesOf,
  type Delivery,
  missedBy,
  replayAll,
  replaysOf,
  sendNow,
} from "../../../../server/core/alerts/deliveries.js";
import type { Poster } from "../../../../server/core/alerts/post.js";
import { type Db, sql } from "../../../../shared/database/pool.js";
import type { ReceivedAlert } from "../../../../world/receivers.js";
import { isSigned, newest, setUpSending, wanted } from "../../../support/manual-sends.js";

void t.test("an alert sent by hand", async (t) => {
  const { pool, sealing, receiver, reactions, events, byHand, add } = await setUpSending(t);

  await t.test("is delivered and logged as a test", async (t) => {
    const { channel, secret } = await add();
    const { delivery } = await sendNow(byHand, channel.id, null);
    const test = { cause: "test", eventId: 0, kind: null, incident: null };
    t.match(delivery, { ...test, state: "delivered", failures: 0, reason: null, dueAt: null });
    t.match(delivery.attempts, [{ sentBy: "this test", result: "delivered", status: 200, answer: "heard" }]);
    const [arrival] = newest(receiver, 1);
    t.match(bodyOf(arrival!), { eventId: 0, test: true });
    t.ok(isSigned(arrival!, secret!));
    t.strictSame(await pool.query(sql`select from delivery where claimed_by is not null`), []);
  });

  await t.test("is signed with both secrets during a rotation", async (t) => {
    const { channel, secret } = await add();
    const rotated = await rotateSecret(pool, sealing, channel.id, 1);
    await sendNow(byHand, channel.id, null);
    const [arrival] = newest(receiver, 1);
    for (const one of [secret!, rotated.secret]) t.ok(isSigned(arrival!, one));
  });

  await t.test("is sent in the channel's format", async (t) => {
    const routingKey = "R0".padEnd(32, "x");
    const credential = credentialOf("paging", routingKey, false);
    const paging = await add({ format: "paging", serviceRegion: "eu", credential });
    const chat = await add({ format: "chat" });
    for (const { channel } of [paging, chat]) await sendNow(byHand, channel.id, events[0]);
    const [page, message] = newest(receiver, 2);
    t.equal(page!.path, "/eu");
    t.match(bodyOf(page!), { routing_key: routingKey });
    t.equal(message!.headers["x-svc-signature"], undefined);
    t.match(bodyOf(message!), { text: String });
  });

  await t.test("is logged before it is sent", async (t) => {
    const { channel } = await add();
    let log: Delivery[] = [];
    const post: Poster["post"] = async (request) => {
      log = await deliveriesOf(pool, wanted({ channel: channel.id }));
      return byHand.poster.post(request);
    };
    await sendNow({ ...byHand, poster: { ...byHand.poster, post } }, channel.id, events[0]);
    const attempts = [{ sentBy: "this test", result: null, endedAt: null }];
    t.match(log[0], { cause: "replay", state: "due", eventId: events[0], attempts });
  });

  await t.test("is logged when it fails, and does not change the channel", async (t) => {
    const { channel } = await add();
    await disableChannel(pool, channel.id);
    const before = await channelOf(pool, channel.id);
    for (const status of [500, 410, 307]) {
      reactions.push({ status, headers: { location: "/other" } });
      const { delivery } = await sendNow(byHand, channel.id, events[1]);
      const attempts = [{ result: "refused", status }];
      t.match(delivery, { cause: "replay", state: "failed", eventId: events[1], attempts });
    }
    const { lastAttempt, ...after } = await channelOf(pool, channel.id);
    t.match(lastAttempt, { result: "refused", status: 307 });
    t.strictSame({ ...after, lastAttempt: before.lastAttempt }, before);
    const { delivery } = await sendNow(byHand, channel.id, events[0]);
    t.match(delivery, { state: "delivered" }, "a channel that is off gets it");
  });

  await t.test("has an outcome for our own faults, too", async (t) => {
    const { channel } = await add();
    const poster = { ...byHand.poster, post: () => Promise.reject(new Error("a bug")) };
    const { delivery } = await sendNow({ ...byHand, poster }, channel.id, null);
    t.match(delivery, { state: "failed", failures: 0, attempts: [{ result: "ours", error: "a bug" }] });
  });

  await t.test("is neither sent nor logged with another key", async (t) => {
    const { channel } = await add({ open: false });
    const other = { ...byHand, sealing: makeSealing(randomBytes(32)) };
    const count = receiver.arrivals.length;
    const message = /was encrypted with another CHANNEL_KEY/;
    await t.rejects(sendNow(other, channel.id, null), { name: "UserError", message });
    t.equal(receiver.arrivals.length, count);
    t.same(await deliveriesOf(pool, wanted({ channel: channel.id })), []);
    await removeChannel(pool, channel.id);
    await t.rejects(sendNow(byHand, channel.id, null), /was removed at/);
    await t.rejects(sendNow(byHand, 999, null), /there is no channel 999/);
  });
});

void t.test("replays repeat earlier alerts", async (t) => {
  const { pool, receiver, reactions, okx, events, byHand, add } = await setUpSending(t);
  const [opened, escalated] = events;
  const hourAgo = new Date(Date.now() - 3_600_000);
  const eventsOf = (replays: { event: number }[]) => replays.map(({ event }) => event);

  await t.test("keep the eventId and the order, and sign again", async (t) => {
    const { channel, secret } = await add();
    const [second, first] = await deliveriesOf(pool, wanted({ channel: channel.id }));
    await settle(pool, channel.id, "failed");
    const replays = await replaysOf(pool, [second!.id, first!.id, second!.id]);
    t.same(eventsOf(replays), [opened, escalated]);
    const sent = await all(replayAll(byHand, replays, never));
    for (const { sent: result } of sent) t.equal(result!.delivery.state, "delivered");
    const arrivals = newest(receiver, 2);
    t.match(arrivals.map(bodyOf), [
      { eventId: opened, test: false, kind: "opened", incident: { slug: okx } },
      { eventId: escalated, kind: "escalated" },
    ]);
    for (const arrival of arrivals) {
      t.ok(isSigned(arrival, secret!));
      t.match(arrival.headers["webhook-id"], /\d/);
      const age = Date.now() / 1000 - Number(arrival.headers["webhook-timestamp"]);
      t.ok(Math.abs(age) < 60);
    }
    const states = (await deliveriesOf(pool, wanted({ channel: channel.id }))).map(
      (one) => `${one.cause} ${one.state}`,
    );
    // the repeated deliveries stay unchanged
    t.same(states, ["replay delivered", "replay delivered", "open failed", "open failed"]);
  });

  await t.test("of a channel contain what it missed and did not get later", async (t) => {
    const { channel } = await add();
    const missed = async () => eventsOf(await missedBy(pool, channel.id, hourAgo));
    t.same(await missed(), [], "due deliveries will be sent anyway");
    await settle(pool, channel.id, "skipped");
    t.same(await missed(), [opened, escalated]);
    t.same(await missedBy(pool, channel.id, new Date(Date.now() + 60_000)), []);
    reactions.push({ status: 500 });
    await sendNow(byHand, channel.id, opened);
    t.same(await missed(), [opened, escalated], "each once, although tried twice");
    await sendNow(byHand, channel.id, opened);
    t.same(await missed(), [escalated]);
    await sendNow(byHand, channel.id, null);
    await settle(pool, channel.id, "delivered");
    t.same(await missed(), []);
    await t.rejects(missedBy(pool, 999, hourAgo), /there is no channel 999/);
  });

  await t.test("continue after a failure, unless the receiver asks for a pause or is gone", async (t) => {
    const { channel } = await add();
    await settle(pool, channel.id, "failed");
    const replays = await missedBy(pool, channel.id, hourAgo);
    reactions.push({ status: 500 });
    const states = async () =>
      (await all(replayAll(byHand, replays, never))).map(({ sent }) => sent?.delivery.state ?? null);
    t.same(await states(), ["failed", "delivered"]);
    reactions.push({ status: 429, headers: { "retry-after": "5" } });
    t.same(await states(), ["failed", null]);
    reactions.push({ status: 410 });
    t.same(await states(), ["failed", null]);
  });

  await t.test("end when they are aborted", async (t) => {
    const { channel } = await add({ format: "chat", floor: "outage" });
    await settle(pool, channel.id, "failed");
    const replays = await missedBy(pool, channel.id, hourAgo);
    t.equal(replays.length, 2);
    const stopping = new AbortController();
    const sent = [];
    for await (const one of replayAll(byHand, replays, stopping.signal)) {
      sent.push(one);
      // within the pause between two messages of a chat
      stopping.abort();
    }
    t.equal(sent.length, 1);
  });

  await t.test("are refused with the reason where an alert cannot be repeated", async (t) => {
    const { channel } = await add();
    const [delivery] = await deliveriesOf(pool, wanted({ channel: channel.id }));
    const id = delivery!.id;
    const due = `delivery ${id} is still due: core will send it; sending it now could put alerts out of order`;
    await t.rejects(replaysOf(pool, [id]), { message: due });
    await t.rejects(replaysOf(pool, [id, 99_999]), { message: /^there is no delivery 99999; the log has \d+ to \d+/ });
    const test = await sendNow(byHand, channel.id, null);
    await t.rejects(replaysOf(pool, [test.delivery.id]), /was a test; venuewatch channel test \d+ sends another$/);
    await settle(pool, channel.id, "failed");
    await publish(pool, "okx", false);
    await t.rejects(replaysOf(pool, [id]), { message: new RegExp(`the venue of ${okx} is no longer published$`) });
    t.same(await missedBy(pool, channel.id, hourAgo), []);
    await publish(pool, "okx", true);
    await removeChannel(pool, channel.id);
    await t.rejects(replaysOf(pool, [id]), { message: /cannot be sent again: channel \d+ was removed at/ });
    await t.rejects(missedBy(pool, channel.id, hourAgo), /was removed at/);

    const other = await add();
    const [again] = await deliveriesOf(pool, wanted({ channel: other.channel.id }));
    await settle(pool, other.channel.id, "failed");
    const replays = await replaysOf(pool, [again!.id]);
    await pool.query(sql`update incident set retracted_at = now(), retraction_reason = 'a drill' where slug = ${okx}`);
    await t.rejects(replaysOf(pool, [again!.id]), { message: new RegExp(`${okx} was retracted at \\S+: a drill$`) });
    t.same(await missedBy(pool, other.channel.id, hourAgo), []);
    const count = receiver.arrivals.length;
    // refused even if it changes at that moment
    const replaying = all(replayAll(byHand, replays, never));
    await t.rejects(replaying, /its incident was retracted, or its venue is no longer published/);
    t.equal(receiver.arrivals.length, count);
  });
});

function bodyOf({ body }: ReceivedAlert): unknown {
  return JSON.parse(String(body));
}

const never = new AbortController().signal;

async function all<One>(many: AsyncIterable<One>): Promise<One[]> {
  const ones: One[] = [];
  for await (const one of many) ones.push(one);
  return ones;
}

/** Settles due deliveries in place of a dispatcher. */
async function settle(db: Db, channel: number, state: string): Promise<void> {
  await db.query(sql`
    update delivery
    set state = ${state}, ended_at = now(), reason = case when ${state} = 'skipped' then 'the channel was off' end
    where channel_id = ${channel} and cause = 'open'
  `);
}

async function publish(db: Db, venue: string, published: boolean): Promise<void> {
  await db.query(sql`update venue set published = ${published} where venue = ${venue}`);
}
