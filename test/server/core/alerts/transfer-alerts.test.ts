/** Alerts about deposits and withdrawals, from the venue's list to the receiver. */
import t from "tap";
import { deliveriesOf } from "../../../../server/core/alerts/deliveries.js";
import type { TransferAlert } from "../../../../server/core/alerts/formats/alert.js";
import { sql } from "../../../../shared/database/pool.js";
import { claim, clearAlerts, expand, isAllDone, queueOf, retain, settle } from "../../../support/alert-queue.js";
import { startAlerts } from "../../../support/alert-dispatch.js";
import { receiverFor } from "../../../support/alerting.js";
import { addChannel, happened, native } from "../../../support/alerts.js";
import { migratedDatabase } from "../../../support/database.js";
import { misfitOf } from "../../../support/made-alert.js";
import { forgetListed, line, listed } from "../../../support/stored-transfers.js";
import { until } from "../../../support/until.js";

const nowMs = Date.now();
/** So many minutes from an hour ago. */
const at = (minute: number) => new Date(nowMs + (minute - 60) * 60_000);
const iso = (minute: number) => at(minute).toISOString();

const open = [line("BTC", "BTC"), line("USDT", "TRX")];
const paused = [line("BTC", "BTC", "paused", "open", "wallet upgrade"), line("USDT", "TRX")];

const { pool } = await migratedDatabase(t);
t.beforeEach(async () => {
  await clearAlerts(pool);
  await forgetListed(pool);
});

/** Reads Gate's list, at these minutes. */
async function read(lines: typeof open, ...minutes: number[]): Promise<void> {
  for (const minute of minutes) await listed(pool, "gate", at(minute), lines);
}

const events = async () =>
  (
    await pool.query<{ kind: string; at: Date; paused_since: Date }>(
      sql`select kind, at, paused_since from alert_event order by event_id`,
    )
  ).map(({ kind, at, paused_since: since }) => `${kind} ${at.toISOString()}, paused ${since.toISOString()}`);

void t.test("a pause is alerted once it has lasted for ten minutes, and so is its end", async (t) => {
  await read(open, 0);
  await read(paused, 5, 10);
  t.strictSame(await events(), [], "after five minutes");
  await read(paused, 15, 20, 25);
  const began = `transfer_paused ${iso(15)}, paused ${iso(5)}`;
  t.strictSame(await events(), [began], "once");
  await read(open, 30, 35);
  t.strictSame(await events(), [began, `transfer_resumed ${iso(30)}, paused ${iso(5)}`]);
});

void t.test("a short pause is not alerted, and neither is what is unknown", async (t) => {
  await read(open, 0);
  await read(paused, 5, 10);
  await read(open, 14);
  await listed(pool, "gate", at(20), [line("BTC", "BTC", "unknown"), line("USDT", "TRX")]);
  await listed(pool, "gate", at(40), null);
  t.strictSame(await events(), []);
});

void t.test("a pause that is lost from sight for a while is one pause", async (t) => {
  await read(open, 0);
  await read(paused, 5, 15);
  await listed(pool, "gate", at(20), [line("USDT", "TRX")]);
  await read(paused, 25, 40);
  t.equal((await events()).length, 1, "told once");
  await listed(pool, "gate", at(45), [line("USDT", "TRX")]);
  await read(open, 50);
  t.equal((await events())[1], `transfer_resumed ${iso(50)}, paused ${iso(5)}`);
});

void t.test("nothing is alerted from a list that was not understood", async (t) => {
  await read(open, -5);
  await read(paused, 0);
  await listed(pool, "gate", at(30), null);
  t.strictSame(await events(), []);
});

void t.test("a venue that changes its word all the time raises no alert", async (t) => {
  await read(open, 0);
  for (let minute = 2; minute < 60; minute += 4) {
    await read(paused, minute);
    await read(open, minute + 2);
  }
  t.strictSame(await events(), []);
});

const wanted = { incident: null, state: null, since: null, limit: 100 };
const queue = async (channel: number) => (await queueOf(pool, channel)).map((what) => what.replace("transfer_", ""));

