/** How an operator retracts a false incident. */
import t, { type Test } from "tap";
import { type Db, type Pool, sql } from "../../../shared/database/pool.js";
import { type Retraction, retractIncident } from "../../../server/core/engine/retract.js";
import { addChannel } from "../../support/alerts.js";
import { serve } from "../../support/api.js";
import { migratedDatabase } from "../../support/database.js";
import { decideThrough, forget, measured } from "../../support/fleet.js";
import { runCli } from "../../support/run-script.js";
import { until } from "../../support/until.js";

interface Gone {
  detail: string;
  retractedAt: string;
}

void t.test("venuewatch incident retract", async (t) => {
  const { pool, registry, url } = await migratedDatabase(t);
  const api = await serve(t, { pool, registry });
  const now = Date.now();
  const ago = (seconds: number) => new Date(now - seconds * 1000);

  /** Two regions see Kraken's ticker fail for a while. */
  async function failing(from: Date, to: Date): Promise<void> {
    const ticker = { venue: "kraken", component: "rest:ticker" };
    const regions = ["eu-central", "us-east"];
    await measured(pool, { ...ticker, from, to, regions, fault: "timeout" });
  }
  async function begin(): Promise<string> {
    await forget(pool);
    await measured(pool, { from: ago(300), to: ago(0), component: "rest:ticker" });
    await measured(pool, { from: ago(300), to: ago(0), venue: "kraken" });
    await failing(ago(240), ago(150));
    await decideThrough(pool, ago(250), ago(200));
    const [only, ...others] = await slugs(pool);
    t.same(others, []);
    return only!;
  }
  /** Replaces all channels with these. */
  async function channels(count: number): Promise<number[]> {
    await pool.query(sql`truncate channel, delivery, delivery_attempt`);
    const ids: number[] = [];
    for (let i = 0; i < count; i += 1) ids.push(await addChannel(pool));
    return ids;
  }
  /** @returns what it printed */
  async function retract(t: Test, slug: string, reason: string, expectedCode = 0): Promise<string> {
    const { code, output } = await cli(t, url, ["incident", "retract", slug, "--reason", reason]);
    t.equal(code, expectedCode, output);
    return output;
  }

  await t.test("removes an open incident, which does not open again", async (t) => {
    const slug = await begin();
    const reason = "our proof of a good answer was wrong";
    t.strictSame((await retract(t, slug, ` ${reason} `)).split("\n"), [
      `retracted ${slug}`,
      "alerts already delivered: none",
      "alerts dropped: opened, escalated",
      "rest:ticker of kraken is still measured as outage; no new incident opens for it until it is well or gets worse",
      "",
    ]);
    const kept = await pool.query(sql`select retraction_reason as reason, closed_at from incident`);
    t.strictSame(kept, [{ reason, closed_at: null }]);

    await decideThrough(pool, ago(198), ago(170));
    t.strictSame(await slugs(pool), [slug], "no new incident opens while the component stays bad");
    const gone = await api.ask<Gone>(`/v1/incidents/${slug}`);
    t.equal(gone.headers["content-type"], "application/problem+json; charset=utf-8");
    t.equal(gone.headers["cache-control"], "public, max-age=300");
    const retractedAt = ago(200).toISOString().slice(0, 17);
    t.match(gone.body, { type: "about:blank", title: "Not Found", status: 404, slug, reason, retractedAt });
    t.equal(gone.body.detail, `The incident ${slug} was retracted at ${gone.body.retractedAt}: ${reason}`);
    const never = await api.ask(`/v1/incidents/${slug}-2`);
    t.equal(never.headers["cache-control"], "no-store");
    t.notMatch(never.text, "retracted", "an unknown slug is not called retracted");
    const lists = ["/v1/status", "/v1/incidents", "/v1/incidents?format=csv", "/v1/targets/kraken"];
    for (const path of [...lists, "/v1/reliability", "/v1/notify", "/metrics"]) {
      const { text } = await api.ask(path);
      for (const part of [slug, "our proof"]) t.notMatch(text, part, path);
    }
    const { body } = await api.ask("/v1/targets/kraken");
    t.match(body, { state: "degraded", summary: { incidents: 0 }, incidentPatterns: [] });
    const waiting = sql`select from alert_event where dispatched_at is null and dropped_at is null`;
    t.strictSame(await pool.query(waiting), []);
  });

  await t.test("lets a new incident open after the component was well", async (t) => {
    const before = await slugs(pool);
    await failing(ago(60), ago(0));
    await decideThrough(pool, ago(168), ago(30));
    t.strictSame(await slugs(pool), [...before, `${before[0]}-2`]);
  });

  await t.test("removes a closed incident, too", async (t) => {
    const slug = await begin();
    await decideThrough(pool, ago(198), ago(20));
    t.match((await api.ask(`/v1/incidents/${slug}`)).body, { incident: { status: "closed" } });
    t.strictSame((await retract(t, slug, "a drill")).split("\n"), [
      ...[`retracted ${slug}`, "alerts already delivered: none", "alerts dropped: opened, escalated, closed", ""],
    ]);
    await decideThrough(pool, ago(18), ago(16));
    t.equal((await api.ask(`/v1/incidents/${slug}`)).status, 404);
    t.match((await api.ask("/v1/incidents?status=all")).body, { incidents: [] });

    const again = await retract(t, slug, "once more", 2);
    t.match(again, new RegExp(`^venuewatch: ${slug} was already retracted at \\d{4}-\\S+Z: a drill\\n$`));
    t.strictSame(await pool.query(sql`select retraction_reason as reason from incident`), [{ reason: "a drill" }]);

    t.match((await api.ask<Gone>(`/v1/incidents/${slug}`)).body, { slug, reason: "a drill" });
  });

  await t.test("waits for a tick in flight", async (t) => {
    const slug = await begin();
    let retracting: Promise<Retraction> | undefined;
    await pool.transaction(async (tx) => {
      // as a tick does
      await tx.query(sql`select from engine_clock for update`);
      retracting = retractIncident(pool, slug, "it raced");
      await until(() => isWaitedFor(tx));
      await tx.query(sql`
        insert into alert_event (incident_id, kind, severity, at, recorded_at, late)
        select incident_id, 'closed', 'outage', now(), now(), false from incident
      `);
    });
    const all = ["opened", "escalated", "closed"].map((kind) => ({ kind, droppedUnsent: true }));
    t.match((await retracting)!.alerts, all);
  });

  await t.test("reports the incident's alerts by their state for each channel", async (t) => {
    const slug = await begin();
    const opened = { state: "delivered" };
    const [first, second, busy, lost] = await channels(4);
    await expandAll(pool);
    await change(pool, first!, "opened", opened);
    await change(pool, second!, "opened", opened);
    await change(pool, first!, "escalated", opened);
    await change(pool, busy!, "opened", { claimedForS: 60 });
    // its dispatcher was killed
    await change(pool, lost!, "opened", { claimedForS: -1 });
    t.match((await retract(t, slug, "a drill")).split("\n"), [
      `retracted ${slug}`,
      "alerts already delivered: opened to 2 channels, escalated to 1 channel",
      "alerts being sent, which may still arrive: opened to 2 channels",
      "alerts dropped: escalated for 3 channels",
    ]);
    const dropped = ["dropped", "its incident was retracted", null];
    t.strictSame(await deliveriesOf(pool), [
      ["opened", first, "delivered", null, null],
      ["opened", second, "delivered", null, null],
      ["opened", busy, "due", null, null],
      ["opened", lost, "due", null, null],
      ["escalated", first, "delivered", null, null],
      ...[second, busy, lost].map((channel) => ["escalated", channel, ...dropped]),
    ]);
    // as a dispatcher that takes it over does
    await pool.file("claim_deliveries", [null, "us", 60_000, 10, "{}", Buffer.alloc(0)]);
    t.strictSame((await deliveriesOf(pool))[3], ["opened", lost, "dropped", "its incident was retracted", "lost"]);
  });

  await t.test("drops alerts that are queued at that moment", async (t) => {
    const slug = await begin();
    const [channel] = await channels(1);
    let retracting: Promise<Retraction> | undefined;
    await pool.transaction(async (tx) => {
      await expandAll(tx);
      retracting = retractIncident(pool, slug, "it raced");
      await until(() => isWaitedFor(tx));
    });
    t.match((await retracting)!.alerts, [
      { kind: "opened", droppedUnsent: false, underWay: 0, dropped: 1 },
      { kind: "escalated", droppedUnsent: false, underWay: 0, dropped: 1 },
    ]);
    t.match(await deliveriesOf(pool), [
      ["opened", channel, "dropped"],
      ["escalated", channel, "dropped"],
    ]);
  });

  await t.test("answers an error with one sentence", async (t) => {
    const slug = await begin();
    const reason = ["--reason", "x"];
    const form = "a slug looks like kraken-2026-01-31-rest-outage, and /v1/incidents lists them";
    const otherKind = slug.replace("rest", "ws");
    const ending = (text: string) => new RegExp(`${text}$`);
    const mistakes: [string[], RegExp][] = [
      [["retract", otherKind, ...reason], ending(`"${otherKind}"; of that venue and day there are ${slug}`)],
      [["retract", "kraken", ...reason], ending(`there is no incident "kraken"; ${form}`)],
      [["retract", "okx-2020-01-01-rest-outage", ...reason], ending(`"okx-2020-01-01-rest-outage"; ${form}`)],
      [["retract", slug], /--reason is missing/],
      [["retract", slug, "--reason", " "], /--reason: expected 1 to 500 characters .*, got none$/],
      [["retract", slug, "--reason", "x".repeat(501)], /--reason: expected .*, got 501$/],
      [["retract"], /missing required argument 'SLUG'; see venuewatch incident retract/],
      [["close", slug], /unknown action "close", expected one of retract; see venuewatch incident --help/],
      [[], /an action is missing, expected one of retract/],
    ];
    for (const [args, message] of mistakes) {
      const { code, output } = await cli(t, url, ["incident", ...args]);
      t.equal(code, 2, args.join(" ").slice(0, 80));
      t.match(output.trimEnd(), message);
      t.notMatch(output, /^ +at /m, "no stack");
    }
    const left = await pool.query(sql`select from incident where retracted_at is null`);
    t.equal(left.length, 1, "no error retracted an incident");
  });
});

