/** `/v1/notify`: which deliveries count, and how long they take. */
import { readFileSync } from "node:fs";
import t from "tap";
import { deliveryRules } from "../../../../server/core/alerts/retry-rules.js";
import { type Pool, sql } from "../../../../shared/database/pool.js";
import { packagedFile } from "../../../../shared/config/package.js";
import { addChannel, happened, type Kind } from "../../../support/alerts.js";
import { serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { claim, expand, settle } from "../../../support/alert-dispatch.js";
import { ago, forget } from "../../../support/fleet.js";
import { randomFrom } from "../../../support/random-samples.js";

interface Notify {
  generatedAt: string;
  days: number;
  deliveries: number;
  p50Ms: number | null;
  p95Ms: number | null;
}

/** Computes the figures as a reader would. */
const documented = /```sql\n(select count[^`]*percentile_cont[^`]*)```/.exec(
  readFileSync(packagedFile("docs/methodology.md"), "utf8"),
)![1]!;

const none = { days: 30, deliveries: 0, p50Ms: null, p95Ms: null };
const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** `happened` starts an incident this long before its first event. */
const detectionMs = 10_000;

/** The reported time of an opening that was delivered this long after it. */
const one = (afterMs: number) => ({ deliveries: 1, p50Ms: detectionMs + afterMs, p95Ms: detectionMs + afterMs });

type Queued = Parameters<typeof happened>[1] & { venues?: string[]; channels?: number; queuedAt?: Date };

void t.test("the figures count the right deliveries", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  const api = await serve(t, { pool, registry });
  const start = ago(3 * 3600);
  const after = (ms: number) => new Date(+start + ms);
  /** The API's answer, checked against docs/methodology.md. */
  const notify = async () => {
    const answer = await figures(pool);
    t.match(answer, await fromTheLog(pool), "the figures agree with docs/methodology.md");
    return answer;
  };
  /** Replaces everything by events of these venues, queued for new channels. Returns the first of them. */
  const queue = async ({ venues = ["okx"], channels = 1, at = start, queuedAt = at, ...what }: Queued = {}) => {
    await forget(pool);
    const first = await addChannel(pool);
    for (let more = 1; more < channels; more++) await addChannel(pool);
    for (const venue of venues) await happened(pool, { ...what, venue, at });
    await expand(pool, queuedAt);
    return first;
  };
  /** Claims deliveries, and delivers them at once. */
  const deliver = async (at: Date) => settle(pool, at, await claim(pool, at), "delivered");
  /** Claims deliveries, and the receiver refuses them. */
  const fail = async (at: Date) => settle(pool, at, await claim(pool, at), "refused");

  await t.test("spec: only delivered openings count", async (t) => {
    await forget(pool);
    t.match(await notify(), none);
    await queue();
    t.match(await notify(), none, "a queued delivery does not count");
    const opened = await claim(pool, after(100));
    t.match(await notify(), none, "a delivery in flight does not count");
    await settle(pool, after(2_500), opened, "delivered");
    t.match(await notify(), one(2_500));
    const { body } = await api.ask<Notify>("/v1/notify");
    t.match(body, { days: 30, ...one(2_500) }, "the delivered opening counts");

    await t.test("escalations and closings do not count", async (t) => {
      await queue({ severity: "degraded", kinds: ["opened", "escalated", "closed"] });
      for (const ms of [1_000, 2_000, 3_000]) await deliver(after(ms));
      t.strictSame(await states(pool), Array(3).fill("event delivered"));
      t.match(await notify(), one(1_000));
    });

    await t.test("alerts of an incident that is retracted later do not count", async (t) => {
      await queue({ venues: ["okx", "gate"] });
      for (const ms of [1_000, 5_000]) await deliver(after(ms));
      t.match(await notify(), { deliveries: 2, p50Ms: 13_000, p95Ms: 14_800 });
      await retract(pool, "gate");
      t.match(await notify(), one(1_000));
    });

    await t.test("a failed delivery does not count", async (t) => {
      await queue();
      await fail(start);
      t.match(await notify(), none);
      const retried = await claim(pool, after(minute));
      await settle(pool, after(minute), retried, "timeout", { attempts: 2 });
      t.strictSame(await states(pool), ["event failed"]);
      t.match(await notify(), none);
    });

    await t.test("a delivery that succeeds after retries counts with its full time", async (t) => {
      await queue();
      await fail(start);
      await deliver(after(minute));
      t.match(await notify(), one(minute));
    });

    await t.test("times are exact to the millisecond, and never negative", async (t) => {
      await queue({ venues: ["okx", "gate"] });
      for (const [ms, us] of [
        [1_000, 100],
        [2_000, 600],
      ] as const) {
        const claimed = await claim(pool, after(ms));
        const answered = after(ms).toISOString().replace("Z", `${us}Z`);
        await settle(pool, answered, claimed, "delivered");
      }
      // 11,000 and 12,001
      t.match(await notify(), { deliveries: 2, p50Ms: 11_501, p95Ms: 11_951 });

      const before = after(-2 * detectionMs);
      await queue({ queuedAt: before });
      await deliver(before);
      t.match(await notify(), one(-detectionMs), "its probe's clock was ahead");
    });

    await t.test("skipped and dropped deliveries do not count", async (t) => {
      await forget(pool);
      const off = await addChannel(pool);
      await addChannel(pool);
      await pool.query(sql`update channel set off_at = ${start}, off_cause = 'operator' where channel_id = ${off}`);
      for (const venue of ["okx", "gate"]) await happened(pool, { venue, at: start });
      await expand(pool, start);
      await deliver(start);
      await retract(pool, "gate");
      t.strictSame(await claim(pool, after(1)), []);
      t.strictSame(await states(pool), ["event delivered", "event dropped", "event skipped", "event skipped"]);
      t.match(await notify(), one(0));
    });

    await t.test("deliveries that an operator requested do not count", async (t) => {
      await forget(pool);
      const channel = await addChannel(pool, { after: 1 });
      // none of it would be a backfill
      await happened(pool, { at: ago(600) });
      await expand(pool, ago(600));
      for (const event of [1, null]) {
        const [begun] = await pool.file<{ attempt_id: number }>("by_hand_open", [channel, event, "test", minute]);
        const delivered = { result: "delivered", status: 200, durationMs: 10, agoMs: 0, spread: 1 };
        const attempts = JSON.stringify([{ attemptId: begun!.attempt_id, ...delivered }]);
        await pool.file("settle_or_retry_deliveries", [null, attempts, JSON.stringify(deliveryRules)]);
      }
      await pool.file("channel_queue_open", [channel]);
      // it was queued just now
      await deliver(new Date(Date.now() + minute));
      await pool.query(sql`update delivery set ended_at = ${ago(300)} where ended_at is not null`);
      t.strictSame(await states(pool), ["open delivered", "replay delivered", "test delivered"]);
      t.match(await notify(), none);
    });
  });

  await t.test("spec: an event that waited for more than 1 hour until it was claimed is a backfill", async (t) => {
    const claimedAfter = async (ms: number) => {
      await queue();
      await deliver(after(ms));
      return notify();
    };
    t.match(await claimedAfter(hour), one(hour));
    t.match(await claimedAfter(hour + 1), none);
    t.strictSame(await states(pool), ["event delivered"], "the log has the delivery");

    await t.test("the first claim for any channel decides about a backfill", async (t) => {
      for (const [firstMs, counts] of [
        [hour - 1, true],
        [hour + 1, false],
      ] as const) {
        await queue({ channels: 2 });
        t.equal((await claim(pool, after(firstMs), 1)).length, 1);
        const second = await claim(pool, after(hour + 20_000));
        t.equal(second.length, 1);
        await settle(pool, after(hour + 20_000), second, "delivered");
        t.match(await notify(), counts ? one(hour + 20_000) : none);
      }
    });

    await t.test("a claim of a requested delivery decides about a backfill, too", async (t) => {
      const failed = await queue({ channels: 2 });
      const first = await claim(pool, start, 1);
      await settle(pool, start, first, "refused", { attempts: 1 });
      await pool.file("channel_queue_open", [failed]);
      const late = await claim(pool, after(hour + 20_000));
      t.equal(late.length, 1);
      await settle(pool, after(hour + 20_000), late, "delivered");
      t.match(await notify(), one(hour + 20_000));
      await deliver(new Date(Date.now() + minute));
      t.strictSame(await states(pool), ["event delivered", "open delivered"]);
      t.match(await notify(), one(hour + 20_000), "the requested delivery does not count");
    });

    await t.test("an event that waits for its receiver is no backfill", async (t) => {
      await queue();
      await fail(start);
      await deliver(after(2 * hour));
      t.match(await notify(), one(2 * hour));
    });
  });

  await t.test("the window is 30 UTC days including today", async (t) => {
    const { generatedAt } = await notify();
    const today = Date.parse(`${generatedAt.slice(0, 10)}T00:00:00Z`);
    const deliveredAt = async (ms: number) => {
      await queue({ at: new Date(ms) });
      await deliver(new Date(ms));
      return notify();
    };
    t.match(await deliveredAt(today - 29 * day), one(0));
    t.match(await deliveredAt(today - 29 * day - 1), none);
    t.match(await deliveredAt(Date.now() + minute), none, "a delivery after the response's instant does not count");
  });
});

