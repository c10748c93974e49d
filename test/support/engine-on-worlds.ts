/** Runs the engine on worlds of `random-worlds.ts`, and states its decisions in the format of the second opinion. */
import { type Db, sql } from "../../shared/database/pool.js";
import { accepted, decideUpTo, tick } from "../../server/core/engine/tick.js";
import type { Run } from "./random-worlds.js";
import type { Moment, Opinion } from "./second-opinion.js";
import { isOfComponent } from "../second-opinion/incidents.js";
import type { Sample } from "../second-opinion/world.js";

/** Makes the database watch only the components of these worlds, without any samples. Their samples come later. */
export async function watch(db: Db, { worlds }: Run): Promise<void> {
  const regions = [...new Set(worlds.flatMap(({ regions }) => regions))];
  const venues = worlds.flatMap(({ venues }) => venues);
  await db.script(`
    truncate region, venue, component, probe, venue_lease, sample, typical_latency, engine_clock, region_state, component_state,
      venue_state, region_venue_state, incident, alert_event, delivery, delivery_attempt, impairment, outlier, unjudged, state_change, component_entry, region_vantage restart identity cascade
  `);
  await db.query(sql`
    insert into region (region, name, position)
    select region, region, place from unnest(${regions}::text[]) with ordinality as r (region, place) order by place
  `);
  await db.query(sql`
    insert into venue (venue, name, category, position)
    select venue, venue, 'exchange', place
    from unnest(${venues.map(({ id }) => id)}::text[]) with ordinality as v (venue, place) order by place
  `);
  const components = venues.flatMap((venue) =>
    venue.components.map((component, place) => ({ ...component, venue: venue.id, place })),
  );
  await db.query(sql`
    insert into component (venue_id, component, label, cadence_ms, ends_at, ends_because, position)
    select v.venue_id, c.id, c.id, c."cadenceMs", to_timestamp(c."endsAt" / 1000.0), 'it ends', c.place
    from jsonb_to_recordset(${JSON.stringify(components)}::jsonb)
      as c (venue text, id text, "cadenceMs" int, "endsAt" bigint, place int)
    join venue v using (venue)
    order by v.position, c.place
  `);
  await db.query(sql`
    insert into component_entry (component_id, holds_from, fingerprint, good_at)
    select k.component_id, '-infinity', '', case when c."isNew" is not true then '-infinity'::timestamptz end
    from jsonb_to_recordset(${JSON.stringify(components)}::jsonb) as c (venue text, id text, "isNew" boolean)
    join venue v using (venue)
    join component k on k.venue_id = v.venue_id and k.component = c.id
  `);
  await db.query(sql`
    insert into typical_latency (holds_from, component_id, region_id, p50_us, hours)
    select engine.typical_in_force(to_timestamp(t.boundary / 1000) + interval '10 minutes'), component_id, region_id, t."latencyUs", 168
    from jsonb_to_recordset(${JSON.stringify(worlds.flatMap(({ typical }) => typical))}::jsonb)
      as t (venue text, component text, region text, boundary bigint, "latencyUs" int)
    join venue v using (venue)
    join component c using (venue_id, component)
    join region using (region)
  `);
  await db.query(sql`
    insert into region_vantage (region_id, holds_from, machine)
    select region_id, to_timestamp(v."holdsFrom" / 1000.0), v.machine
    from jsonb_to_recordset(${JSON.stringify(worlds.flatMap(({ vantages }) => vantages))}::jsonb)
      as v (region text, "holdsFrom" bigint, machine text)
    join region using (region)
  `);
}

const samplesAtOnce = 20_000;

/** Leaves existing samples unchanged, as when a probe sends them twice. */
export async function insertSamples(db: Db, samples: Sample[]): Promise<void> {
  for (let from = 0; from < samples.length; from += samplesAtOnce) {
    const some = samples.slice(from, from + samplesAtOnce);
    const column = <Key extends keyof Sample>(key: Key) => some.map((sample) => sample[key]);
    await db.query(sql`
      insert into sample (ts, component_id, region_id, good, fault, unserved, latency_us, received_after_s)
      select to_timestamp(s.ts / 1000.0), component_id, region_id, s.fault is null, s.fault, nullif(s.unserved, false), s.latency_us, s.after_s
      from unnest(
        ${column("venue")}::text[], ${column("component")}::text[], ${column("region")}::text[],
        ${column("ts")}::bigint[], ${column("fault")}::fault[], ${column("unserved")}::boolean[],
        ${column("latencyUs")}::int[], ${column("receivedAfterS")}::int[]
      ) with ordinality as s (venue, component, region, ts, fault, unserved, latency_us, after_s, place)
      join venue v using (venue)
      join component c using (venue_id, component)
      join region using (region)
      order by s.place
      on conflict do nothing
    `);
  }
}

/**
 * Gathers statistics, as a database does on its own after a while. Planned without them, a tick takes ten times as
 * long.
 */
export async function gatherStatistics(db: Db): Promise<void> {
  await db.script("analyze");
}

