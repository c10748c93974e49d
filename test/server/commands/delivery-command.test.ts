/** How an operator reads the log of deliveries, and sends by hand. */
import { createHmac, randomBytes } from "node:crypto";
import t, { type Test } from "tap";
import { addChannel, type Added, type NewChannel } from "../../../server/alerts/channels/add-channel.js";
import { channelOf } from "../../../server/alerts/channels/channels.js";
import { credentialOf } from "../../../server/alerts/channels/credential.js";
import { deliveriesOf } from "../../../server/alerts/delivery/deliveries.js";
import type { Delivery } from "../../../server/alerts/delivery/delivery.js";
import { makePoster } from "../../../server/alerts/delivery/post.js";
import { removeChannel } from "../../../server/alerts/channels/remove-channel.js";
import { missedBy, replayAll, replaysOf } from "../../../server/alerts/delivery/replay-deliveries.js";
import { rotateSecret } from "../../../server/alerts/channels/rotate-channel.js";
import { makeSealing } from "../../../server/alerts/channels/sealing.js";
import { type SendNowOptions, sendNow } from "../../../server/alerts/delivery/send-now.js";
import { keepServiceAddress } from "../../../server/alerts/channels/service-address.js";
import { disableChannel } from "../../../server/alerts/channels/switch-channel.js";
import { type Db, type Pool, sql } from "../../../shared/database/pool.js";
import { makeLog } from "../../../shared/log/log.js";
import { byTwos, cliWith } from "../../support/cli-input.js";
import { migratedDatabase } from "../../support/database.js";
import { pastIncident } from "../../support/fleet.js";
import { until } from "../../support/until.js";
import { type Reaction, type Receiver, startReceiver } from "../../../simulator/receiver.js";

/** A database with one incident that has opened and escalated, and a scripted receiver. */
async function setUp(t: Test) {
  const database = await migratedDatabase(t);
  const { pool } = database;
  const key = randomBytes(32);
  const sealing = makeSealing(key);
  const reactions: Reaction[] = [];
  const receiver = await startReceiver({
    react: () => reactions.shift() ?? { status: 200 },
  });
  t.teardown(receiver.close);
  const poster = makePoster({ allowLoopback: true });
  t.teardown(() => poster.close());
  const startedAt = new Date(Date.now() - 600_000);
  const okx = await pastIncident(pool, {
    ...{ venue: "okx", component: "rest:ticker", startedAt, minutes: null },
  });
  const events = [await event(pool, okx, "opened"), await event(pool, okx, "escalated")] as const;
  const byHand: SendNowOptions = {
    ...{ db: pool, sealing, poster, baseUrl: "https://api.example.org" },
    ...{ userAgent: "venuewatch/test", sender: "this test" },
    pagingEndpoints: { us: receiver.origin, eu: `${receiver.origin}/eu` },
  };
  const add = (more: Partial<NewChannel> = {}): Promise<Added> =>
    addChannel(pool, sealing, {
      format: "native",
      serviceRegion: null,
      credential: credentialOf("native", `${receiver.origin}/hooks/hunter2hunter2`, true),
      description: "",
      floor: "degraded",
      venues: null,
      categories: null,
      open: true,
      ...more,
    });
  return {
    ...database,
    key,
    sealing,
    receiver,
    reactions,
    okx,
    events,
    byHand,
    add,
  };
}

