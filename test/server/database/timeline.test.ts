/**
 * A database on a new timeline, after a failover that lost its last transactions. Here the test removes them by hand;
 * failover.test.ts has a real failover.
 */
import t, { type Test } from "tap";
import { makeRecentlySent } from "../../../server/core/alerts/recently-sent.js";
import { deliveryRules } from "../../../server/core/alerts/retry-rules.js";
import { type Db, type Pool, sql } from "../../../shared/database/pool.js";
import { makeLease } from "../../../server/core/engine/lease.js";
import { accepted, tick } from "../../../server/core/engine/tick.js";
import { addChannel, happened, sealing } from "../../support/alerts.js";
import { migratedDatabase } from "../../support/database.js";
import { ago, measured } from "../../support/fleet.js";

const none = { restored: [], closed: [], skipped: [] };

interface Claimed {
  event_id: number;
  channel_id: number;
  event: Record<string, unknown>;
  incident: Record<string, unknown>;
}

void t.test("on a new timeline after a failover", async (t) => {
  const { pool } = await migratedDatabase(t);
  const channels = [await addChannel(pool), await addChannel(pool)];
  const sent = makeRecentlySent();
  await measured(pool, { from: ago(320), to: ago(0) });
  accepted(await tick(pool, ago(260)));
  const slug = await happened(pool, { at: ago(150) });
  await pool.file("expand_alerts", [null, 100]);
  const claimed = await claim(pool);
  t.same(
    claimed.map((one) => one.channel_id),
    channels,
  );
  // one channel has it; the other core, which sent it to the other channel, is gone
  sent.leaves(claimed[0]!);
  sent.delivered(claimed[0]!);
  const sentByOther = makeRecentlySent();
  sentByOther.leaves(claimed[1]!);
  sentByOther.delivered(claimed[1]!);
  const { event, incident } = claimed[0]!;

  const term = await makeLease(pool, "engine", "test", 60_000).take();
  await t.test("the engine decides nothing at first", async (t) => {
    await fallBehind(pool);
    const at = ago(255);
    t.same(await tick(pool, at, { term }), { refused: "new timeline" });
    t.same(await tick(pool, at, { term }), { refused: "new timeline" }, "no decision a moment later either");
    t.same(await pool.file("adopt_timeline"), [{ adopted: false }]);
  });

  await t.test("no sequence number is used twice", async (t) => {
    const skipped = await pool.query<{ id: number; sequence: string }>(sql`
      select s.last_value as id, s.sequencename as sequence
      from pg_sequences s
      where s.schemaname = 'venuewatch'
        and s.sequencename in ('incident_incident_id_seq', 'alert_event_event_id_seq', 'change_event_change_id_seq', 'delivery_delivery_id_seq', 'delivery_attempt_attempt_id_seq')
    `);
    t.equal(skipped.length, 5);
    for (const { id, sequence } of skipped) t.ok(id > 100_000 && id < 101_000, `${sequence}: ${id}`);
  });

  await t.test("incidents whose alerts were sent are restored with their numbers", async (t) => {
    t.same(await sent.restore(pool), { ...none, restored: [slug] });
    t.same(await sent.restore(pool), none, "once");
    const [row] = await pool.query<{ i: unknown; e: object }>(sql`
      select to_jsonb(i) as i, to_jsonb(e) as e
      from incident i join alert_event e using (incident_id) where i.slug = ${slug}
    `);
    t.same(row!.i, incident);
    t.same(row!.e, { ...event, dispatched_at: null });
  });

  await t.test("a channel that received the alert does not get it again", async (t) => {
    const [{ timeline } = { timeline: "" }] = await pool.query<{ timeline: string }>(
      sql`select current_timeline() as timeline`,
    );
    t.same(await pool.file("alerts_due"), [{ waiting: false, due_in_ms: null, timeline }]);
    await pool.script("update timeline set adopted_at = '-infinity'");
    t.match(await pool.file("alerts_due"), [{ waiting: true }]);
    await pool.file("expand_alerts", [null, 100]);
    t.same(await deliveriesOf(pool, slug), [
      { channel_id: channels[0], kind: "opened", state: "delivered" },
      { channel_id: channels[1], kind: "opened", state: "due" },
    ]);
  });

  await t.test("no delivery is claimed before everything is restored", async (t) => {
    await pool.script("update timeline set adopted_at = clock_timestamp()");
    t.same(await claim(pool), []);
    t.match(await pool.file("alerts_due"), [{ waiting: false, due_in_ms: null }]);
    await pool.script("update timeline set adopted_at = '-infinity'");
    t.match(await pool.file("alerts_due"), [{ due_in_ms: 0 }]);
  });

  await t.test("an alert that another core sent is not sent again", async (t) => {
    t.same(await sentByOther.restore(pool), none);
    t.same(
      await deliveriesOf(pool, slug),
      channels.map((channel_id) => ({ channel_id, kind: "opened", state: "delivered" })),
    );
    t.same(await claim(pool), []);
  });

  await t.test("the engine continues the restored incident, and closes it", async (t) => {
    const decide = async (seconds: number) => accepted(await tick(pool, ago(seconds), { term }));
    // according to the data before the failover, the component has long been well
    t.match(await decide(155), { closed: [] }, "an instant before it opened");
    t.match(await decide(145), { closed: [] });
    t.match(await decide(20), { closed: [slug] });
    await pool.file("expand_alerts", [null, 100]);
    t.same(
      (await deliveriesOf(pool, slug)).filter(({ kind }) => kind === "closed"),
      channels.map((channel_id) => ({ channel_id, kind: "closed", state: "due" })),
    );
  });

  await t.test("a restored incident is closed if its component has opened another", (t) => tooLate(t, pool));
});