/** Decides one instant like a core that is on time; `fromScratch`: after a pause too long to catch up. */
export async function decide(db: Db, { worlds }: Run, at: number, fromScratch: boolean) {
  const rules = { ...worlds[0]!.rules };
  return accepted(await tick(db, new Date(at), { rules, fromScratch }));
}

/** Decides everything that is due by then. Resolves with the number of decided instants. */
export async function catchUp(db: Db, { worlds }: Run, upTo: number): Promise<number> {
  const rules = { ...worlds[0]!.rules };
  let instants = 0;
  for await (const decided of decideUpTo(db, new Date(upTo), { rules })) {
    accepted(decided);
    instants += 1;
  }
  return instants;
}

/** Makes the operators' retractions that follow the decision of this instant. */
export async function retractByHand(db: Db, { worlds }: Run, at: number) {
  for (const retraction of worlds.flatMap(({ retractions }) => retractions)) {
    if (retraction.at !== at) continue;
    const open = await db.query<{ slug: string }>(sql`
      select slug
      from incident i join component c using (component_id) join venue v using (venue_id)
      where v.venue = ${retraction.venue} and c.component = ${retraction.component}
        and i.closed_at is null and i.retracted_at is null
    `);
    for (const { slug } of open) await db.file("retract", [slug, "an operator says so"]);
  }
}

/**
 * Returns the engine's present states, impaired regions and outliers, one line each. `linesOf` returns the same of the
 * second opinion. Regions without a sample in the window are left out as long as their state is unknown.
 */
export async function engineLines(db: Db): Promise<string> {
  const [row] = await db.query<{ lines: string | null }>(sql`
    with ms as (select 1000 as a_second),
    lines (what, place, within, line) as (
      select 1, s.component_id, s.region_id, concat_ws(
        ' ', v.venue, c.component, g.region, s.state, s.reporting, s.samples, s.bad, s.slow, s.bad_run, s.in_part,
        coalesce(round(extract(epoch from s.newest_bad_at) * a_second)::text, '-'),
        coalesce(round(extract(epoch from s.run_from) * a_second)::text, '-'),
        coalesce(round(extract(epoch from s.bad_since) * a_second)::text, '-')
      )
      from region_state s
      join component c using (component_id)
      join venue v using (venue_id)
      join region g using (region_id)
      cross join ms
      where s.samples > 0 or s.state <> 'unknown' or s.reporting
      union all
      select 2, s.component_id, 0, concat_ws(
        ' ', v.venue, c.component, s.state, s.reporting, s.quorum, round(extract(epoch from s.since) * a_second),
        coalesce(round(extract(epoch from s.not_bad_since) * a_second)::text, '-'), coalesce(u.reason, '-')
      )
      from component_state s
      join component c using (component_id)
      join venue v using (venue_id)
      left join unjudged u on u.component_id = s.component_id and u.ended_at is null
      cross join ms
      union all
      select 3, s.venue_id, 0, concat_ws(' ', v.venue, s.state, round(extract(epoch from s.since) * a_second))
      from venue_state s
      join venue v using (venue_id)
      cross join ms
      union all
      select 4, i.region_id, 0, concat_ws(
        ' ', split_part(i.venues[1], ' ', 1), 'impaired in', g.region, round(extract(epoch from i.started_at) * a_second),
        i.venues::text, '{' || coalesce(b.regions, g.region) || '}'
      )
      from impairment i
      join region g using (region_id)
      cross join lateral (
        select string_agg(o.region, ',' order by o.position) as regions from region o where o.region_id = any (i.beside)
      ) b
      cross join ms
      where i.ended_at is null
      union all
      select 5, o.component_id, g.position, concat_ws(
        ' ', v.venue, c.component, 'outlier', g.region, round(extract(epoch from o.started_at) * a_second)
      )
      from outlier o
      join component c using (component_id)
      join venue v using (venue_id)
      join region g using (region_id)
      cross join ms
      where o.ended_at is null
    )
    select string_agg(line, e'\n' order by what, place, within) as lines from lines
  `);
  return row!.lines ?? "";
}

/** Returns the same lines from the second opinions on all worlds of a run at one instant. */
export function opinionLines(moments: Moment[]): string {
  const views = moments.flatMap(({ views }) =>
    views
      .filter(({ samples }) => samples > 0)
      .map((v) =>
        [
          ...[v.venue, v.component, v.region, v.state, v.reporting ? "t" : "f"],
          ...[v.samples, v.failed, v.slow, v.badRun, v.failsInPart ? "t" : "f"],
          ...[v.newestBadAt ?? "-", v.runFrom ?? "-", v.badSince ?? "-"],
        ].join(" "),
      ),
  );
  const components = moments.flatMap(({ components }) =>
    components.map((c) =>
      [
        ...[c.venue, c.component, c.state, c.counted, c.quorum],
        ...[c.since, c.notBadSince ?? "-", c.unjudged ?? "-"],
      ].join(" "),
    ),
  );
  const venues = moments.flatMap(({ venues }) => venues.map((v) => [v.venue, v.state, v.since].join(" ")));
  const impaired = moments.flatMap(({ impaired }) =>
    impaired.map((i) =>
      [i.venues[0], "impaired in", i.region, i.startedAt, `{${i.venues.join()}}`, `{${i.group.join()}}`].join(" "),
    ),
  );
  // in the order of components, then regions
  const outliers = moments.flatMap(({ components, views, outliers }) =>
    components.flatMap((component) =>
      views.filter(isOfComponent(component)).flatMap(({ region }) =>
        outliers
          .filter(isOfComponent(component))
          .filter((one) => one.region === region)
          .map((o) => [o.venue, o.component, "outlier", region, o.startedAt].join(" ")),
      ),
    ),
  );
  return [...views, ...components, ...venues, ...impaired, ...outliers].join("\n");
}