void t.test("an alert sent by hand", async (t) => {
  const here = await setUp(t);
  const { pool, sealing, receiver, reactions, events, byHand, add } = here;

  await t.test("is delivered and logged as a test", async (t) => {
    const { channel, secret } = await add();
    const { delivery } = await sendNow(byHand, channel.id, null);
    t.match(delivery, {
      ...{ cause: "test", state: "delivered", eventId: 0, kind: null },
      ...{ incident: null, failures: 0, reason: null, dueAt: null },
    });
    t.match(delivery.attempts, [
      {
        sentBy: "this test",
        result: "delivered",
        status: 200,
        answer: "heard",
      },
    ]);
    const [arrival] = newest(receiver, 1);
    t.match(JSON.parse(String(arrival!.body)), { eventId: 0, test: true });
    t.ok(isSigned(arrival!, secret!));
    t.match(await claimOf(pool, delivery.id), {
      claimed_by: null,
      claimed_until: null,
    });
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
    const paging = await add({
      ...{ format: "paging", serviceRegion: "eu" },
      credential: credentialOf("paging", routingKey, false),
    });
    await sendNow(byHand, paging.channel.id, events[0]);
    const [page] = newest(receiver, 1);
    t.equal(page!.path, "/eu");
    t.match(JSON.parse(String(page!.body)), { routing_key: routingKey });
    const chat = await add({ format: "chat" });
    await sendNow(byHand, chat.channel.id, events[0]);
    const [message] = newest(receiver, 1);
    t.equal(message!.headers["x-svc-signature"], undefined);
    t.match(JSON.parse(String(message!.body)), { text: String });
  });

  await t.test("is logged before it is sent", async (t) => {
    const { channel } = await add();
    let seen: Promise<Delivery[]> | undefined;
    const watching: SendNowOptions = {
      ...byHand,
      poster: {
        ...byHand.poster,
        post(letter) {
          seen = deliveriesOf(pool, wanted({ channel: channel.id }));
          return seen.then(() => byHand.poster.post(letter));
        },
      },
    };
    await sendNow(watching, channel.id, events[0]);
    const [sending] = await seen!;
    t.match(sending, {
      ...{ cause: "replay", state: "due", eventId: events[0] },
      attempts: [{ sentBy: "this test", result: null, endedAt: null }],
    });
  });

  await t.test("is logged when it fails, and does not change the channel", async (t) => {
    const { channel } = await add();
    await disableChannel(pool, channel.id);
    const before = await channelOf(pool, channel.id);
    const outcomes: [Reaction, string, number | null][] = [
      [{ status: 500 }, "refused", 500],
      [{ status: 410 }, "refused", 410],
      [{ status: 307, headers: { location: "/other" } }, "refused", 307],
    ];
    for (const [reaction, result, status] of outcomes) {
      reactions.push(reaction);
      const { delivery } = await sendNow(byHand, channel.id, events[1]);
      t.match(delivery, {
        ...{ cause: "replay", state: "failed", eventId: events[1] },
        attempts: [{ result, status }],
      });
    }
    const { lastAttempt, ...after } = await channelOf(pool, channel.id);
    t.match(lastAttempt, { result: "refused", status: 307 });
    t.strictSame({ ...after, lastAttempt: before.lastAttempt }, before);
    t.match(
      (await sendNow(byHand, channel.id, events[0])).delivery,
      { state: "delivered" },
      "a channel that is off gets it",
    );
  });

  await t.test("has an outcome for our own faults, too", async (t) => {
    const { channel } = await add();
    const broken: SendNowOptions = {
      ...byHand,
      poster: {
        ...byHand.poster,
        post: () => Promise.reject(new Error("a bug")),
      },
    };
    const { delivery } = await sendNow(broken, channel.id, null);
    t.match(delivery, {
      state: "failed",
      failures: 0,
      attempts: [{ result: "ours", error: "a bug" }],
    });
  });

  await t.test("is neither sent nor logged with another key", async (t) => {
    const { channel } = await add({ open: false });
    const other = { ...byHand, sealing: makeSealing(randomBytes(32)) };
    const count = receiver.arrivals.length;
    await t.rejects(sendNow(other, channel.id, null), {
      name: "UserError",
      message: /was encrypted with another CHANNEL_KEY/,
    });
    t.equal(receiver.arrivals.length, count);
    t.same(await deliveriesOf(pool, wanted({ channel: channel.id })), []);
    await removeChannel(pool, channel.id);
    await t.rejects(sendNow(byHand, channel.id, null), /was removed at/);
    await t.rejects(sendNow(byHand, 999, null), /there is no channel 999/);
  });
});

