/** The steps that a dispatcher takes with the outbox and the channels' queues, one statement each. */
import { setTimeout as sleep } from "node:timers/promises";
import { deliveryRules } from "../../server/core/alerts/retry-rules.js";
import { type Pool, sql } from "../../shared/database/pool.js";
import { addChannel, happened, type Kind, sealing } from "./alerts.js";

export const start = new Date("2026-03-01T12:00:00Z");
export const after = (seconds: number) => new Date(+start + seconds * 1000);

export async function clearAlerts(pool: Pool): Promise<void> {
  await pool.script("truncate incident, alert_event, channel, delivery, delivery_attempt restart identity");
}

/** Adds a channel with these events in its queue. */
export async function channelWithQueue(pool: Pool, venues = ["okx"], kinds: Kind[] = ["opened"]): Promise<number> {
  const channel = await addChannel(pool);
  await queueEvents(pool, venues, kinds);
  return channel;
}

/** Queues these events for every channel. */
export async function queueEvents(pool: Pool, venues = ["okx"], kinds: Kind[] = ["opened"]): Promise<void> {
  for (const venue of venues) await happened(pool, { venue, kinds });
  await expand(pool);
}

/** @returns the number of events, and of the deliveries that they became */
export async function expand(pool: Pool, most = 100): Promise<number[]> {
  const [row] = await pool.file<{ events: number; deliveries: number }>("expand_alerts", [start, most]);
  return [row!.events, row!.deliveries];
}

/** One look of a dispatcher. @returns how many deliveries it queued */
export async function lookOnce(pool: Pool, most: number): Promise<number> {
  return pool.transaction(async (tx) => {
    const [outbox] = await tx.file<{ held: boolean }>("hold_outbox");
    if (!outbox!.held) return 0;
    const [row] = await tx.file<{ deliveries: number }>("expand_alerts", [start, most]);
    // the other one arrives meanwhile, on a server
    await sleep(200);
    return row!.deliveries;
  });
}

export async function claim(pool: Pool, at: Date, who = "test", most = 100, head = sealing.head) {
  const rows = await pool.file<{ channel_id: number; slug: string; kind: string; state: string }>("claim_deliveries", [
    at,
    who,
    deliveryRules.lease_ms,
    most,
    JSON.stringify(deliveryRules.pace_ms),
    head,
  ]);
  return rows.map((row) => ({
    channel: row.channel_id,
    what: `${row.slug.split("-")[0]} ${row.kind}`,
    state: row.state,
  }));
}

interface SettledRow {
  state: string;
  failures: number;
  due_at: Date;
  channel_off: string | null;
  channel_failures: number;
}

/** Settles the newest attempt for a channel, by `who`. */
export async function settle(
  pool: Pool,
  at: Date,
  channel: number,
  result: string,
  more: { status?: number; retryAfterMs?: number; spread?: number } = {},
  who = "test",
): Promise<SettledRow[]> {
  const [attempt] = await pool.query<{ id: number }>(sql`
    select max(attempt_id) as id from delivery_attempt a
    where a.channel_id = ${channel} and a.sent_by = ${who}
  `);
  const ended = { attemptId: attempt!.id, result, durationMs: 12, agoMs: 0, spread: 1, ...more };
  return pool.file<SettledRow>("settle_or_retry_deliveries", [
    at,
    JSON.stringify([ended]),
    JSON.stringify(deliveryRules),
  ]);
}

export async function end(pool: Pool, at: Date) {
  return pool.file("end_deliveries", [at]);
}

/** `venue kind`, and the outcome if the delivery ended. */
export async function queueOf(pool: Pool, channel: number): Promise<string[]> {
  const rows = await pool.query<{ line: string }>(sql`
    select s.venue || ' ' || e.kind || case
      when d.state = 'dropped' then ': dropped, ' || d.reason
      when d.state <> 'due' then ': ' || d.state
      else ''
    end as line
    from delivery d
    join alert_event e using (event_id)
    join engine.alert_subject s using (event_id)
    where d.channel_id = ${channel}
    order by d.event_id
  `);
  return rows.map(({ line }) => line);
}

export async function attempts(pool: Pool) {
  return pool.query(sql`select sent_by as by, result from delivery_attempt order by attempt_id`);
}

export async function newestEvent(pool: Pool): Promise<number> {
  const [row] = await pool.query<{ id: number }>(sql`select max(event_id) as id from alert_event`);
  return row!.id;
}

export async function switchOff(pool: Pool, channel: number): Promise<void> {
  await pool.query(sql`update channel set off_at = ${start}, off_cause = 'operator' where channel_id = ${channel}`);
}

/** Closes all open incidents, with their events in the outbox. */
export async function closeAll(pool: Pool): Promise<void> {
  await pool.script(`
    with closed as (
      update incident set closed_at = opened_at + interval '5 minutes'
      where closed_at is null and retracted_at is null
      returning incident_id, peak_severity, closed_at
    )
    insert into alert_event (incident_id, kind, severity, at, recorded_at, late)
    select incident_id, 'closed', peak_severity, closed_at, closed_at, false from closed order by incident_id
  `);
}

/** Retracts an incident whose events have left the outbox, or are leaving it. */
export async function retractAll(pool: Pool, venue: string): Promise<void> {
  await pool.query(sql`
    update incident i set retracted_at = i.opened_at, retraction_reason = 'false'
    from component c join venue v using (venue_id)
    where c.component_id = i.component_id and v.venue = ${venue} and i.retracted_at is null
  `);
}

export async function retain(pool: Pool, at: Date): Promise<void> {
  await pool.query(sql`call upkeep.retain(${at})`);
}

export async function isAllDone(pool: Pool): Promise<boolean> {
  const [row] = await pool.query<{ done: boolean }>(sql`
    select not exists (select from alert_event where dispatched_at is null and dropped_at is null)
      and not exists (select from delivery where state = 'due') as done
  `);
  return row!.done;
}