/** Expands the outbox, as a dispatcher does. */
async function expandAll(db: Db): Promise<void> {
  await db.file("expand_alerts", [null, 100]);
}

/** Marks a queued delivery as delivered, or begins an attempt. */
async function change(
  db: Db,
  channel: number,
  kind: string,
  { state = "due", claimedForS = null }: { state?: string; claimedForS?: number | null },
): Promise<void> {
  await db.query(sql`
    with changed as (
      update delivery d
      set state = ${state},
        ended_at = case when ${state} <> 'due' then clock_timestamp() end,
        claimed_by = case when ${claimedForS}::int is not null then 'somebody' end,
        claimed_until = clock_timestamp() + ${claimedForS}::int * interval '1 second'
      from alert_event e
      where e.event_id = d.event_id and e.kind = ${kind} and d.channel_id = ${channel}
      returning d.delivery_id, d.channel_id, d.claimed_by
    )
    insert into delivery_attempt (delivery_id, channel_id, sent_by, started_at)
    select delivery_id, channel_id, claimed_by, clock_timestamp() from changed where claimed_by is not null
  `);
}

/** [kind, channel, state, reason, how its attempt ended], in the order of events and channels. */
async function deliveriesOf(db: Db): Promise<unknown[][]> {
  const rows = await db.query<{ row: unknown[] }>(sql`
    select json_build_array(e.kind, d.channel_id, d.state, d.reason, a.result) as row
    from delivery d
    join alert_event e using (event_id)
    left join delivery_attempt a using (delivery_id)
    order by d.event_id, d.channel_id
  `);
  return rows.map(({ row }) => row);
}

/** On the embedded database a transaction holds the only backend, so all others wait anyway. */
async function isWaitedFor(tx: Db): Promise<boolean> {
  const [row] = await tx.query<{ waited: boolean }>(sql`
    select is_embedded() or exists (
      select from pg_locks where transactionid = pg_current_xact_id()::xid and not granted
    ) as waited
  `);
  return row!.waited;
}

async function slugs(pool: Pool): Promise<string[]> {
  const rows = await pool.query<{ slug: string }>(sql`select slug from incident order by incident_id`);
  return rows.map(({ slug }) => slug);
}

async function cli(t: Test, url: string, args: string[]) {
  const script = runCli(t, args, { DATABASE_URL: url });
  return { code: await script.ended, output: script.output() };
}
