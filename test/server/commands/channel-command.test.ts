/** How an operator manages channels. */
import { randomBytes } from "node:crypto";
import t, { type Test } from "tap";
import { addChannel, type Added, type NewChannel } from "../../../server/alerts/channels/add-channel.js";
import type { Channel } from "../../../server/alerts/channels/channel.js";
import { channelOf, channelsOf } from "../../../server/alerts/channels/channels.js";
import { credentialOf } from "../../../server/alerts/channels/credential.js";
import { holdEvents } from "../../../server/alerts/channels/event-lock.js";
import { removeChannel } from "../../../server/alerts/channels/remove-channel.js";
import { replaceCredential, rotateSecret } from "../../../server/alerts/channels/rotate-channel.js";
import { makeSealing } from "../../../server/alerts/channels/sealing.js";
import { disableChannel, enableChannel } from "../../../server/alerts/channels/switch-channel.js";
import { type Db, type Pool, sql } from "../../../shared/database/pool.js";
import { byTwos, cliWith } from "../../support/cli-input.js";
import { emptyDatabase, migratedDatabase } from "../../support/database.js";
import { pastIncident } from "../../support/fleet.js";
import { until } from "../../support/until.js";

const url = "https://hooks.example.org/in/hunter2hunter2-abcd";
const routingKey = "R0hunter2hunter2hunter2hunter2xy";

