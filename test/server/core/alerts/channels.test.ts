/**
 * How channels are added, switched, rotated and removed, how their credentials are sealed, and what is sent by hand.
 */
import { randomBytes } from "node:crypto";
import t from "tap";
import {
  addChannel,
  type Added,
  type Channel,
  channelOf,
  channelsOf,
  disableChannel,
  enableChannel,
  holdEvents,
  type NewChannel,
  removeChannel,
  replaceCredential,
  rotateSecret,
} from "../../../../server/core/alerts/channels.js";
import {
  deliveriesOf,
  type Delivery,
  missedBy,
  replayAll,
  replaysOf,
  sendNow,
} from "../../../../server/core/alerts/deliveries.js";
import type { Poster } from "../../../../server/core/alerts/post.js";
import { credentialOf } from "../../../../server/core/alerts/destinations.js";
import { makeSealing } from "../../../../server/core/alerts/sealing.js";
import { type Db, sql } from "../../../../shared/database/pool.js";
import type { ReceivedAlert } from "../../../../world/receivers.js";
import { writeEvent } from "../../../support/alerts.js";
import { migratedDatabase } from "../../../support/database.js";
import { pastIncident } from "../../../support/fleet.js";
import { isSigned, newest, setUpSending, wanted } from "../../../support/manual-sends.js";
import { sealed, url } from "../../../support/sealed-channel.js";
import { until } from "../../../support/until.js";