void t.test("only channels that asked for the asset hear of it, and their other filters apply", async (t) => {
  const named = {
    asked: await addChannel(pool, { transfers: ["BTC", "ETH"], floor: "outage" }),
    ofVenue: await addChannel(pool, { transfers: ["BTC"], venues: ["gate"] }),
    ofOther: await addChannel(pool, { transfers: ["BTC"], venues: ["kraken"] }),
    ofCategory: await addChannel(pool, { transfers: ["BTC"], categories: ["rpc"] }),
    otherAsset: await addChannel(pool, { transfers: ["USDT"] }),
    usual: await addChannel(pool),
  };
  await read(open, -5);
  await read(paused, 0, 10);
  await expand(pool);
  await read(open, 15);
  await expand(pool);
  const heard: string[] = [];
  for (const [name, channel] of Object.entries(named)) if ((await queue(channel)).length === 2) heard.push(name);
  t.strictSame(heard, ["asked", "ofVenue"]);
  await happened(pool, { venue: "okx" });
  await expand(pool);
  t.strictSame(await queue(named.usual), ["okx opened"], "alerts about incidents are as before");
});

void t.test("the end goes to those that heard of the pause, also if both wait in the outbox", async (t) => {
  const first = await addChannel(pool, { transfers: ["BTC"] });
  await read(open, -5);
  await read(paused, 0, 10);
  await expand(pool);
  const [{ last } = { last: 0 }] = await pool.query<{ last: number }>(sql`
    select max(event_id) as last from alert_event
  `);
  const later = await addChannel(pool, { transfers: ["BTC"], after: last });
  await read(open, 15);
  await read(paused, 20, 30);
  await read(open, 35);
  await expand(pool);
  t.strictSame(await queue(first), ["gate paused", "gate resumed", "gate paused", "gate resumed"]);
  t.strictSame(await queue(later), ["gate paused", "gate resumed"], "not the end of what it had not heard");
  await claim(pool, new Date());
  await settle(pool, new Date(), first, "delivered");
  t.match(await queue(first), ["gate paused: delivered", "gate resumed"]);
});

void t.test("--open also queues the pauses that last", async (t) => {
  const known = await addChannel(pool, { transfers: ["BTC"] });
  await read([line("BTC", "BTC", "paused", "paused"), line("USDT", "TRX", "paused")], 0, 10);
  await read([line("BTC", "BTC", "paused", "open"), line("USDT", "TRX", "paused")], 15);
  await expand(pool);
  t.strictSame(await queue(known), [], "what was paused at the first reading is no news");
  const channel = await addChannel(pool, { transfers: ["BTC"], after: 1_000 });
  const queued = await pool.file("channel_queue_open", [channel]);
  t.equal(queued.length, 1, "of BTC's withdrawals alone");
  t.strictSame(await queue(channel), ["gate paused"]);
});

