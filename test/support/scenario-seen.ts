/** Describes the visible actions of the engine at an instant, one line each. */
import { type Db, sql } from "../../shared/database/pool.js";
import type { Decided } from "../../server/engine/tick.js";
import type { Scenario } from "./scenario.js";

export interface Sight {
  standing: Seen;
  alerts: string[];
}

/** All states, by kind and name. */
export type Seen = Map<string, Standing>;

interface Standing {
  kind: "impaired" | "region" | "component" | "venue" | "fleet" | "severity" | "alert";
  name: string;
  state: string;
  /** Additional information about the state. */
  note: string;
}

/**
 * Creates the function by which `look` reads, in a separate schema. Its plan is cached: planning it at each instant
 * took a fifth of a scenario's time.
 */
export async function makeSight(db: Db): Promise<void> {
  await db.script(`
    create schema if not exists scenario;
    create or replace function scenario.sight(several boolean, also_seen text[], as_of timestamptz)
    returns table (kind text, name text, state text, note text)
    language plpgsql
    set plan_cache_mode = force_generic_plan
    as $$
    begin
      return query
      with components as (
        select c.component_id, case when several then v.venue || ' ' else '' end || c.component as name
        from component c
        join venue v using (venue_id)
      ),
      seen (place, kind, name, state, note) as (
        select 1, 'impaired', g.region, i.recognised_at::text, array_to_string(i.venues, ' ')
        from impairment i
        join region g using (region_id)
        where i.ended_at is null
        union all
        select 2, 'region', c.name || ' in ' || g.region, s.state::text, ''
        from region_state s
        join components c using (component_id)
        join region g using (region_id)
        where 'regions' = any (also_seen)
        union all
        select
          3, 'component', c.name, s.state || coalesce(' (' || u.reason || ')', ''),
          concat_ws(', ', s.reporting || ' report', 'quorum ' || s.quorum)
        from component_state s
        join components c using (component_id)
        left join unjudged u on u.component_id = s.component_id and u.ended_at is null
        union all
        select 4, 'venue', 'venue ' || v.venue, s.state::text, ''
        from venue_state s
        join venue v using (venue_id)
        where 'venues' = any (also_seen)
        union all
        select 5, 'fleet', 'fleet', api.worst(
          count(*),
          count(*) filter (where s.state <> 'unknown'),
          count(*) filter (where s.state = 'outage'),
          count(*) filter (where engine.is_bad(s.state))
        )::text, ''
        from venue_state s
        having 'fleet' = any (also_seen)
        union all
        select 6, 'severity', i.slug, i.severity::text, ''
        from incident i
        where i.closed_at is null and i.retracted_at is null
        union all
        select 7, 'alert', to_char(e.event_id, '0000000000'), e.kind || ' ' || i.slug || ', ' || e.severity, case when e.late then 'late' else '' end
        from alert_event e
        join incident i using (incident_id)
        where e.at = as_of
      )
      select s.kind, s.name, s.state, s.note
      from seen s
      order by s.place, s.name;
    end;
    $$
  `);
}

/** Reads all states after an instant, and the alerts that were written at it. */
export async function look(db: Db, { series, alsoSeen }: Scenario, { at }: Decided): Promise<Sight> {
  const several = new Set(series.map(({ venue }) => venue)).size > 1;
  const rows = await db.query<Standing>(sql`select * from scenario.sight(${several}, ${alsoSeen}, ${at})`);
  const isAlert = ({ kind }: Standing) => kind === "alert";
  return {
    standing: new Map(rows.filter((row) => !isAlert(row)).map((row) => [`${row.kind} ${row.name}`, row])),
    alerts: rows.filter(isAlert).map(({ state, note }) => `alert ${state}${note && ", "}${note}`),
  };
}

/** Returns what differs from before, and what was decided. */
export async function eventsOf(db: Db, scenario: Scenario, decided: Decided, before: Seen, after: Sight) {
  const moved = await moves(db, scenario.startsAt, decided);
  return [...changes(before, after.standing, decided), ...moved, ...after.alerts];
}

function changes(before: Seen, after: Seen, { escalated }: Decided): string[] {
  const gone = [...before].filter(([key]) => !after.has(key));
  return [
    ...gone.flatMap(([, { kind, name }]) => {
      if (kind === "impaired") return [`${name} no longer impaired`];
      return kind === "severity" ? [] : [`${name} no longer watched`];
    }),
    ...[...after].flatMap(([key, { kind, name, state, note }]) => {
      const was = before.get(key)?.state;
      if (kind === "severity")
        return was && was !== state && !escalated.includes(name) ? [`severity of ${name} now ${state}`] : [];
      if (state === (was ?? "unknown")) return [];
      if (kind === "impaired") return [`${name} impaired: ${note}`];
      return [`${name} ${state}${note && ", "}${note}`];
    }),
  ];
}

async function moves(db: Db, startsAt: Date, { opened, escalated, closed, retracted }: Decided): Promise<string[]> {
  const moved = [...opened, ...escalated, ...closed, ...retracted];
  if (moved.length === 0) return [];
  const incidents = await incidentsOf(db, moved);
  const of = (slug: string) => incidents.get(slug)!;
  return [
    ...retracted.map((slug) => `retracted ${slug}, ${of(slug).dropped}`),
    ...closed.map((slug) => {
      const { peak, lastBadAt } = of(slug);
      const lastBadS = (+lastBadAt - +startsAt) / 1000;
      return `closed ${slug}, peak ${peak}, last bad +${lastBadS}s`;
    }),
    ...escalated.map((slug) => `escalated ${slug}`),
    ...opened.map((slug) => {
      const { component, startedAt, agreed, notCounted, flapping } = of(slug);
      const startedS = (+startedAt - +startsAt) / 1000;
      const others = notCounted ? `, not counted ${notCounted}` : "";
      return `opened ${slug}, ${component}, started +${startedS}s, agreed ${agreed}${others}${flapping ? ", flapping" : ""}`;
    }),
  ];
}

interface Incident extends Record<"slug" | "component" | "peak" | "agreed" | "dropped", string> {
  startedAt: Date;
  lastBadAt: Date;
  flapping: boolean;
  notCounted: string | null;
}

async function incidentsOf(db: Db, slugs: string[]): Promise<Map<string, Incident>> {
  const rows = await db.query<Incident>(sql`
    select
      i.slug, c.component, i.started_at as "startedAt", i.last_bad_at as "lastBadAt", i.peak_severity as peak, i.flapping,
      (
        select string_agg(vote ->> 'region', ' ' order by place)
        from jsonb_array_elements(i.evidence -> 'opening' -> 'votes') with ordinality as v (vote, place)
        where vote ->> 'vote' in ('degraded', 'outage')
      ) as agreed,
      (
        select string_agg(
          n ->> 'region' || case when n ->> 'reason' like 'impaired%' then ' (impaired)' else '' end, ' ' order by place
        )
        from jsonb_array_elements(i.evidence -> 'opening' -> 'notCounted') with ordinality as v (n, place)
      ) as "notCounted",
      (
        select coalesce(string_agg(e.kind, ' ' order by e.event_id) || ' dropped', 'no alert dropped')
        from alert_event e
        where e.incident_id = i.incident_id and e.dropped_at is not null
      ) as dropped
    from incident i
    join component c using (component_id)
    where i.slug = any (${slugs})
  `);
  return new Map(rows.map((row) => [row.slug, row]));
}
