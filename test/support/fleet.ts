/** Inserts recent samples as a fleet of probes would have left them, and runs the engine on them. */
import { type Db, sql } from "../../shared/database/pool.js";
import { accepted, decideUpTo, tick } from "../../server/core/engine/tick.js";
import { rulesRow } from "../../shared/rules/engine-rules.js";
import type { Fault } from "../../shared/measurement/sample.js";

export interface Measured {
  from: Date;
  /** Exclusive. */
  to: Date;
  /** Absent: all of them. */
  venue?: string;
  component?: string;
  regions?: string[];
  /** Absent: the answers were good. */
  fault?: Fault;
  latencyMs?: number;
  /** Chain height, for components that read one. */
  head?: number;
  /** Absent: the sample was known at once. */
  receivedAfterS?: number;
}

/** Returns the instant that many seconds before now. */
export function ago(seconds: number): Date {
  return new Date(Date.now() - seconds * 1000);
}

/** Inserts samples of every component at its cadence. They replace earlier samples of the same slots. */
export async function measured(db: Db, what: Measured): Promise<void> {
  const { from, to, venue, component, regions, fault, head } = what;
  const good = fault === undefined;
  const latencyUs = (what.latencyMs ?? 80) * 1000;
  await db.query(sql`
    insert into sample (ts, component_id, region_id, good, fault, latency_us, messages, quiet_ms, event_age_ms, head, received_after_s)
    select
      slot.ts, c.component_id, g.region_id, ${good}, ${fault ?? null}::fault,
      case when ${good} and c.kind = 'rest' then ${latencyUs}::int end,
      case when c.kind = 'ws' and c.component <> 'ws:conn' then 40 end,
      case when c.kind = 'ws' and c.component <> 'ws:conn' then 900 end,
      case when c.kind = 'ws' and c.component <> 'ws:conn' then 35 end,
      ${head ?? null}::bigint, ${what.receivedAfterS ?? 0}::int
    from component c
    join venue v using (venue_id)
    cross join region g
    cross join lateral (select c.cadence_ms * interval '1 ms' as cadence) every
    cross join lateral generate_series(
      date_bin(every.cadence, ${from}, 'epoch') + every.cadence, ${to}::timestamptz - interval '1 ms', every.cadence
    ) as slot (ts)
    where c.published and v.published and g.published
      and (${venue ?? null}::text is null or v.venue = ${venue ?? null})
      and (${component ?? null}::text is null or c.component = ${component ?? null})
      and (${regions ?? null}::text[] is null or g.region = any (${regions ?? null}))
    on conflict (component_id, region_id, ts) do update set
      good = excluded.good, fault = excluded.fault, latency_us = excluded.latency_us, head = excluded.head,
      received_after_s = excluded.received_after_s
  `);
}

const rollups = [
  "sample_minute",
  "sample_hour",
  "component_minute",
  "venue_minute",
  "latency_day",
  "venue_latency_day",
];

/** Rolls up these days, each level from the one below it. */
async function rollUp(db: Db): Promise<void> {
  for (const rollup of rollups)
    await db.query(sql`
      call upkeep.refresh(
        ${rollup}, date_trunc('day', now()) - interval '2 days', date_trunc('day', now()) + interval '1 day'
      )
    `);
  // as far back as a page asks for hours; without the other tables, a week is read raw, with the same result
  await db.query(sql`call upkeep.refresh_hours(now())`);
}

/** Rolls up the samples and lets the engine decide as of now, or of an instant just past. */
export async function decide(db: Db, at?: Date): Promise<void> {
  await rollUp(db);
  accepted(await tick(db, at ?? new Date()));
}

/** Fewer instants than the engine decides by default, because each of them takes a test's time. */
const everyTenSeconds = { ...rulesRow, step_ms: 10_000 };

/** Lets the engine decide instants between the two, ten seconds apart by default, and rolls up the samples. */
export async function decideThrough(db: Db, from: Date, to: Date, rules = everyTenSeconds): Promise<void> {
  accepted(await tick(db, from, { rules }));
  for await (const decided of decideUpTo(db, to, { rules })) accepted(decided);
  await rollUp(db);
}

/** Deletes its samples from the first instant to before the second. */
export async function unmeasured(
  db: Db,
  what: Omit<Measured, "component"> & { component?: string; kind?: "rest" | "ws" },
): Promise<void> {
  const { from, to, venue, component, kind, regions } = what;
  await db.query(sql`
    delete from sample s
    using component c, venue v, region g
    where c.component_id = s.component_id and v.venue_id = c.venue_id and g.region_id = s.region_id
      and s.ts >= ${from} and s.ts < ${to}
      and (${venue ?? null}::text is null or v.venue = ${venue ?? null})
      and (${component ?? null}::text is null or c.component = ${component ?? null})
      and (${kind ?? null}::text is null or c.kind = ${kind ?? null})
      and (${regions ?? null}::text[] is null or g.region = any (${regions ?? null}))
  `);
}

