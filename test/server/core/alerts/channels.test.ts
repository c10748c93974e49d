/** How channels are added, switched, rotated and removed. */
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
import { credentialOf, makeSealing } from "../../../../server/core/alerts/sealing.js";
import { type Db, sql } from "../../../../shared/database/pool.js";
import { writeEvent } from "../../../support/alerts.js";
import { migratedDatabase } from "../../../support/database.js";
import { pastIncident } from "../../../support/fleet.js";
import { until } from "../../../support/until.js";
import { sealed, url } from "../../../support/sealed-channel.js";

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
