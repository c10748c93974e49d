/**
 * Every alert event reaches every channel at least once, and for the first time in the order of the events; a second
 * time only if something may have prevented that the first was recorded. An event's id never changes its meaning.
 */
import { sql } from "../../shared/database/pool.js";
import type { Cluster } from "../cluster.js";
import { isTouched } from "../ledger.js";

/** The result of an attempt is recorded within this time. */
const recordedWithinMs = 10_000;

interface Expected {
  event_id: number;
  kind: string;
  slug: string;
}

export async function checkAlerts(cluster: Cluster): Promise<string[]> {
  const { ask, ledger, channels } = cluster;
  const events = await ask((pool) =>
    pool.query<Expected>(sql`
      select e.event_id, e.kind, i.slug
      from alert_event e
      join incident i using (incident_id)
      where e.dropped_at is null
      order by e.event_id
    `),
  );
  const problems: string[] = [];
  for (const { name } of channels) {
    const arrivals = ledger.arrivals.filter(({ channel }) => channel === name);
    const ids = [...new Set(arrivals.map(({ eventId }) => eventId))];
    for (const { event_id, kind, slug } of events)
      if (!ids.includes(event_id)) problems.push(`${name} never received event ${event_id}, ${kind} ${slug}`);
    problems.push(...repeatedWithoutReason(cluster, name));
    ids.forEach((id, place) => {
      if (place > 0 && id < ids[place - 1]!) problems.push(`${name} received event ${id} after ${ids[place - 1]}`);
    });
  }
  return [...problems, ...changedMeanings(ledger.arrivals, events)];
}

function repeatedWithoutReason({ ledger, cores }: Cluster, channel: string): string[] {
  const arrivals = ledger.arrivals.filter((one) => one.channel === channel);
  const troubled = ["database", channel, ...cores.map(({ name }) => name)];
  return arrivals.flatMap(({ eventId }, place) => {
    const before = arrivals.slice(0, place).findLast((one) => one.eventId === eventId);
    if (!before) return [];
    const touched = (of: string) =>
      isTouched(ledger.periods.get(of), before.atMs - recordedWithinMs, before.atMs + recordedWithinMs);
    return troubled.some(touched) ? [] : [`${channel} received event ${eventId} twice`];
  });
}

function changedMeanings(arrivals: Cluster["ledger"]["arrivals"], events: readonly Expected[]): string[] {
  const known = new Map(events.map(({ event_id, kind, slug }) => [event_id, `${kind} ${slug}`]));
  return arrivals.flatMap(({ channel, eventId, content }) => {
    const { kind, incident } = JSON.parse(content) as { kind: string; incident: { slug: string } };
    const means = `${kind} ${incident.slug}`;
    if (!known.has(eventId)) return [`${channel} received event ${eventId}, ${means}, which is not recorded`];
    return known.get(eventId) === means ? [] : [`event ${eventId} is ${known.get(eventId)}, and came as ${means}`];
  });
}