void t.test("a channel keeps its place in the outbox, its secrets and its log", async (t) => {
  const { pool } = await migratedDatabase(t);
  const sealing = makeSealing(randomBytes(32));
  const add = (more: Partial<NewChannel> = {}) =>
    addChannel(pool, sealing, {
      format: "native",
      serviceRegion: null,
      credential: credentialOf("native", url, false),
      description: "",
      floor: "degraded",
      venues: null,
      categories: null,
      onMaintenance: "alert",
      transfers: null,
      open: false,
      ...more,
    });

  const began = new Date(Date.now() - 600_000);
  const at = (venue: string, minutes: number | null = null, more = {}) =>
    pastIncident(pool, { venue, component: "rest:ticker", startedAt: began, minutes, ...more });
  const kraken = await at("kraken", null, { severity: "degraded" });
  const opened = await writeEvent(pool, kraken, "opened", "degraded");
  const okx = await writeEvent(pool, await at("okx"), "opened");
  const escalated = await writeEvent(pool, kraken, "escalated");
  const over = await at("gemini", 5);
  await writeEvent(pool, over, "opened");
  await writeEvent(pool, over, "closed");
  await writeEvent(pool, await at("bybit", null, { retracted: true }), "opened");
  await writeEvent(pool, await at("bitget"), "opened");
  await pool.query(sql`update venue set published = false where venue = 'bitget'`);

  await t.test("a new channel gets the open incidents that pass its filter, on request", async (t) => {
    const cases: [Partial<NewChannel>, number[]][] = [
      [{}, [opened, okx, escalated]],
      [{ floor: "outage" }, [okx, escalated]],
      [{ venues: ["kraken"] }, [opened, escalated]],
      [{ venues: ["okx", "gemini"] }, [okx]],
      [{ venues: ["gemini"] }, []],
      [{ categories: ["exchange"] }, [opened, okx, escalated]],
      [{ venues: ["kraken"], floor: "outage" }, [escalated]],
    ];
    for (const [more, expected] of cases) {
      const { channel, queued } = await add({ ...more, open: true });
      t.equal(queued, expected.length);
      t.same(await dueFor(pool, channel.id), expected, JSON.stringify(more));
      t.equal(channel.waiting, expected.length);
    }
    const silent = await add();
    t.same(await dueFor(pool, silent.channel.id), []);
    await t.rejects(add({ venues: ["bitget"] }), /there is no venue bitget/);
  });

  await t.test("adding a channel waits for uncommitted events", async (t) => {
    const deribit = await at("deribit");
    for (const open of [true, false]) {
      let adding: Promise<Added> | undefined;
      let late = 0;
      await pool.transaction(async (tx) => {
        late = await writeEvent(tx, deribit, open ? "opened" : "escalated");
        adding = add({ open, venues: ["deribit"] });
        await until(() => isWaitedFor(tx));
      });
      const { channel } = await adding!;
      t.equal(await afterEvent(pool, channel.id), late, "the new channel starts after the late event");
      t.same(await dueFor(pool, channel.id), open ? [late] : []);
    }
    const { channel } = await add({ open: true, venues: ["deribit"] });
    const next = await writeEvent(pool, deribit, "closed");
    t.ok(next > (await afterEvent(pool, channel.id)), "later events are queued for the channel");
    await pool.query(sql`update incident set closed_at = now() where slug = ${deribit}`);
  });

  await t.test("enabling a channel waits for a dispatcher that expands events", async (t) => {
    const { channel } = await add({ venues: ["okx"] });
    let enabling: ReturnType<typeof enableChannel> | undefined;
    await pool.transaction(async (tx) => {
      await tx.query(sql`update alert_event set dispatched_at = now() where event_id = ${okx}`);
      enabling = enableChannel(pool, channel.id, true);
      await until(() => isWaitedFor(tx));
    });
    t.match(await enabling, { queued: 1 });
  });

  await t.test("the wait for a writer of events has a limit", async (t) => {
    const [row] = await pool.query<{ alone: boolean }>(sql`select is_embedded() as alone`);
    // there, a session with a lock holds the whole database
    if (row!.alone) return t.pass("applies to a server only");
    await pool.transaction(async (tx) => {
      await tx.query(sql`lock table alert_event in row exclusive mode`);
      const holding = pool.transaction((other) => holdEvents(other, 20));
      const message = /^alert events were locked by a writer, usually the engine, for 0.02 s; nothing was changed/;
      await t.rejects(holding, { name: "UserError", message });
    });
  });

  await t.test("a channel that is switched on again gets the alerts that it missed", async (t) => {
    const { channel } = await add({ open: true });
    await settle(pool, channel.id, opened, "delivered");
    await settle(pool, channel.id, okx, "failed");
    await settle(pool, channel.id, escalated, "skipped");
    await pool.query(sql`
      update channel set off_at = now(), off_cause = 'gone', failures = 3 where channel_id = ${channel.id}
    `);
    t.match(await enableChannel(pool, channel.id, false), {
      before: { state: "off", offCause: "gone" },
      channel: { state: "on", offSince: null, failures: 0 },
      queued: 0,
    });
    t.same(await dueFor(pool, channel.id), []);
    t.match(await enableChannel(pool, channel.id, true), { queued: 2 });
    t.same(await dueFor(pool, channel.id), [okx, escalated]);
    t.match(await enableChannel(pool, channel.id, true), { queued: 0 });
  });

  await t.test("events not yet expanded are left to the dispatcher", async (t) => {
    const { channel } = await add({ venues: ["coinbase"] });
    const coinbase = await at("coinbase");
    await writeEvent(pool, coinbase, "opened");
    t.match(await enableChannel(pool, channel.id, true), { queued: 0 });
    await pool.query(sql`update incident set closed_at = now() where slug = ${coinbase}`);
  });

  await t.test("switching off a channel that is off keeps the first cause", async (t) => {
    const { channel } = await add();
    const off = { state: "off", offCause: "operator" };
    t.match(await disableChannel(pool, channel.id), { before: { state: "on" }, channel: off });
    await pool.query(sql`update channel set off_cause = 'gone' where channel_id = ${channel.id}`);
    t.match(await disableChannel(pool, channel.id), { channel: { offCause: "gone" } });
  });

  await t.test("after a rotation two secrets are valid for a while, then one", async (t) => {
    const { channel, secret } = await add();
    const { id } = channel;
    const second = await rotateSecret(pool, sealing, id, 24);
    let [row] = await sealed(pool, id);
    t.equal(sealing.open(row!.secret!, "secret"), second.secret);
    t.equal(sealing.open(row!.former_secret!, "secret"), secret);
    t.ok(second.channel.formerSecretUntil);
    const third = await rotateSecret(pool, sealing, id, 1);
    [row] = await sealed(pool, id);
    t.equal(sealing.open(row!.former_secret!, "secret"), second.secret);
    t.not(third.secret, second.secret);
    await pool.query(sql`update channel set former_until = now() - interval '1 s' where channel_id = ${id}`);
    t.equal((await channelOf(pool, id)).formerSecretUntil, null);
    await rotateSecret(pool, sealing, id, 0);
    [row] = await sealed(pool, id);
    t.match(row, { former_secret: null, former_until: null });
  });

  await t.test("a rotation with another key changes nothing", async (t) => {
    const { channel } = await add();
    const other = makeSealing(randomBytes(32));
    const before = await sealed(pool, channel.id);
    await t.rejects(rotateSecret(pool, other, channel.id, 1), { message: /was encrypted with another CHANNEL_KEY/ });
    t.same(await sealed(pool, channel.id), before);

    const chat = await add({ format: "chat" });
    const { id } = chat.channel;
    t.equal(chat.secret, null);
    await t.rejects(rotateSecret(pool, sealing, id, 1), { message: /has format chat and no signing secret/ });
    const credential = credentialOf("chat", `${url}z`, false);
    await replaceCredential(pool, other, id, credential);
    const [row] = await sealed(pool, id);
    t.equal(other.open(row!.destination!, "destination"), `${url}z`, "a new URL can be set after the key is lost");
  });

  await t.test("a removed channel keeps its log and no secret", async (t) => {
    const { channel } = await add({ open: true });
    await settle(pool, channel.id, opened, "delivered");
    await rotateSecret(pool, sealing, channel.id, 24);
    t.match(await removeChannel(pool, channel.id), {
      skipped: 2,
      channel: { state: "removed", waiting: 0, formerSecretUntil: null },
    });
    const wiped = { destination: null, secret: null, former_secret: null, former_until: null };
    t.strictSame(await sealed(pool, channel.id), [wiped]);
    const log = await pool.query(sql`
      select state, reason from delivery where channel_id = ${channel.id} order by event_id
    `);
    const skipped = { state: "skipped", reason: "the channel was removed" };
    t.strictSame(log, [{ state: "delivered", reason: null }, skipped, skipped]);
    await t.rejects(removeChannel(pool, channel.id), /was removed at/);
    t.notOk((await channelsOf(pool, {})).some(({ id }) => id === channel.id));
  });

  await t.test("a channel shows its waiting deliveries and newest attempt", async (t) => {
    const { channel } = await add({ open: true });
    await pool.query(sql`
      insert into delivery_attempt (delivery_id, channel_id, sent_by, started_at, ended_at, result, status, error, duration_ms)
      select d.delivery_id, d.channel_id, 'core', now(), now(), 'refused', 500, 'expected 2xx, got 500', 12
      from delivery d where d.channel_id = ${channel.id} and d.event_id = ${opened}
    `);
    const { waiting, lastAttempt } = (await channelOf(pool, channel.id)) satisfies Channel;
    t.equal(waiting, 3);
    t.match(lastAttempt, { result: "refused", status: 500 });
  });

  await t.test("no column of a channel is readable without the key", async (t) => {
    const [row] = await pool.query<{ all: string }>(
      sql`select string_agg(c::text || encode(coalesce(destination, ''), 'escape'), ' ') as all from channel c`,
    );
    t.notMatch(row!.all, /hunter2|whsec/);
  });
});