void t.test("venuewatch channel on the command line", async (t) => {
  const { pool, url: databaseUrl } = await migratedDatabase(t);
  const key = randomBytes(32);
  const sealing = makeSealing(key);
  const env = {
    DATABASE_URL: databaseUrl,
    CHANNEL_KEY: key.toString("base64"),
    LOG_LEVEL: "debug",
  };
  const channel = (t: Test, args: string[], input = "", more = {}) =>
    cliWith(t, ["channel", ...args], { ...env, ...more }, input);

  await t.test("says that there are no channels", async (t) => {
    const list = await channel(t, ["list"]);
    t.match(list, {
      code: 0,
      out: "there are no channels; add one with venuewatch channel add\n",
    });
    t.match(await channel(t, ["show", "1"]), {
      code: 2,
      err: "venuewatch: there is no channel 1; add one with venuewatch channel add\n",
    });
  });

  await t.test("add shows the signing secret once", async (t) => {
    const { code, out, err } = await channel(t, ["add", "--url", url]);
    t.equal(code, 0, err);
    const [, secret = ""] = /shown only now: (whsec_\S{44})\n/.exec(out) ?? [];
    const [row] = await sealed(pool, 1);
    t.equal(sealing.open(row!.secret!, "secret"), secret);
    t.equal(sealing.open(row!.destination!, "destination"), url);
    t.match(out, "https://hooks.example.org/…abcd\n");
    t.match(out, /^receives +all$/m);
    t.match(out, "venuewatch channel test 1 sends a test alert");
    t.notMatch(out + err, /hunter2/);
    for (const args of [["list"], ["show", "1"], ["show", "1", "--json"]])
      t.notMatch(JSON.stringify(await channel(t, args)), /hunter2|whsec/);
  });

  await t.test("reads a key or URL from standard input", async (t) => {
    const paging = [
      ...["add", "--format", "paging", "--key", "-"],
      ...["--service-region", "eu", "--floor", "outage", "--json"],
      ...["--venue", "okx, kraken,okx", "--category", "exchange"],
      ...["--description", " on call ", "--open"],
    ];
    const { code, out, err } = await channel(t, paging, `${routingKey}\nmore`);
    t.equal(code, 0, err);
    const added = JSON.parse(out) as Added;
    t.match(added, { secret: null, queued: 0 });
    t.match(added.channel, {
      ...{ id: 2, format: "paging", serviceRegion: "eu", to: "…r2xy" },
      ...{ floor: "outage", venues: ["okx", "kraken"] },
      ...{ categories: ["exchange"], description: "on call", state: "on" },
    });
    const [row] = await sealed(pool, 2);
    t.equal(sealing.open(row!.destination!, "destination"), routingKey);
    t.match(await channel(t, ["show", "2"]), {
      out: /^receives +outages of okx,kraken of exchange$/m,
    });
    const none = await channel(t, [...paging.slice(0, 7)]);
    t.match(none, { code: 2, err: "--key -: expected a line of standard" });
  });

  await t.test("list shows each channel's state", async (t) => {
    t.match(await channel(t, ["add", "--format=chat", "--url=-"], url), {
      code: 0,
      out: /^format +chat$/m,
    });
    await pool.query(sql`
      update channel set off_at = '2026-01-31T12:00:00Z', off_cause = 'failures', failures = 10 where channel_id = 3
    `);
    const { out } = await channel(t, ["list"]);
    const [head, ...rows] = out.split("\n");
    t.match(head, /^id +format +to +receives +state +waiting +latest attempt/);
    t.match(rows[0], /^1 +native +https:\/\/hooks.example.org\/…abcd +all +on /);
    t.match(rows[1], /^2 +paging eu +…/);
    t.match(rows[2], /^3 +chat .* off since 2026-01-31T12:00:00.000Z: 10 failures in a row +0 +none$/);
    t.match(await channel(t, ["enable", "3"]), {
      out: "channel 3 is on; it was off since 2026-01-31T12:00:00.000Z: 10 failures in a row\n",
    });
    t.match(await channel(t, ["enable", "3", "--open"]), {
      out: "channel 3 was already on\nalerts of open incidents, queued for core to send: 0\n",
    });
    t.match(await channel(t, ["disable", "3"]), { out: "channel 3 is off;" });
    t.match(await channel(t, ["disable", "3"]), {
      out: /^channel 3 was already off since \S+: switched off by an operator\n$/,
    });
  });

  await t.test("rotate exchanges a secret or the destination", async (t) => {
    const native = await channel(t, ["rotate", "1", "--overlap", "2"]);
    const [, secret = ""] = /only now: (whsec_\S+)/.exec(native.out) ?? [];
    t.equal(sealing.open((await sealed(pool, 1))[0]!.secret!, "secret"), secret);
    t.match(native.out, /old secret also signs until \d{4}-/);
    t.match(await channel(t, ["rotate", "1", "--overlap", "0"]), {
      out: "the old secret is no longer valid\n",
    });
    const chat = ["rotate", "3", "--url", "-"];
    t.match(await channel(t, chat, "https://example.com/other/place/wxyz"), {
      code: 0,
      out: "channel 3 now posts to https://example.com/…wxyz\n",
    });
    const json = ["rotate", "2", "--key", "-", "--json"];
    const { out } = await channel(t, json, "a".repeat(32));
    t.match(JSON.parse(out), { channel: { id: 2, to: "…aaaa" } });
  });

  await t.test("remove skips the waiting deliveries", async (t) => {
    t.match(await channel(t, ["remove", "3"]), {
      code: 0,
      out: "channel 3 is removed; waiting deliveries skipped: 0\n",
    });
    t.notMatch((await channel(t, ["list"])).out, "chat");
    t.match((await channel(t, ["list", "--all"])).out, /chat .* removed 20/);
    for (const action of ["remove", "enable", "disable", "rotate"])
      t.match(await channel(t, [action, "3"]), {
        code: 2,
        err: /^venuewatch: channel 3 was removed at \S+ and its destination was wiped/m,
      });
  });

  await t.test("an error names its cause and reveals no secret", async (t) => {
    const paging = ["add", "--format=paging"];
    const mistakes: [string[], string | RegExp, Record<string, string>?][] = [
      [["add"], "channel add: --url is missing; format native requires it"],
      [paging, "--service-region is missing"],
      [[...paging, "--service-region=us"], "--key is missing; format paging"],
      [[...paging, "--service-region=asia"], '--service-region: expected one of us, eu, got "asia"'],
      [[...paging, "--service-region=us", "--key=hunter2"], "--key: expected a routing key of 32 characters, got 7"],
      [
        [...paging, "--service-region=us", `--key=${" ".repeat(32)}`],
        "got one with other than visible ASCII characters",
      ],
      [[...paging, "--service-region=us", "--url", url], "--url is not for format paging, which takes --key"],
      [["add", "--key", routingKey], "--key is not for format native"],
      [["add", "--url", url, "--service-region=us"], "--service-region is for format paging, not for native"],
      [["add", "--format=mail"], '--format: expected one of native, chat, paging, got "mail"'],
      [["add", "--url", url, "--floor=bad"], "--floor: expected one of degraded, outage"],
      [["add", "--url", url, "--venue=krake,okx"], /--venue: there is no venue krake; the venues are .*kraken, /],
      [["add", "--url", url, "--venue=okx,"], "--venue: expected one or more"],
      [["add", "--url", url, "--category=shop"], /--category: expected one of exchange, rpc, .*, got "shop"/],
      [["add", "--url", url, "--venue=okx", "--category=rpc"], "--category: no venue of --venue has category rpc"],
      [["add", "--url", url, "--category=rpc"], "--category: no published venue has category rpc"],
      [
        ["add", "--url", url, "--description", "x".repeat(201)],
        "--description: expected at most 200 characters, got 201",
      ],
      [["add", "--url", url, "--description", "a\u001b[31m"], "--description: expected one line of plain text"],
      [["add", "--url", "http://example.org/hunter2"], "--url: expected a URL with https:, got http:"],
      [["add", "--url", "hunter2"], "--url: expected a URL such as"],
      [["add", "--url", "https://u:hunter2@example.org/x"], "--url: expected a URL without user and password"],
      [["add", "--url", "https://127.0.0.1/hunter2"], "--url: 127.0.0.1 is"],
      [["add", "--url", url], /CHANNEL_KEY is not set; .* openssl rand -base64 32/, { CHANNEL_KEY: "" }],
      [["rotate", "1"], "CHANNEL_KEY is not set", { CHANNEL_KEY: "" }],
      [["add", "--url", url], "CHANNEL_KEY: expected 32 bytes as base64", { CHANNEL_KEY: "hunter2" }],
      [
        ["rotate", "1"],
        "the destination was encrypted with another CHANNEL_KEY; set that one",
        { CHANNEL_KEY: randomBytes(32).toString("base64") },
      ],
      [["rotate", "1", "--url", url], "--url cannot be used: channel 1 is native"],
      [["rotate", "2"], "channel rotate: --key is missing"],
      [["rotate", "2", "--overlap=1"], "--overlap cannot be used: channel 2 has"],
      [["rotate", "1", "--overlap=721"], "whole hours from 0 to 720"],
      [["rotate", "1", "--overlap=-1"], "whole hours from 0 to 720"],
      [["show", "x"], 'expected the number of a channel, got "x"; venuewatch channel list shows them'],
      [["show", "0"], "expected the number of a channel"],
      [["show", "99"], "there is no channel 99; the channels are 1, 2"],
      [["enable", url], "expected the number of a channel, got something else"],
      [["show"], "channel show takes ID besides options, got none"],
      [["mute", "1"], 'channel has no action "mute", expected one of add, list'],
      [["add", "--url", url], "cannot be used (ECONNREFUSED)", { DATABASE_URL: "postgres://me:hunter2@127.0.0.1:1/x" }],
      [
        ["add", "--url", url],
        "venuewatch's tables are missing; run venuewatch migrate",
        { DATABASE_URL: await emptyDatabase(t) },
      ],
    ];
    const before = await channelsOf(pool, {});
    await byTwos(mistakes, async ([args, said, more]) => {
      const { code, out, err } = await channel(t, args, "", more);
      const which = args.join(" ").slice(0, 80);
      t.equal(code, 2, which);
      t.match(err, said, which);
      t.equal(out, "", which);
      t.notMatch(err, /hunter2|^ +at /m, "no secret and no stack trace");
      if (more?.["CHANNEL_KEY"]) t.notMatch(err, more["CHANNEL_KEY"]);
    });
    t.same(await channelsOf(pool, {}), before, "no channel was changed");
  });

  await t.test("allows this machine as receiver only with ALERT_LOOPBACK", async (t) => {
    const local = ["add", "--url", "http://127.0.0.1:9/hook", "--json"];
    t.equal((await channel(t, local)).code, 2);
    const { out } = await channel(t, local, "", { ALERT_LOOPBACK: "on" });
    t.equal((JSON.parse(out) as Added).channel.to, "http://127.0.0.1:9/…");
  });
});

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
      open: false,
      ...more,
    });

  const began = new Date(Date.now() - 600_000);
  const at = (venue: string, minutes: number | null = null, more = {}) =>
    pastIncident(pool, {
      ...{ venue, component: "rest:ticker", startedAt: began, minutes },
      ...more,
    });
  const kraken = await at("kraken", null, { severity: "degraded" });
  const okx = await at("okx");
  const events = {
    opened: await event(pool, kraken, "opened", "degraded"),
    okx: await event(pool, okx, "opened", "outage"),
    escalated: await event(pool, kraken, "escalated", "outage"),
  };
  const over = await at("gemini", 5);
  await event(pool, over, "opened", "outage");
  await event(pool, over, "closed", "outage");
  const gone = await at("bybit", null, { retracted: true });
  await event(pool, gone, "opened", "outage");
  const hidden = await at("bitget");
  await event(pool, hidden, "opened", "outage");
  await pool.query(sql`update venue set published = false where venue = 'bitget'`);

  await t.test("a new channel gets the open incidents that pass its filter, on request", async (t) => {
    const { opened, escalated } = events;
    const cases: [Partial<NewChannel>, number[]][] = [
      [{}, [opened, events.okx, escalated]],
      [{ floor: "outage" }, [events.okx, escalated]],
      [{ venues: ["kraken"] }, [opened, escalated]],
      [{ venues: ["okx", "gemini"] }, [events.okx]],
      [{ venues: ["gemini"] }, []],
      [{ categories: ["exchange"] }, [opened, events.okx, escalated]],
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
        late = await event(tx, deribit, open ? "opened" : "escalated", "outage");
        adding = add({ open, venues: ["deribit"] });
        await until(() => isWaitedFor(tx));
      });
      const { channel } = await adding!;
      t.equal(await afterEvent(pool, channel.id), late, "the new channel starts after the late event");
      t.same(await dueFor(pool, channel.id), open ? [late] : []);
    }
    const { channel } = await add({ open: true, venues: ["deribit"] });
    const next = await event(pool, deribit, "closed", "outage");
    t.ok(next > (await afterEvent(pool, channel.id)), "later events are queued for the channel");
    await pool.query(sql`update incident set closed_at = now() where slug = ${deribit}`);
  });

  await t.test("enabling a channel waits for a dispatcher that expands events", async (t) => {
    const { channel } = await add({ venues: ["okx"] });
    let enabling: ReturnType<typeof enableChannel> | undefined;
    await pool.transaction(async (tx) => {
      await tx.query(sql`update alert_event set dispatched_at = now() where event_id = ${events.okx}`);
      enabling = enableChannel(pool, channel.id, true);
      await until(() => isWaitedFor(tx));
    });
    t.match(await enabling, { queued: 1 });
  });

  await t.test("the wait for a writer of events is bounded", async (t) => {
    const [row] = await pool.query<{ alone: boolean }>(sql`select is_embedded() as alone`);
    // there, a session with a lock holds the whole database
    if (row!.alone) return t.pass("applies to a server only");
    await pool.transaction(async (tx) => {
      await tx.query(sql`lock table alert_event in row exclusive mode`);
      await t.rejects(
        pool.transaction((other) => holdEvents(other, 20)),
        {
          name: "UserError",
          message: /^alert events were locked by a writer, usually the engine, for 0.02 s; nothing was changed/,
        },
      );
    });
  });

  await t.test("a channel that is switched on again gets the alerts that it missed", async (t) => {
    const { channel } = await add({ open: true });
    const { opened, okx, escalated } = events;
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
    await event(pool, coinbase, "opened", "outage");
    t.match(await enableChannel(pool, channel.id, true), { queued: 0 });
    await pool.query(sql`update incident set closed_at = now() where slug = ${coinbase}`);
  });

  await t.test("switching off a channel that is off keeps the first cause", async (t) => {
    const { channel } = await add();
    t.match(await disableChannel(pool, channel.id), {
      before: { state: "on" },
      channel: { state: "off", offCause: "operator" },
    });
    await pool.query(sql`update channel set off_cause = 'gone' where channel_id = ${channel.id}`);
    t.match(await disableChannel(pool, channel.id), {
      channel: { offCause: "gone" },
    });
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
    await t.rejects(rotateSecret(pool, other, channel.id, 1), {
      message: /was encrypted with another CHANNEL_KEY/,
    });
    t.same(await sealed(pool, channel.id), before);

    const chat = await add({ format: "chat" });
    const { id } = chat.channel;
    t.equal(chat.secret, null);
    await t.rejects(rotateSecret(pool, sealing, id, 1), {
      message: /has format chat and no signing secret/,
    });
    const credential = credentialOf("chat", `${url}z`, false);
    await replaceCredential(pool, other, id, credential);
    const [row] = await sealed(pool, id);
    t.equal(other.open(row!.destination!, "destination"), `${url}z`, "a new URL can be set after the key is lost");
  });

  await t.test("a removed channel keeps its log and no secret", async (t) => {
    const { channel } = await add({ open: true });
    await settle(pool, channel.id, events.opened, "delivered");
    await rotateSecret(pool, sealing, channel.id, 24);
    t.match(await removeChannel(pool, channel.id), {
      skipped: 2,
      channel: { state: "removed", waiting: 0, formerSecretUntil: null },
    });
    t.strictSame(await sealed(pool, channel.id), [
      {
        destination: null,
        secret: null,
        former_secret: null,
        former_until: null,
      },
    ]);
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
      from delivery d where d.channel_id = ${channel.id} and d.event_id = ${events.opened}
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

/** Writes events as the engine does. */
async function event(db: Db, slug: string, kind: string, severity: string): Promise<number> {
  const [row] = await db.query<{ event_id: number }>(sql`
    insert into alert_event (incident_id, kind, severity, at, recorded_at, late)
    select incident_id, ${kind}, ${severity}::state, now(), now(), false from incident where slug = ${slug}
    returning event_id
  `);
  return row!.event_id;
}

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

function sealed(db: Pool, channel: number) {
  return db.query<{
    destination: Buffer | null;
    secret: Buffer | null;
    former_secret: Buffer | null;
    former_until: Date | null;
  }>(sql`
    select destination, secret, former_secret, former_until from channel where channel_id = ${channel}
  `);
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