/** Removes all measurements. No refresh removes roll-ups whose samples are gone; to truncate them takes longer. */
export async function forget(db: Db): Promise<void> {
  await db.script(`
    do $$
    declare kept text;
    begin
      for kept in
        select format('%I.%I', materialization_hypertable_schema, materialization_hypertable_name)
        from timescaledb_information.continuous_aggregates
        where view_schema = 'venuewatch'
      loop
        execute 'delete from ' || kept;
      end loop;
    end $$;
    truncate sample, engine_clock, region_state, component_state, venue_state, region_venue_state, incident, alert_event,
      change_event, state_change, channel, delivery, delivery_attempt, impairment, typical_latency, typical_week, open_hour, hours_kept,
      rules_in_force, excluded_minute, unjudged restart identity;
    update component_entry set good_at = '-infinity' where good_at is distinct from '-infinity';
    update added_up set hours_to = default, days_to = default
  `);
}

/** An outage of Kraken's ticker, seen by two regions in the last minutes. `open` leaves it open, `close` closes it. */
export const outage = {
  async open(db: Db): Promise<void> {
    await measured(db, { from: ago(290), to: ago(0) });
    const trouble = { regions: ["eu-central", "us-east"], fault: "timeout" as const };
    await measured(db, { from: ago(270), to: ago(0), venue: "kraken", component: "rest:ticker", ...trouble });
    await decide(db, ago(200));
  },

  async close(db: Db): Promise<void> {
    await measured(db, { from: ago(190), to: ago(0), venue: "kraken", component: "rest:ticker" });
    await decide(db, ago(110));
    await decide(db, ago(40));
  },
};

export interface PastIncident {
  venue: string;
  component: string;
  startedAt: Date | string;
  /** Absent: at its start. */
  openedAt?: Date;
  /** Null: still open. */
  minutes: number | null;
  severity?: "degraded" | "outage";
  retracted?: boolean;
}

/** Inserts an incident as the engine would have left it, without its samples. Returns its slug. */
export async function pastIncident(
  db: Db,
  { severity = "outage", retracted = false, ...past }: PastIncident,
): Promise<string> {
  const { venue, component, minutes } = past;
  const [row] = await db.query<{ slug: string }>(sql`
    with past as (
      select
        c.component_id,
        p.started_at,
        p.started_at + ${minutes}::float * interval '1 minute' as closed_at,
        engine.slug_base(v.venue, p.started_at, c.kind, ${severity}) as base
      from component c
      join venue v using (venue_id)
      cross join (select ${past.startedAt}::timestamptz as started_at) p
      where v.venue = ${venue} and c.component = ${component}
    )
    insert into incident (
      slug, component_id, severity, peak_severity, started_at, opened_at, last_bad_at, closed_at,
      retracted_at, retraction_reason, evidence
    )
    select
      p.base || (select coalesce('-' || nullif(count(*) + 1, 1), '') from incident i where i.slug ~ ('^' || p.base || '(-[0-9]+)?$')),
      p.component_id, ${severity}, ${severity}, p.started_at, coalesce(${past.openedAt ?? null}, p.started_at), coalesce(p.closed_at, p.started_at), p.closed_at,
      case when ${retracted} then p.started_at end, case when ${retracted} then 'late samples' end,
      jsonb_build_object('opening', jsonb_build_object(
        'at', api.iso(p.started_at), 'state', ${severity}::text, 'quorum', 2, 'reporting', 3, 'counted', 3, 'confirming', 2,
        'published', 3, 'vantages', 3, 'votes', '[]'::jsonb, 'notCounted', '[]'::jsonb, 'notes', '[]'::jsonb
      ))
    from past p
    returning slug
  `);
  return row!.slug;
}

/** Inserts that many closed incidents of one venue, one minute apart. */
export async function manyIncidents(db: Db, count: number): Promise<void> {
  await db.query(sql`
    insert into incident (
      slug, component_id, severity, peak_severity, started_at, opened_at, last_bad_at, closed_at, evidence
    )
    select
      'okx-2020-01-01-rest-outage-' || n, c.component_id, 'outage', 'outage', at, at, at, at + interval '1 minute',
      jsonb_build_object('opening', jsonb_build_object(
        'at', api.iso(at), 'state', 'outage', 'quorum', 2, 'reporting', 3, 'counted', 3, 'confirming', 2,
        'votes', '[{"region": "us-east", "vote": "outage"}, {"region": "eu-central", "vote": "outage"}]'::jsonb,
        'published', 3, 'vantages', 3, 'notCounted', '[]'::jsonb, 'notes', '[]'::jsonb
      ))
    from generate_series(1, ${count}::int) n
    cross join lateral (select date_trunc('milliseconds', now()) - n * interval '1 minute' as at) began
    join component c on c.component = 'rest:ticker'
    join venue v on v.venue_id = c.venue_id and v.venue = 'okx'
  `);
}