async function tooLate(t: Test, pool: Pool): Promise<void> {
  const lose = async (venue: string) => {
    const sent = makeRecentlySent();
    const slug = await happened(pool, { venue, at: ago(60) });
    await pool.file("expand_alerts", [null, 100]);
    const claimed = await pool.query<Claimed>(sql`
      select e.event_id, d.channel_id, to_jsonb(e) as event, to_jsonb(i) as incident
      from delivery d join alert_event e using (event_id) join incident i using (incident_id) where i.slug = ${slug}
    `);
    for (const one of claimed) sent.leaves(one);
    await fallBehind(pool);
    await pool.file("adopt_timeline");
    return { sent, slug };
  };
  const late = await lose("okx");
  await happened(pool, { venue: "okx", at: ago(5) });
  t.same(await late.sent.restore(pool), { ...none, closed: [late.slug] });
  t.match(
    await pool.query(sql`
      select e.kind, i.closed_at is not null as closed, i.evidence ->> 'closedBecause' as why
      from incident i join alert_event e using (incident_id) where i.slug = ${late.slug} order by e.event_id
    `),
    [{ kind: "opened" }, { kind: "closed", closed: true, why: /lost it in a failover/ }],
  );

  const taken = await lose("bybit");
  const other = await happened(pool, { venue: "bybit", at: ago(5) });
  await pool.script(`
    alter table incident disable trigger refuse_rewriting;
    update incident set slug = '${taken.slug}' where slug = '${other}';
    alter table incident enable trigger refuse_rewriting
  `);
  t.same(await taken.sent.restore(pool), { ...none, skipped: [taken.slug] });
}

function claim(db: Db): Promise<Claimed[]> {
  return db.file<Claimed>("claim_deliveries", [
    ...[null, "test", deliveryRules.lease_ms, 100],
    ...[JSON.stringify(deliveryRules.pace_ms), sealing.head],
  ]);
}

/**
 * As if everything but the open incidents had been replicated. Sequences stay ahead: PostgreSQL logs them in steps of
 * 32.
 */
async function fallBehind(db: Db): Promise<void> {
  await db.script(`
    alter table incident disable trigger refuse_rewriting;
    delete from delivery_attempt;
    delete from delivery;
    delete from alert_event where incident_id in (select incident_id from incident where closed_at is null);
    delete from incident where closed_at is null;
    alter table incident enable trigger refuse_rewriting;
    update timeline set timeline = '00000000'
  `);
}

function deliveriesOf(db: Db, slug: string) {
  return db.query<{ channel_id: number; kind: string; state: string }>(sql`
    select d.channel_id, e.kind, d.state
    from delivery d join alert_event e using (event_id) join incident i using (incident_id)
    where i.slug = ${slug}
    order by e.event_id, d.channel_id
  `);
}
