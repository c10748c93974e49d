/**
 * Every alert event reaches every channel that it concerns at least once. Requests are in the order of the events,
 * repeated ones included. An event is accepted a second time only if something may have prevented the first acceptance
 * from being recorded. No channel is held up by another. An event's id never changes its meaning, and everything that
 * the engine decided has its event.
 */
import { type Pool, sql } from "../../shared/database/pool.js";
import type { Cluster } from "../cluster.js";
import { isTouched } from "../ledger.js";
import type { ChannelFilter } from "../receivers.js";

/** The result of an attempt is recorded within this time. */
const recordedWithinMs = 10_000;
/** Where nothing is wrong, a channel has an alert within this time after its event. */
const promptlyMs = 5_000;
/** A delivery waits this long after a failed attempt, or after a core died while sending it. */
const afterTroubleMs = 60_000;

interface AlertEvent {
  event_id: number;
  kind: "opened" | "escalated" | "closed";
  severity: "degraded" | "outage";
  slug: string;
  venue: string;
  isRetracted: boolean;
  atMs: number;
}

export async function checkAlerts(cluster: Cluster): Promise<string[]> {
  const { ask, ledger, channels } = cluster;
  const [events, withoutEvent] = await ask((pool) => Promise.all([readEvents(pool), incidentsWithoutEvents(pool)]));
  const problems = withoutEvent.map((slug) => `an alert event of ${slug} is missing, or there are two`);
  for (const channel of channels) {
    const { name } = channel;
    const arrivals = ledger.arrivals.filter((one) => one.isAccepted && one.channel === name);
    const ids = [...new Set(arrivals.map(({ eventId }) => eventId))];
    const concerned = new Set(events.filter((event) => concerns(channel, event, events)).map((one) => one.event_id));
    for (const { event_id, kind, slug, isRetracted } of events)
      if (!isRetracted && concerned.has(event_id) !== ids.includes(event_id))
        problems.push(
          `${name} ${concerned.has(event_id) ? "never" : "wrongly"} received event ${event_id}, ${kind} ${slug}`,
        );
    problems.push(...repeatedWithoutReason(cluster, name), ...heldUp(cluster, name, events));
    ledger.arrivals
      .filter((one) => one.channel === name)
      .forEach(({ eventId }, place, all) => {
        const before = all[place - 1]?.eventId ?? eventId;
        if (eventId < before) problems.push(`${name} received event ${eventId} after ${before}`);
      });
  }
  return [...problems, ...changedMeanings(ledger.arrivals, events)];
}

/** A channel that got the opening of an incident, or its escalation, gets its end. */
function concerns({ floor, venues }: ChannelFilter, event: AlertEvent, events: readonly AlertEvent[]): boolean {
  const isOfIt = ({ severity, venue }: AlertEvent) =>
    (floor === "degraded" || severity === "outage") && (venues === null || venues.includes(venue));
  if (event.kind !== "closed") return isOfIt(event);
  return events.some((one) => one.slug === event.slug && one.kind !== "closed" && isOfIt(one));
}

function repeatedWithoutReason({ ledger, cores }: Cluster, channel: string): string[] {
  const arrivals = ledger.arrivals.filter((one) => one.isAccepted && one.channel === channel);
  const troubled = ["database", channel, ...cores.map(({ name }) => name)];
  return arrivals.flatMap(({ eventId }, place) => {
    const before = arrivals.slice(0, place).findLast((one) => one.eventId === eventId);
    if (!before) return [];
    const touched = (of: string) =>
      isTouched(ledger.periods.get(of), before.atMs - recordedWithinMs, before.atMs + recordedWithinMs);
    return troubled.some(touched) ? [] : [`${channel} received event ${eventId} twice`];
  });
}

/** Alerts that came late although nothing was wrong with the cores, the database or their own receiver. */
function heldUp({ ledger, cores }: Cluster, channel: string, events: readonly AlertEvent[]): string[] {
  const arrivals = ledger.arrivals.filter((one) => one.isAccepted && one.channel === channel);
  const troubled = ["database", channel, ...cores.map(({ name }) => name)];
  return events.flatMap(({ event_id, atMs }) => {
    const first = arrivals.find((one) => one.eventId === event_id);
    if (!first || first.atMs - atMs <= promptlyMs) return [];
    const touched = (of: string) => isTouched(ledger.periods.get(of), atMs - afterTroubleMs, first.atMs);
    return troubled.some(touched) ? [] : [`${channel} received event ${event_id} after ${first.atMs - atMs} ms`];
  });
}

function changedMeanings(arrivals: Cluster["ledger"]["arrivals"], events: readonly AlertEvent[]): string[] {
  const known = new Map(events.map(({ event_id, kind, slug }) => [event_id, `${kind} ${slug}`]));
  return arrivals.flatMap(({ channel, eventId, content }) => {
    const { kind, incident } = JSON.parse(content) as { kind: string; incident: { slug: string } };
    const means = `${kind} ${incident.slug}`;
    if (!known.has(eventId)) return [`${channel} received event ${eventId}, ${means}, which is not recorded`];
    return known.get(eventId) === means ? [] : [`event ${eventId} is ${known.get(eventId)}, and came as ${means}`];
  });
}

function readEvents(pool: Pool): Promise<AlertEvent[]> {
  return pool.query(sql`
    select e.event_id, e.kind, e.severity, i.slug, v.venue, i.retracted_at is not null as "isRetracted",
      extract(epoch from e.recorded_at)::float8 * 1000 as "atMs"
    from alert_event e
    join incident i using (incident_id)
    join component using (component_id)
    join venue v using (venue_id)
    order by e.event_id
  `);
}

async function incidentsWithoutEvents(pool: Pool): Promise<string[]> {
  const rows = await pool.query<{ slug: string }>(sql`
    select i.slug
    from incident i
    left join alert_event e using (incident_id)
    where i.retracted_at is null
    group by i.incident_id
    having count(*) filter (where e.kind = 'opened') <> 1
      or count(*) filter (where e.kind = 'escalated') <> (i.escalated_at is not null)::int
      or count(*) filter (where e.kind = 'closed') <> (i.closed_at is not null)::int
    order by i.slug
  `);
  return rows.map(({ slug }) => slug);
}
