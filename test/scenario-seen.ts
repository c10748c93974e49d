/** What the engine is seen to do at an instant, a line each. */
import { type Db, sql } from "../server/db.js";
import type { Decided } from "../server/engine/tick.js";
import type { Scenario } from "./scenario.js";

/** How everything stands, by kind and name. */
export type Seen = Map<string, Standing>;

interface Standing {
  kind: "impaired" | "region" | "component" | "venue" | "fleet" | "severity";
  name: string;
  state: string;
  /** What is told beside the state. */
  note: string;
}

/** Reads how everything stands after an instant. Only what is to be seen is asked for: that it is planned takes the time. */
export async function look(
  db: Db,
  { series, alsoSeen }: Scenario,
): Promise<Seen> {
  const several = new Set(series.map(({ venue }) => venue)).size > 1;
  const sights = [
    sql`
      select 1 as place, 'impaired' as kind, g.region as name, i.recognised_at::text as state, array_to_string(i.venues, ' ') as note
      from impairment i
      join region g using (region_id)
      where i.ended_at is null`,
    alsoSeen.includes("regions") &&
      sql`
      union all
      select 2, 'region', c.name || ' in ' || g.region, s.state::text, ''
      from region_state s
      join components c using (component_id)
      join region g using (region_id)`,
    sql`
      union all
      select 3, 'component', c.name, s.state::text, s.reporting || ' report, quorum ' || s.quorum
      from component_state s
      join components c using (component_id)`,
    alsoSeen.includes("venues") &&
      sql`
      union all
      select 4, 'venue', 'venue ' || v.venue, s.state::text, ''
      from venue_state s
      join venue v using (venue_id)`,
    alsoSeen.includes("fleet") &&
      sql`
      union all
      select 5, 'fleet', 'fleet', api.worst(
        count(*),
        count(*) filter (where s.state <> 'unknown'),
        count(*) filter (where s.state = 'outage'),
        count(*) filter (where engine.is_bad(s.state))
      )::text, ''
      from venue_state s`,
    sql`
      union all
      select 6, 'severity', i.slug, i.severity::text, ''
      from incident i
      where i.closed_at is null and i.retracted_at is null`,
  ].filter((sight) => sight !== false);
  const rows = await db.query<Standing>(sql`
    with components as (
      select c.component_id, case when ${several} then v.venue || ' ' else '' end || c.component as name
      from component c
      join venue v using (venue_id)
    )
    ${sql.join(sights, "")}
    order by place, name
  `);
  return new Map(rows.map((row) => [`${row.kind} ${row.name}`, row]));
}

/** What is different from how it stood before, and what was decided. */
export async function told(
  db: Db,
  { startsAt }: Scenario,
  decided: Decided,
  before: Seen,
  after: Seen,
): Promise<string[]> {
  return [
    ...changes(before, after, decided),
    ...(await moves(db, startsAt, decided)),
    ...(await alertsAt(db, decided.at)),
  ];
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
        return was && was !== state && !escalated.includes(name)
          ? [`severity of ${name} now ${state}`]
          : [];
      if (state === (was ?? "unknown")) return [];
      if (kind === "impaired") return [`${name} impaired: ${note}`];
      return [`${name} ${state}${note && ", "}${note}`];
    }),
  ];
}

async function moves(
  db: Db,
  startsAt: Date,
  { opened, escalated, closed, retracted }: Decided,
): Promise<string[]> {
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

interface Incident {
  slug: string;
  component: string;
  startedAt: Date;
  lastBadAt: Date;
  peak: string;
  flapping: boolean;
  agreed: string;
  notCounted: string | null;
  dropped: string;
}

async function incidentsOf(
  db: Db,
  slugs: string[],
): Promise<Map<string, Incident>> {
  const rows = await db.query<Incident>(sql`
    select
      i.slug,
      c.component,
      i.started_at as "startedAt",
      i.last_bad_at as "lastBadAt",
      i.peak_severity as peak,
      i.flapping,
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

async function alertsAt(db: Db, at: string): Promise<string[]> {
  const rows = await db.query<{ line: string }>(sql`
    select 'alert ' || e.kind || ' ' || i.slug || ', ' || e.severity || case when e.late then ', late' else '' end as line
    from alert_event e
    join incident i using (incident_id)
    where e.at = ${at}
    order by e.event_id
  `);
  return rows.map(({ line }) => line);
}
