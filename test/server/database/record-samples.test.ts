import t, { type Test } from "tap";
import { makeRecentlySent } from "../../../server/core/alerts/recently-sent.js";
import { deliveryRules } from "../../../server/core/alerts/retry-rules.js";
import { makeLease } from "../../../server/core/engine/lease.js";
import { accepted, tick } from "../../../server/core/engine/tick.js";
import { recordSamples } from "../../../server/database/record-samples.js";
import { type Db, type Pool, sql } from "../../../shared/database/pool.js";
import type { Sample } from "../../../shared/measurement/sample.js";
import { addChannel, happened, sealing } from "../../support/alerts.js";
import { migratedDatabase } from "../../support/database.js";
import { emptied } from "../../support/emptied.js";
import { ago, measured } from "../../support/fleet.js";
import { madeSample } from "../../support/made-sample.js";
import { poolOn } from "../../support/pool-on.js";

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

const database = await migratedDatabase(t);

void t.test("a batch of samples is stored once, and each sample's outcome is reported", async (t) => {
  const { pool } = await emptied(database);
  const now = Date.now();
  const batch = [
    madeSample({ slotAt: new Date(now - 2_000) }),
    madeSample({
      ...{ slotAt: new Date(now - 1_000), good: false, fault: "timeout", fresh: true, head: 23_000_000_000 },
      ...{ certificateExpiresAt: new Date(now + dayMs), clockErrorMs: -1900, clockErrorWithinMs: 40 },
    }),
    madeSample({
      ...{ slotAt: new Date(now - 1_000), component: "ws:trades" },
      ...{ messages: 40, quietMs: 900, eventAgeMs: -3, sequenceGaps: 2, lateMs: 70 },
    }),
    madeSample({ slotAt: new Date(now - 1_000), component: "ws:book", good: false, fault: "closed", unserved: true }),
  ];
  const record = async (samples: Sample[]) => {
    const { timeline, ...recorded } = await recordSamples(pool, "us-east", samples);
    t.match(timeline, /^[0-9A-F]{8}$/);
    return recorded;
  };

  const outcome = { stored: 0, duplicates: 0, refused: 0, unknown: [] };
  t.strictSame(await record(batch), { ...outcome, stored: 4 }, "a batch is stored");
  t.strictSame(await record(batch), { ...outcome, duplicates: 4 }, "a repeated batch is not stored again");
  const again = madeSample({ slotAt: new Date(now - 500) });
  t.strictSame(
    await record([again, again, batch[0]!]),
    { ...outcome, stored: 1, duplicates: 2 },
    "a duplicate within a batch is stored once",
  );
  t.strictSame(await record([]), outcome);
  const unheard = madeSample({ slotAt: new Date(now - 100), component: "rest:unheard" });
  const nowhere = madeSample({ slotAt: new Date(now - 200), venue: "nowhere" });
  const tooOld = new Date(now - 7 * dayMs - minuteMs);
  t.strictSame(
    await record([madeSample({ slotAt: new Date(now - 300) }), unheard, { ...nowhere, slotAt: tooOld }, nowhere]),
    { ...outcome, stored: 1, refused: 1, unknown: [unheard, nowhere] },
    "samples of unknown components are returned unless they are too old",
  );
  const slots = [-7 * dayMs - minuteMs, -7 * dayMs + minuteMs, 2 * minuteMs, minuteMs / 2];
  t.strictSame(
    await record(slots.map((ms) => madeSample({ slotAt: new Date(now + ms) }))),
    { ...outcome, stored: 2, refused: 2 },
    "samples older than seven days or more than a minute ahead are refused",
  );
  const refused = {
    slotAt: new Date(now - 400),
    component: "ws:trades",
    good: false,
    fault: "handshake",
    refusal: `60018 ${"x".repeat(300)}`,
  } as const;
  await record([madeSample(refused)]);
  t.strictSame(
    await pool.query(sql`select refusal from sample where ts = ${refused.slotAt}`),
    [{ refusal: refused.refusal.slice(0, 200) }],
    "the venue's words of refusal are stored, truncated",
  );
  for (const latencyUs of [NaN, Infinity])
    await t.rejects(record([madeSample({ slotAt: new Date(now), latencyUs })]), { code: "22P02" }, `${latencyUs}`);
  await t.rejects(
    recordSamples(pool, "atlantis", batch),
    /knows the region atlantis, this one does not: run `venuewatch migrate`/,
    "a batch of an unknown region is an error, so that it is not lost",
  );

  const stored = await pool.query(sql`
    select c.component, s.good, s.fault, s.latency_us, s.messages, s.quiet_ms, s.event_age_ms, s.sequence_gaps, s.late_ms, s.fresh, s.certificate_expires_at,
      s.head::text, s.clock_error_ms, s.clock_error_within_ms, s.unserved
    from sample s
    join component c using (component_id)
    where s.ts = ${batch[1]!.slotAt}
    order by c.component
  `);
  const none = {
    ...{ good: false, latency_us: 80_000, messages: null, quiet_ms: null, event_age_ms: null, sequence_gaps: null },
    ...{ late_ms: null, fresh: null, certificate_expires_at: null, head: null, unserved: null },
    ...{ clock_error_ms: null, clock_error_within_ms: null },
  };
  t.strictSame(
    stored,
    [
      {
        ...{ ...none, component: "rest:ticker", fault: "timeout", fresh: true, head: "23000000000" },
        ...{ certificate_expires_at: new Date(now + dayMs), clock_error_ms: -1900, clock_error_within_ms: 40 },
      },
      { ...none, component: "ws:book", fault: "closed", unserved: true },
      {
        ...{ ...none, component: "ws:trades", good: true, fault: null },
        ...{ messages: 40, quiet_ms: 900, event_age_ms: -3, sequence_gaps: 2, late_ms: 70 },
      },
    ],
    "every field is stored in its column",
  );
});