async function settle(db: Db, channel: number, event: number, state: string): Promise<void> {
  await db.query(sql`
    update delivery
    set state = ${state}, ended_at = now(), failures = 5, reason = case when ${state} = 'skipped' then 'the channel is off' end
    where channel_id = ${channel} and event_id = ${event}
  `);
}

async function dueFor(db: Db, channel: number): Promise<number[]> {
  const rows = await db.query<{ event_id: number }>(sql`
    select event_id from delivery
    where channel_id = ${channel} and state = 'due' and cause = 'open' and due_at <= now() and reason is null and failures = 0
    order by event_id
  `);
  return rows.map(({ event_id }) => event_id);
}

async function afterEvent(db: Db, channel: number): Promise<number> {
  const [row] = await db.query<{ after: number }>(
    sql`select after_event_id as after from channel where channel_id = ${channel}`,
  );
  return row!.after;
}

/** On the embedded database a transaction holds the only backend, so all others wait anyway. */
async function isWaitedFor(tx: Db): Promise<boolean> {
  const [row] = await tx.query<{ waited: boolean }>(sql`
    select is_embedded() or exists (
      select from pg_locks
      where relation = 'alert_event'::regclass and mode = 'ShareLock' and not granted
        and database = (select oid from pg_database where datname = current_database())
    ) as waited
  `);
  return row!.waited;
}

// How credentials are sealed.

const key = randomBytes(32);
const sealing = makeSealing(key);
const text = "https://example.org/hooks/hunter2-ü";