void t.test("an alert arrives signed, as the API describes it, and the log names what it is about", async (t) => {
  const { pool } = await migratedDatabase(t);
  const receiver = await receiverFor(t);
  const channel = await addChannel(pool, { to: native(`${receiver.origin}/coins`), transfers: ["BTC"] });
  const alerts = startAlerts(pool);
  t.teardown(alerts.close);
  await listed(pool, "gate", at(-5), open);
  await listed(pool, "gate", at(0), paused);
  await listed(pool, "gate", at(10), paused);
  await listed(pool, "gate", at(20), open);
  await until(() => isAllDone(pool), 60_000, 20);
  const bodies = receiver.arrivals.map(({ body }) => JSON.parse(body.toString()) as TransferAlert);
  t.match(bodies, [
    {
      ...{
        kind: "transfer_paused",
        test: false,
        at: iso(10),
        permalink: "https://status.example/venues/gate#transfers",
      },
      transfer: {
        ...{ asset: "BTC", network: "bitcoin", networkName: "Bitcoin", venueNetwork: "BTC", direction: "withdrawal" },
        ...{ state: "paused", because: "wallet upgrade", pausedAt: iso(0), resumedAt: null },
      },
      venue: { id: "gate", name: "Gate", category: "exchange" },
    },
    { kind: "transfer_resumed", transfer: { state: "open", because: null, pausedAt: iso(0), resumedAt: iso(20) } },
  ]);
  for (const body of bodies) t.equal(await misfitOf(body, "TransferAlert"), null);
  t.ok(receiver.arrivals.every(({ headers }) => headers["x-svc-signature"]));
  const log = await deliveriesOf(pool, { channel, ...wanted });
  t.match(log, [
    {
      kind: "transfer_resumed",
      severity: null,
      incident: null,
      transfer: "gate-btc-btc-withdrawal",
      state: "delivered",
    },
    { kind: "transfer_paused", transfer: "gate-btc-btc-withdrawal", state: "delivered" },
  ]);
  const rows = await pool.query(sql`
    select venue, asset, network, direction, kind, severity, slug from analytics.alerts order by event_id limit 1
  `);
  const about = { venue: "gate", asset: "BTC", network: "bitcoin", direction: "withdrawal" };
  t.strictSame(rows, [{ ...about, kind: "transfer_paused", severity: null, slug: null }]);
});

void t.test("a pause of which the venue says nothing for a day is ended as unknown", async (t) => {
  const channel = await addChannel(pool, { transfers: ["BTC"] });
  await read(open, -5);
  await read(paused, 0, 10);
  const without = [line("USDT", "TRX")];
  await read(without, 15, 60, 1440);
  t.equal((await events()).length, 1, "within the day");
  await read(without, 1456, 1460);
  await expand(pool);
  t.strictSame(await queue(channel), ["gate paused", "gate unknown"]);
  t.equal((await events())[1], `transfer_unknown ${iso(1456)}, paused ${iso(0)}`);
  await read(open, 1470);
  t.equal((await events()).length, 2, "it was ended already");
});

void t.test("an alert that was not recorded with its reading is recorded with the next one", async (t) => {
  await read(open, -5);
  await read(paused, 0, 10);
  await pool.script("update transfer_state set paused_event_id = null; delete from alert_event");
  await read(paused, 15);
  t.strictSame(await events(), [`transfer_paused ${iso(15)}, paused ${iso(0)}`]);
});

void t.test("what a venue declared is not sent once it is no longer watched", async (t) => {
  const channel = await addChannel(pool, { transfers: ["BTC"] });
  await read(open, -5);
  await read(paused, 0, 10);
  await expand(pool);
  await pool.query(sql`update venue set published = false where venue = 'gate'`);
  t.teardown(() => pool.query(sql`update venue set published = true where venue = 'gate'`));
  await claim(pool, new Date());
  t.match(await deliveriesOf(pool, { channel, ...wanted }), [
    { state: "dropped", reason: "its venue is no longer published" },
  ]);
});

void t.test("the alert of a pause that lasts for months is kept, and that of one that is over is not", async (t) => {
  const old = (minute: number) => new Date(+at(minute) - 100 * 86_400_000);
  const channel = await addChannel(pool, { transfers: ["BTC", "USDT"] });
  const both = [line("BTC", "BTC", "paused"), line("USDT", "TRX", "paused")];
  await listed(pool, "gate", old(-5), open);
  for (const minute of [0, 10]) await listed(pool, "gate", old(minute), both);
  await listed(pool, "gate", old(20), [line("BTC", "BTC", "paused"), line("USDT", "TRX")]);
  await expand(pool);
  await pool.query(sql`update delivery set state = 'delivered', first_claimed_at = ${old(21)}, ended_at = ${old(21)}`);
  await retain(pool, new Date());
  t.strictSame(await pool.query(sql`select kind from alert_event`), [{ kind: "transfer_paused" }]);
  t.equal((await deliveriesOf(pool, { channel, ...wanted })).length, 1);
  await read(open, 50);
  await expand(pool);
  t.match(await queue(channel), ["gate paused: delivered", "gate resumed"], "so its receiver hears of the end");
});
