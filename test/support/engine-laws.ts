/**
 * Laws that the engine's tables must obey for all samples. Each function returns the violations, one line each.
 */
import { type Db, sql } from "../../shared/database/pool.js";
import type { Rules } from "../second-opinion/world.js";

/**
 * Call right after an instant was decided. Returns what opened at it without a quorum of regions that confirm trouble.
 */
export async function openedWithoutQuorum(db: Db, rules: Rules): Promise<string[]> {
  const rows = await db.query<{ line: string }>(sql`
    with counted as (
      select s.component_id,
        count(*) as regions,
        count(*) filter (
          where s.state in ('degraded', 'outage') and (s.bad_run >= ${rules.opening_bad_run} or s.in_part)
        ) as agree
      from region_state s
      cross join engine_clock k
      cross join lateral (
        select count(distinct coalesce(m.machine, n.region_id::text)) as places
        from region_state n
        left join lateral (
          select v.machine from region_vantage v
          where v.region_id = n.region_id and v.holds_from <= k.ticked_at
          order by v.holds_from desc limit 1
        ) m on true
        where n.component_id = s.component_id and n.reporting and n.refused and n.state in ('degraded', 'outage')
          and not exists (
            select from impairment i
            where i.region_id = n.region_id and (i.ended_at is null or i.ended_at = k.ticked_at and not i.seen_elsewhere)
          )
      ) p
      where s.reporting
        and not exists (
          select from impairment i
          where i.region_id = s.region_id and (i.ended_at is null or i.ended_at = k.ticked_at and not i.seen_elsewhere)
        )
        and not exists (
          select from outlier o
          where o.component_id = s.component_id and o.region_id = s.region_id and o.ended_at is null
        )
        -- refused from too few places
        and not (s.refused and s.state in ('degraded', 'outage') and p.places < ${rules.blocked_min_vantages})
      group by s.component_id
    )
    select i.slug || ' opened by ' || coalesce(c.agree, 0) || ' of ' || coalesce(c.regions, 0) as line
    from incident i
    join engine_clock k on k.ticked_at = i.opened_at
    left join counted c using (component_id)
    where (2 * c.agree > c.regions) is not true
      or c.agree < least(${rules.quorum_min_regions}, (select count(*) from region where published))
  `);
  return rows.map(({ line }) => line);
}

/** Call at the end. */
export async function brokenLaws(db: Db): Promise<string[]> {
  const rows = await db.query<{ line: string }>(sql`
    -- two incidents of a component that are open at the same time
    select a.slug || ' and ' || b.slug || ' overlap' as line
    from incident a
    join incident b on b.component_id = a.component_id and b.incident_id > a.incident_id
    where tstzrange(a.opened_at, least(a.closed_at, a.retracted_at)) && tstzrange(b.opened_at, least(b.closed_at, b.retracted_at))
    union all
    -- an incident whose times are out of order
    select slug || ' is out of order'
    from incident
    where not (
      started_at <= opened_at
      and started_at <= last_bad_at
      and (escalated_at is null or escalated_at > opened_at)
      and (closed_at is null or closed_at > last_bad_at)
      -- an operator may retract at the very instant of the opening
      and (retracted_at is null or retracted_at > opened_at or retracted_at = opened_at and retraction_evidence is null)
      and (escalated_at is null) = (evidence -> 'escalation' is null)
      and (closed_at is null) = (evidence -> 'closing' is null)
      and (retracted_at is not null or retraction_evidence is null)
    )
    union all
    -- an alert without its event, or an event without its alert
    select slug || ' ' || kind || ' was ' || case when e.at is null then 'not alerted' else 'alerted wrongly' end
    from incident i
    cross join lateral (values ('opened', i.opened_at), ('escalated', i.escalated_at), ('closed', i.closed_at)) as m (kind, at)
    left join alert_event e using (incident_id, kind)
    where m.at is distinct from e.at
    union all
    select i.slug || ' ' || e.kind || ' was alerted before it opened'
    from alert_event e
    join incident i using (incident_id)
    where e.event_id < (select min(o.event_id) from alert_event o where o.incident_id = e.incident_id and o.kind = 'opened')
  `);
  return rows.map(({ line }) => line);
}

/** Returns everything recorded about these incidents, except a retraction. */
export async function closedIncidents(db: Db, slugs: string[]): Promise<string[]> {
  const rows = await db.query<{ incident: string }>(sql`
    select (to_jsonb(i) - ${["retracted_at", "retraction_reason", "retraction_evidence"]}::text[])::text as incident
    from incident i
    where slug = any (${slugs})
  `);
  return rows.map(({ incident }) => incident);
}

/** @param past the result of `closedIncidents` when they were closed */
export async function changedSince(db: Db, past: string[]): Promise<string[]> {
  const slugs = past.map((one) => (JSON.parse(one) as { slug: string }).slug);
  const now = await closedIncidents(db, slugs);
  return past
    .filter((incident) => !now.includes(incident))
    .map((incident) => `was changed after it had closed: ${incident}`);
}