void t.test("replays repeat earlier alerts", async (t) => {
  const here = await setUp(t);
  const { pool, receiver, reactions, okx, events, byHand, add } = here;
  const [opened, escalated] = events;
  const hourAgo = new Date(Date.now() - 3_600_000);
  const eventsOf = (replays: { event: number }[]) => replays.map(({ event }) => event);

  await t.test("keep the eventId and the order, and sign again", async (t) => {
    const { channel, secret } = await add();
    const [second, first] = await deliveriesOf(pool, wanted({ channel: channel.id }));
    await settled(pool, channel.id, "failed");
    const replays = await replaysOf(pool, [second!.id, first!.id, second!.id]);
    t.same(eventsOf(replays), [opened, escalated]);
    const sent = await all(replayAll(byHand, replays, never));
    t.match(
      sent.map(({ sent }) => sent!.delivery.state),
      ["delivered", "delivered"],
    );
    const arrivals = newest(receiver, 2);
    const bodies = arrivals.map(({ body }) => JSON.parse(String(body)) as object);
    t.match(bodies, [
      { eventId: opened, test: false, kind: "opened", incident: { slug: okx } },
      { eventId: escalated, kind: "escalated" },
    ]);
    for (const arrival of arrivals) {
      t.ok(isSigned(arrival, secret!));
      t.match(arrival.headers["webhook-id"], /\d/);
      const age = Date.now() / 1000 - Number(arrival.headers["webhook-timestamp"]);
      t.ok(Math.abs(age) < 60);
    }
    t.same(
      (await deliveriesOf(pool, wanted({ channel: channel.id }))).map(({ cause, state }) => `${cause} ${state}`),
      ["replay delivered", "replay delivered", "open failed", "open failed"],
      "the repeated deliveries stay unchanged",
    );
  });

  await t.test("of a channel contain what it missed and did not get later", async (t) => {
    const { channel } = await add();
    const missed = async () => eventsOf(await missedBy(pool, channel.id, hourAgo));
    t.same(await missed(), [], "due deliveries will be sent anyway");
    await settled(pool, channel.id, "skipped");
    t.same(await missed(), [opened, escalated]);
    t.same(await missedBy(pool, channel.id, new Date(Date.now() + 60_000)), []);
    reactions.push({ status: 500 });
    await sendNow(byHand, channel.id, opened);
    t.same(await missed(), [opened, escalated], "each once, although tried twice");
    await sendNow(byHand, channel.id, opened);
    t.same(await missed(), [escalated]);
    await sendNow(byHand, channel.id, null);
    await settled(pool, channel.id, "delivered");
    t.same(await missed(), []);
    await t.rejects(missedBy(pool, 999, hourAgo), /there is no channel 999/);
  });

  await t.test("continue after a failure, unless the receiver asks for a pause or is gone", async (t) => {
    const { channel } = await add();
    await settled(pool, channel.id, "failed");
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
    const { channel } = await add({
      ...{ format: "chat", floor: "outage" },
    });
    await settled(pool, channel.id, "failed");
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
    await t.rejects(replaysOf(pool, [id]), {
      message: `delivery ${id} is still due: core will send it; sending it now could put alerts out of order`,
    });
    await t.rejects(replaysOf(pool, [id, 99_999]), {
      message: /^there is no delivery 99999; the log has \d+ to \d+/,
    });
    const test = await sendNow(byHand, channel.id, null);
    await t.rejects(replaysOf(pool, [test.delivery.id]), {
      message: /was a test; venuewatch channel test \d+ sends another$/,
    });
    await settled(pool, channel.id, "failed");
    await published(pool, "okx", false);
    await t.rejects(replaysOf(pool, [id]), {
      message: new RegExp(`the venue of ${okx} is no longer published$`),
    });
    t.same(await missedBy(pool, channel.id, hourAgo), []);
    await published(pool, "okx", true);
    await removeChannel(pool, channel.id);
    await t.rejects(replaysOf(pool, [id]), {
      message: /cannot be sent again: channel \d+ was removed at/,
    });
    await t.rejects(missedBy(pool, channel.id, hourAgo), /was removed at/);

    const other = await add();
    const [again] = await deliveriesOf(pool, wanted({ channel: other.channel.id }));
    await settled(pool, other.channel.id, "failed");
    const replays = await replaysOf(pool, [again!.id]);
    await pool.query(sql`
      update incident set retracted_at = now(), retraction_reason = 'a drill' where slug = ${okx}
    `);
    await t.rejects(replaysOf(pool, [again!.id]), {
      message: new RegExp(`${okx} was retracted at \\S+: a drill$`),
    });
    t.same(await missedBy(pool, other.channel.id, hourAgo), []);
    const count = receiver.arrivals.length;
    await t.rejects(
      all(replayAll(byHand, replays, never)),
      /its incident was retracted, or its venue is no longer published/,
      "refused even if it changes at that moment",
    );
    t.equal(receiver.arrivals.length, count);
  });
});