export type EngineRecords = Pick<Opinion, "incidents" | "alerts" | "impairments" | "outliers">;

/** Returns the engine's records of incidents, alerts, impairments and outliers, oldest first. */
export async function engineRecords(db: Db): Promise<EngineRecords> {
  const [row] = await db.query<{ records: EngineRecords }>(sql`
    with witnesses as (
      select i.incident_id, array_agg(distinct g.position) as positions
      from incident i
      cross join unnest(array['opening', 'escalation']) as step
      cross join jsonb_array_elements(i.evidence -> step -> 'votes') as vote
      join region g on g.region = vote ->> 'region'
      where vote ->> 'vote' in ('degraded', 'outage')
      group by i.incident_id
    )
    select jsonb_build_object(
      'incidents', (
        select jsonb_agg(jsonb_build_object(
          'slug', i.slug, 'venue', v.venue, 'component', c.component, 'severity', i.severity, 'peak', i.peak_severity,
          'startedAt', extract(epoch from i.started_at) * 1000, 'openedAt', extract(epoch from i.opened_at) * 1000,
          'escalatedAt', extract(epoch from i.escalated_at) * 1000, 'lastBadAt', extract(epoch from i.last_bad_at) * 1000,
          'closedAt', extract(epoch from i.closed_at) * 1000, 'retractedAt', extract(epoch from i.retracted_at) * 1000,
          'retractedByOperator', i.retracted_at is not null and i.retraction_evidence is null,
          'flapping', i.flapping,
          'witnesses', (
            select coalesce(jsonb_agg(g.region order by g.position), '[]')
            from region g join witnesses w on g.position = any (w.positions)
            where w.incident_id = i.incident_id
          )
        ) order by i.incident_id)
        from incident i join component c using (component_id) join venue v using (venue_id)
      ),
      'alerts', (
        select jsonb_agg(jsonb_build_object(
          'kind', e.kind, 'slug', i.slug, 'severity', e.severity, 'at', extract(epoch from e.at) * 1000,
          'dropped', e.dropped_at is not null
        ) order by e.event_id)
        from alert_event e join incident i using (incident_id)
      ),
      'impairments', (
        select jsonb_agg(jsonb_build_object(
          'region', g.region, 'startedAt', extract(epoch from m.started_at) * 1000,
          'recognisedAt', extract(epoch from m.recognised_at) * 1000, 'endedAt', extract(epoch from m.ended_at) * 1000,
          'seenElsewhere', m.seen_elsewhere, 'venues', m.venues,
          'group', coalesce(
            (select jsonb_agg(b.region order by b.position) from region b where b.region_id = any (m.beside)),
            jsonb_build_array(g.region)
          )
        ) order by m.impairment_id)
        from impairment m join region g using (region_id)
      ),
      'outliers', (
        select jsonb_agg(jsonb_build_object(
          'venue', v.venue, 'component', c.component, 'region', g.region,
          'startedAt', extract(epoch from o.started_at) * 1000, 'endedAt', extract(epoch from o.ended_at) * 1000
        ) order by o.started_at, o.component_id, g.position)
        from outlier o join component c using (component_id) join venue v using (venue_id) join region g using (region_id)
      )
    ) as records
  `);
  const { incidents, alerts, impairments, outliers } = row!.records;
  return { incidents: incidents ?? [], alerts: alerts ?? [], impairments: impairments ?? [], outliers: outliers ?? [] };
}

/** The fields that both have, by record and in this order. */
const recordFields = [
  ...["slug", "kind", "component", "region", "severity", "peak", "flapping", "witnesses", "group", "venues"],
  ...["at", "startedAt", "openedAt", "recognisedAt", "escalatedAt", "lastBadAt", "closedAt", "endedAt", "retractedAt"],
  ...["retractedByOperator", "seenElsewhere", "dropped"],
];

/** Returns one line per record, beginning with the venue, in an order that does not depend on how worlds are joined. */
export function recordLines({ incidents, alerts, impairments, outliers }: EngineRecords): string {
  const venueOf = new Map(incidents.map(({ slug, venue }) => [slug, venue]));
  const line = (venue: string | undefined, record: object) => `${venue} ${JSON.stringify(record, recordFields)}`;
  return [
    ...incidents.map((one) => line(one.venue, one)),
    ...alerts.map((one) => line(venueOf.get(one.slug), one)),
    ...impairments.map((one) => line(one.venues[0], one)),
    ...outliers.map((one) => line(one.venue, one)),
  ]
    .toSorted()
    .join("\n");
}