void t.test("spec: the median and the 95 % percentile are of all channels together", async (t) => {
  const { pool } = await migratedDatabase(t);
  const random = randomFrom(5);
  const between = (from: number, to: number) => Math.round(from + random() * (to - from));
  const pick = <T>(...of: readonly T[]) => of[between(0, of.length - 1)]!;
  const channels = 3;
  for (let i = 0; i < channels; i++) await addChannel(pool);
  const end = Date.now() - 3 * hour;
  // some were recorded an hour or more before they are claimed
  for (let i = 0; i < 24; i++) {
    const venue = pick("okx", "kraken", "gate", "bybit");
    const at = new Date(end - between(0, 1.3 * hour));
    const kinds = pick<Kind[]>(["opened", "closed"], ["opened", "escalated", "closed"]);
    await happened(pool, { venue, at, severity: "degraded", kinds });
  }
  await expand(pool, new Date(end));
  let ms = 0;
  while ((await states(pool)).includes("event due")) {
    ms += between(10_000, 20_000);
    const at = new Date(end + ms);
    const claimed = await claim(pool, at, between(1, channels));
    for (const result of ["delivered", "delivered", "refused"] as const) {
      const some = claimed.splice(0, pick(0, 1, 2, 9));
      const answered = new Date(+at + between(0, 9_000));
      await settle(pool, answered, some, result, { attempts: 1 });
    }
    await settle(pool, at, claimed, "delivered");
    if (random() < 0.02) await retract(pool, pick("okx", "gate"));
  }
  const answer = await figures(pool);
  const { counted, p50Ms, p95Ms, ...all } = await expectedFigures(pool);
  t.ok(counted > 10 && counted < all.deliveries);
  t.match(answer, { deliveries: counted, p50Ms, p95Ms }, JSON.stringify(all));
  t.match(answer, await fromTheLog(pool), "the figures agree with docs/methodology.md");
  t.ok(all.backfills > 0);
});