void t.test("an encrypted text decrypts with the same key", (t) => {
  for (const one of [text, "", "x".repeat(2000)])
    t.equal(makeSealing(key).open(sealing.seal(one, "secret"), "secret"), one);
  const sealed = sealing.seal(text, "secret");
  t.notOk(sealed.includes("hunter2"));
  t.notOk(sealed.includes(key.subarray(0, 4)), "it contains no part of the key");
  t.notSame(sealing.seal(text, "secret"), sealed, "no two encryptions are equal");
  t.end();
});

void t.test("a change of any byte is detected", (t) => {
  const sealed = sealing.seal("x", "secret");
  for (let at = 0; at < sealed.length; at++) {
    const other = Buffer.from(sealed);
    other[at]! ^= 1;
    t.throws(() => sealing.open(other, "secret"), `byte ${at}`);
    t.throws(() => sealing.open(sealed.subarray(0, at), "secret"), `cut at ${at}`);
  }
  t.end();
});

void t.test("a text that cannot be decrypted gives an error with the reason, which shows nothing", (t) => {
  const sealed = sealing.seal(text, "destination");
  const newer = Buffer.from(sealed);
  newer[0] = 2;
  const name = "UserError";
  t.throws(() => makeSealing(randomBytes(32)).open(sealed, "destination"), {
    ...{ name, message: "the destination was encrypted with another CHANNEL_KEY; set that one" },
  });
  t.throws(() => sealing.open(sealed, "secret"), {
    message: "the encrypted secret is damaged, or was encrypted as something else",
  });
  t.throws(() => sealing.open(newer, "destination"), {
    ...{ name, message: /encrypted by a newer build \(format 2, this build knows 1\)/ },
  });
  t.end();
});

// How alerts are sent by hand, and how earlier ones are replayed.

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
    await settleAll(pool, channel.id, "failed");
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
    await settleAll(pool, channel.id, "skipped");
    t.same(await missed(), [opened, escalated]);
    t.same(await missedBy(pool, channel.id, new Date(Date.now() + 60_000)), []);
    reactions.push({ status: 500 });
    await sendNow(byHand, channel.id, opened);
    t.same(await missed(), [opened, escalated], "each once, although tried twice");
    await sendNow(byHand, channel.id, opened);
    t.same(await missed(), [escalated]);
    await sendNow(byHand, channel.id, null);
    await settleAll(pool, channel.id, "delivered");
    t.same(await missed(), []);
    await t.rejects(missedBy(pool, 999, hourAgo), /there is no channel 999/);
  });

  await t.test("continue after a failure, unless the receiver asks for a pause or is gone", async (t) => {
    const { channel } = await add();
    await settleAll(pool, channel.id, "failed");
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
    await settleAll(pool, channel.id, "failed");
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
    await settleAll(pool, channel.id, "failed");
    await publish(pool, "okx", false);
    await t.rejects(replaysOf(pool, [id]), { message: new RegExp(`the venue of ${okx} is no longer published$`) });
    t.same(await missedBy(pool, channel.id, hourAgo), []);
    await publish(pool, "okx", true);
    await removeChannel(pool, channel.id);
    await t.rejects(replaysOf(pool, [id]), { message: /cannot be sent again: channel \d+ was removed at/ });
    await t.rejects(missedBy(pool, channel.id, hourAgo), /was removed at/);

    const other = await add();
    const [again] = await deliveriesOf(pool, wanted({ channel: other.channel.id }));
    await settleAll(pool, other.channel.id, "failed");
    const replays = await replaysOf(pool, [again!.id]);
    await pool.query(sql`update incident set retracted_at = now(), retraction_reason = 'a drill' where slug = ${okx}`);
    await t.rejects(replaysOf(pool, [again!.id]), { message: new RegExp(`${okx} was retracted at \\S+: a drill$`) });
    t.same(await missedBy(pool, other.channel.id, hourAgo), []);
    const count = receiver.arrivals.length;
    // refused even if it changes at that moment
    const replaying = all(replayAll(byHand, replays, never));
    await t.rejects(replaying, /what it is about was retracted, or its venue is no longer published/);
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
async function settleAll(db: Db, channel: number, state: string): Promise<void> {
  await db.query(sql`
    update delivery
    set state = ${state}, ended_at = now(), reason = case when ${state} = 'skipped' then 'the channel was off' end
    where channel_id = ${channel} and cause = 'open'
  `);
}

async function publish(db: Db, venue: string, published: boolean): Promise<void> {
  await db.query(sql`update venue set published = ${published} where venue = ${venue}`);
}