void t.test("a sample is good exactly when it has no fault", async (t) => {
  const { pool } = await emptied(database);
  const insert = (good: boolean, fault: string | null) =>
    pool.query(sql`
      insert into sample (ts, component_id, region_id, good, fault) values (now(), 1, 1, ${good}, ${fault}::fault)
    `);
  await t.rejects(insert(true, "timeout"), { code: "23514" });
  await t.rejects(insert(false, null), { code: "23514" });
  await t.resolves(insert(false, "timeout"));
});

void t.test("three regions can insert while roll-ups are refreshed", async (t) => {
  const { pool, url, registry } = await emptied(database);
  const refresher = poolOn(t, url);
  const startMs = Math.floor(Date.now() / minuteMs) * minuteMs - 2 * minuteMs;

  let inserting = true;
  const refreshes = (async () => {
    let done = 0;
    while (inserting) {
      await refresher.query(sql`call upkeep.refresh_newest(now())`);
      done += 1;
    }
    return done;
  })();
  const totals = await Promise.all(
    registry.regions.map(async ({ id }) => {
      let stored = 0;
      for (let slot = 0; slot < 20; slot++) {
        const slotAt = new Date(startMs + slot * 5_000);
        const batch = registry.venues.map(({ id: venue, rest }) =>
          madeSample({ venue, component: `rest:${rest[0]!.name}`, slotAt }),
        );
        stored += (await recordSamples(pool, id, batch)).stored;
      }
      return stored;
    }),
  );
  inserting = false;
  t.ok((await refreshes) > 0);
  t.strictSame(totals, [300, 300, 300], "every sample is stored");

  await pool.query(sql`call upkeep.refresh_newest(now())`);
  const [rolledUp] = await pool.query<{ samples: number }>(sql`select sum(samples) as samples from sample_minute`);
  t.equal(rolledUp!.samples, 900, "the next refresh rolls up all samples");
});

// A database on a new timeline, after a failover that lost its last transactions. Here the test removes them by hand;
// failover.test.ts has a real failover.

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