void t.test("venuewatch delivery and venuewatch channel test on the command line", async (t) => {
  const here = await setUp(t);
  const { pool, url, key, receiver, reactions, okx, events, add } = here;
  const env = {
    DATABASE_URL: url,
    CHANNEL_KEY: key.toString("base64"),
    ALERT_LOOPBACK: "on",
    LOG_LEVEL: "debug",
    BASE_URL: "https://shell.example",
  };
  const cli = (args: string[], more = {}) => cliWith(t, args, { ...env, ...more });
  const { channel, secret } = await add();
  const id = String(channel.id);
  const said: string[] = [];

  await t.test("fail before a core has started, as links need its address", async (t) => {
    const early = await cli(["channel", "test", id], {
      BASE_URL: "https://shell.example",
    });
    t.match(early, {
      code: 2,
      err: /^venuewatch: the public address for alert links is unknown: .*; start core, then send again\n$/m,
    });
    t.equal(receiver.arrivals.length, 0);
    const log = makeLog("test", "warn", (line) => said.push(line));
    const address = {
      baseUrl: "https://old.example",
      siteUrl: "https://a.example",
    };
    await keepServiceAddress(pool, address, log);
    await keepServiceAddress(pool, address, log);
    t.same(said, [], "storing the same address again is no change");
    await keepServiceAddress(
      pool,
      {
        baseUrl: "https://status.example/api",
        siteUrl: "https://status.example",
      },
      log,
    );
    t.match(said.pop(), /all cores need the same BASE_URL .*old\.example/);
  });

  await t.test("report an empty log", async (t) => {
    await pool.query(sql`delete from delivery`);
    t.match(await cli(["delivery", "list"]), {
      code: 0,
      out: "no deliveries\n",
    });
    t.match(await cli(["delivery", "show", "7"]), {
      code: 2,
      err: "there is no delivery 7; there are no deliveries yet",
    });
    t.match(await cli(["delivery", "replay", "--channel", id]), {
      code: 0,
      out: /^nothing to send: channel \d+ missed nothing since \d{4}-/,
    });
  });

  await t.test("report the result of a test alert", async (t) => {
    const good = await cli(["channel", "test", id]);
    t.equal(good.code, 0, good.err);
    t.match(good.out, /^state +delivered$/m);
    t.match(good.out, /^ {2}delivered 200, \d+ ms$/m);
    t.match(good.out, /^ {2}\| heard$/m);
    t.match(good.out, /^attempt 1 .*, by \S+:\d+, by hand$/m);
    reactions.push({ status: 500 });
    const bad = await cli(["channel", "test", id, "--json"]);
    t.equal(bad.code, 2);
    t.match(JSON.parse(bad.out), { state: "failed", cause: "test" });
    t.match(bad.err, "the test alert was not delivered: refused 500");
    const shut = await cli(["channel", "test", id], { ALERT_LOOPBACK: "off" });
    t.match(shut, { code: 2, err: "was not delivered: unsafe" });
    said.push(...[good, bad, shut].flatMap(({ out, err }) => [out, err]));
  });

  await t.test("list and show deliveries as text and as JSON", async (t) => {
    await pool.query(sql`
      insert into delivery (channel_id, event_id, cause, state, created_at, due_at, ended_at, failures)
      select ${channel.id}, event_id, 'event', 'failed', now() - interval '2 hours', now(), now(), 1 from alert_event
    `);
    await pool.query(sql`
      insert into delivery_attempt (delivery_id, channel_id, sent_by, started_at, ended_at, result, status, error, duration_ms, answer)
      select delivery_id, channel_id, 'core', now(), now(), 'refused', 503, ${"no\u001b[2J 2xx"}, 12, ${"<b>\u009b31m\u202ebusy\r\n\u0007again"}
      from delivery where event_id = ${events[0]}
    `);
    const list = await cli(["delivery", "list"]);
    const [head, newest] = list.out.split("\n");
    t.match(head, /^id +channel +created +cause +event +incident +state +attempts +latest attempt$/);
    t.match(newest, new RegExp(` event +${events[1]} escalated outage +${okx} +failed +0 +none$`));
    const json = await cli(["delivery", "list", "--json", "--state=failed", "--incident", okx, "--channel", id]);
    const deliveries = JSON.parse(json.out) as Delivery[];
    t.same(
      deliveries.map(({ eventId }) => eventId),
      [events[1], events[0]],
    );
    t.same(
      JSON.parse((await cli(["delivery", "list", "--since=1h", "--json", "--state=failed", "--incident", okx])).out),
      [],
    );
    const one = await cli(["delivery", "list", "--limit=1"]);
    t.match(one.out, "the newest 1; --limit shows more\n");

    const show = await cli(["delivery", "show", String(deliveries[1]!.id)]);
    t.match(show.out, /^ {2}refused 503, 12 ms: no\ufffd\[2J 2xx$/m);
    t.match(show.out, /^ {2}\| <b>\ufffd31m\ufffdbusy\n {2}\| \ufffdagain$/m);
    t.notMatch((list.out + show.out).replaceAll("\n", ""), /\p{Cc}|\u202e/u);
    said.push(list.out, json.out, show.out);
  });

  await t.test("replay what a channel missed", async (t) => {
    reactions.push({ status: 200 }, { status: 500 });
    const done = await cli(["delivery", "replay", "--channel", id, "--since", "3h"]);
    t.equal(done.code, 2);
    t.match(done.out, new RegExp(`^delivery \\d+ \\(event ${events[0]}, ${okx}\\) as \\d+: delivered 200, \\d+ ms\n`));
    t.match(done.out, new RegExp(`\ndelivery \\d+ \\(event ${events[1]}, ${okx}\\) as \\d+: refused 500, `));
    t.match(done.err, "1 of 2 not delivered; venuewatch delivery show");
    const again = await cli(["delivery", "replay", "--channel", id, "--json"]);
    t.equal(again.code, 0, again.err);
    const [sent] = JSON.parse(again.out) as Delivery[];
    t.match(sent, { eventId: events[1], state: "delivered", cause: "replay" });
    const [arrival] = newest(receiver, 1);
    t.ok(isSigned(arrival!, secret!));
    t.match(
      JSON.parse(String(arrival!.body)),
      { permalink: `https://status.example/api/v1/incidents/${okx}` },
      "the link is the service's, and not from this shell's settings",
    );
    t.match(arrival!.headers["user-agent"], "(+https://status.example; alerts)");
    const numbered = await cli(["delivery", "replay", String(sent!.id)]);
    t.equal(numbered.code, 0, numbered.err);
    said.push(done.out, done.err, again.out, again.err, numbered.out);
  });

  await t.test("record an attempt that was stopped", async (t) => {
    reactions.push("hang");
    const count = receiver.arrivals.length;
    const stopping = cliWith(t, ["channel", "test", id], env, "", (child) => {
      void until(() => receiver.arrivals.length > count, 60_000).then(() => child.kill("SIGTERM"));
    });
    t.equal((await stopping).code, 143);
    const [last] = await deliveriesOf(pool, wanted({}));
    t.match(last, {
      ...{ cause: "test", state: "failed" },
      attempts: [{ result: "ours", error: /told to stop/ }],
    });
  });

  await t.test("record the start of an attempt that was killed", async (t) => {
    reactions.push("hang");
    const count = receiver.arrivals.length;
    await cliWith(t, ["channel", "test", id], env, "", (child) => {
      void until(() => receiver.arrivals.length > count, 60_000).then(() => child.kill("SIGKILL"));
    });
    const [last] = await deliveriesOf(pool, wanted({}));
    t.match(last, {
      state: "due",
      attempts: [{ result: null, endedAt: null }],
    });
    const [claim] = await pool.query<{ seconds: number }>(sql`
      select extract(epoch from claimed_until - created_at) as seconds from delivery where delivery_id = ${last!.id}
    `);
    t.equal(claim!.seconds, 30, "a dispatcher ends it afterwards");
    t.match(await cli(["delivery", "show", String(last!.id)]), {
      out: "in progress, or its end is not known yet",
    });
    t.match(await channelOf(pool, channel.id), { waiting: 0 });
  });

  await t.test("answer an error with one sentence", async (t) => {
    const mistakes: [string[], string | RegExp, Record<string, string>?][] = [
      [["list", "--channel=99"], "there is no channel 99; the channels are "],
      [["list", "--channel=x"], "expected the number of a channel"],
      [["list", "--incident=okx"], 'there is no incident "okx"; a slug looks'],
      [["list", "--state=lost"], "--state: expected one of due, delivered, failed, sk"],
      [["list", "--since=yesterday"], "expected a time ago, like 30m, 2h"],
      [["list", "--limit=0"], "--limit: expected a whole number from 1"],
      [["show"], "delivery show takes ID besides options, got none"],
      [["show", "1x"], "expected the number of a delivery"],
      [["replay"], "numbers of deliveries or --channel, got neither"],
      [["replay", "1", "--channel=1"], "or --channel, got both"],
      [["replay", "1", "--since=1h"], "--since can be used with --channel only"],
      [["replay", "99999"], "there is no delivery 99999; the log has"],
      [["replay", "--channel", id, "--since=9d"], "CHANNEL_KEY is not set", { CHANNEL_KEY: "" }],
    ];
    await byTwos(mistakes, async ([args, why, more]) => {
      const { code, out, err } = await cli(["delivery", ...args], more);
      t.equal(code, 2, args.join(" "));
      t.match(err, why);
      t.equal(out, "");
      t.notMatch(err, /^ +at /m, "no stack");
    });
  });

  t.notMatch(
    said.join("\n"),
    new RegExp(`hunter2|${secret!.slice(6, 20)}|${env.CHANNEL_KEY.slice(0, 12)}`.replaceAll("+", "\\+")),
    "no output contained a secret",
  );
});

const never = new AbortController().signal;

function wanted(more: Partial<Parameters<typeof deliveriesOf>[1]>): Parameters<typeof deliveriesOf>[1] {
  return {
    channel: null,
    incident: null,
    state: null,
    since: null,
    limit: 50,
    ...more,
  };
}

function newest({ arrivals }: Receiver, count: number): Receiver["arrivals"] {
  return arrivals.slice(-count);
}

/** Whether one of the signatures is by this secret, as in the API's contract. */
function isSigned({ headers, body }: Receiver["arrivals"][number], secret: string): boolean {
  const [time, ...signatures] = String(headers["x-svc-signature"]).split(",");
  const hmac = createHmac("sha256", secret)
    .update(`${time!.slice(2)}.`)
    .update(body)
    .digest("hex");
  return signatures.includes(`v1=${hmac}`);
}

async function all<One>(many: AsyncIterable<One>): Promise<One[]> {
  const ones: One[] = [];
  for await (const one of many) ones.push(one);
  return ones;
}

/** Writes events as the engine does. */
async function event(db: Db, slug: string, kind: string): Promise<number> {
  const [row] = await db.query<{ event_id: number }>(sql`
    insert into alert_event (incident_id, kind, severity, at, recorded_at, late)
    select incident_id, ${kind}, 'outage', now(), now(), false from incident where slug = ${slug}
    returning event_id
  `);
  return row!.event_id;
}

/** Settles due deliveries in place of a dispatcher. */
async function settled(db: Db, channel: number, state: string): Promise<void> {
  await db.query(sql`
    update delivery
    set state = ${state}, ended_at = now(), reason = case when ${state} = 'skipped' then 'the channel was off' end
    where channel_id = ${channel} and cause = 'open'
  `);
}

async function published(db: Db, venue: string, is: boolean): Promise<void> {
  await db.query(sql`update venue set published = ${is} where venue = ${venue}`);
}

async function claimOf(pool: Pool, delivery: number) {
  const [row] = await pool.query(sql`select claimed_by, claimed_until from delivery where delivery_id = ${delivery}`);
  return row;
}