/** The contract's rules, applied to the log. */
async function expectedFigures(pool: Pool) {
  interface Delivery {
    event: number;
    what: string;
    recorded: Date;
    began: Date;
    retracted: Date | null;
    claimed: Date | null;
    ended: Date | null;
  }
  const rows = await pool.query<Delivery>(sql`
    select d.event_id as event, e.kind || ' ' || d.cause || ' ' || d.state as what, i.retracted_at as retracted,
      e.recorded_at as recorded, i.started_at as began, d.first_claimed_at as claimed, d.ended_at as ended
    from delivery d join alert_event e using (event_id) join incident i using (incident_id)
  `);
  const firstClaims = new Map<number, number>();
  for (const { event, claimed } of rows)
    if (claimed) firstClaims.set(event, Math.min(+claimed, firstClaims.get(event) ?? Infinity));
  const isBackfill = ({ event, recorded }: Delivery) => firstClaims.get(event)! - +recorded > hour;
  const openings = rows.filter(({ what, retracted }) => what === "opened event delivered" && !retracted);
  const tookMs = openings
    .filter((row) => !isBackfill(row))
    .map(({ began, ended }) => +ended! - +began)
    .sort((a, b) => a - b);
  /** Interpolates between the two neighbours of its place. */
  const percentile = (share: number) => {
    const place = share * (tookMs.length - 1);
    const below = tookMs[Math.floor(place)]!;
    const above = tookMs[Math.ceil(place)]!;
    return Math.round(below + (above - below) * (place % 1));
  };
  return {
    deliveries: rows.length,
    backfills: openings.filter(isBackfill).length,
    counted: tookMs.length,
    p50Ms: percentile(0.5),
    p95Ms: percentile(0.95),
  };
}

/** Computed as in docs/methodology.md; interpolated numbers are rounded as in the API. */
async function fromTheLog(pool: Pool): Promise<Omit<Notify, "generatedAt" | "days">> {
  const [row] = await pool.text<{ count: number; percentile_cont: number[] | null }>(documented, []);
  const [p50Ms = null, p95Ms = null] = row!.percentile_cont?.map((ms) => Math.round(ms)) ?? [];
  return { deliveries: row!.count, p50Ms, p95Ms };
}

async function figures(pool: Pool): Promise<Notify> {
  const [row] = await pool.file<{ body: string }>("notify");
  return JSON.parse(row!.body) as Notify;
}

async function states(pool: Pool): Promise<string[]> {
  const rows = await pool.query<{ state: string }>(sql`select cause || ' ' || state as state from delivery order by 1`);
  return rows.map(({ state }) => state);
}

async function retract(pool: Pool, venue: string): Promise<void> {
  await pool.query(sql`
    update incident i set retracted_at = i.opened_at, retraction_reason = 'false'
    from component c join venue v using (venue_id)
    where c.component_id = i.component_id and v.venue = ${venue} and i.retracted_at is null
  `);
}
