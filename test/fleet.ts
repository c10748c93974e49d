/** What a fleet of probes would have left in the database lately, and what the engine makes of it. */
import { type Db, sql } from "../server/db.js";
import { accepted, tick } from "../server/engine/tick.js";
import type { Fault } from "../server/sample.js";

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
  /** Height of the chain, of components that read one. */
  head?: number;
}

/** The instant so many seconds before now. */
export function ago(seconds: number): Date {
  return new Date(Date.now() - seconds * 1000);
}

/** Samples of every component in its own cadence; they replace what was measured in those slots before. */
export async function measured(db: Db, what: Measured): Promise<void> {
  const { from, to, venue, component, regions, fault, head } = what;
  const good = fault === undefined;
  const latencyUs = (what.latencyMs ?? 80) * 1000;
  await db.query(sql`
    insert into sample (ts, component_id, region_id, good, fault, latency_us, messages, quiet_ms, event_age_ms, head)
    select
      slot.ts, c.component_id, g.region_id, ${good}, ${fault ?? null}::fault,
      case when ${good} and c.kind = 'rest' then ${latencyUs}::int end,
      case when c.kind = 'ws' and c.component <> 'ws:conn' then 40 end,
      case when c.kind = 'ws' and c.component <> 'ws:conn' then 900 end,
      case when c.kind = 'ws' and c.component <> 'ws:conn' then 35 end,
      ${head ?? null}::bigint
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
      good = excluded.good, fault = excluded.fault, latency_us = excluded.latency_us, head = excluded.head
  `);
}

const rollups = [
  "sample_minute",
  "sample_hour",
  "component_minute",
  "venue_minute",
  "venue_day",
  "latency_day",
];

/** Rolls up these days, each level on the one below it. */
async function rollUp(db: Db): Promise<void> {
  for (const rollup of rollups)
    await db.query(sql`
      call upkeep.refresh(
        ${rollup}, date_trunc('day', now()) - interval '2 days', date_trunc('day', now()) + interval '1 day'
      )
    `);
}

/** Rolls up what was measured and lets the engine decide, as of now or of an instant just past. */
export async function decide(db: Db, at = new Date()): Promise<void> {
  await rollUp(db);
  accepted(await tick(db, at));
}

/** Nothing was ever measured. */
export async function forget(db: Db): Promise<void> {
  await db.script(
    `truncate sample, engine_clock, region_state, component_state, venue_state, incident, alert_event,
      impairment, typical_latency restart identity`,
  );
  await rollUp(db);
}

/** One outage of Kraken's ticker that two regions saw: opened, still open, and then closed, all within the last minutes. */
export const outage = {
  async open(db: Db): Promise<void> {
    await measured(db, { from: ago(290), to: ago(0) });
    await measured(db, {
      from: ago(270),
      to: ago(0),
      venue: "kraken",
      component: "rest:ticker",
      regions: ["eu-central", "us-east"],
      fault: "timeout",
    });
    await decide(db, ago(200));
  },

  async close(db: Db): Promise<void> {
    await measured(db, {
      from: ago(190),
      to: ago(0),
      venue: "kraken",
      component: "rest:ticker",
    });
    await decide(db, ago(110));
    await decide(db, ago(40));
  },
};

export interface PastIncident {
  venue: string;
  component: string;
  startedAt: Date;
  /** Null: still open. */
  minutes: number | null;
  retracted?: boolean;
}

/** An incident as the engine would have left it, without its samples. Returns its slug. */
export async function pastIncident(
  db: Db,
  { venue, component, startedAt, minutes, retracted = false }: PastIncident,
): Promise<string> {
  const closedAt =
    minutes === null ? null : new Date(+startedAt + minutes * 60_000);
  const [row] = await db.query<{ slug: string }>(sql`
    insert into incident (
      slug, component_id, severity, peak_severity, started_at, opened_at, last_bad_at, closed_at,
      retracted_at, retraction_reason, evidence
    )
    select
      engine.slug_base(v.venue, ${startedAt}, c.kind, 'outage'), c.component_id, 'outage', 'outage',
      ${startedAt}, ${startedAt}, ${closedAt ?? startedAt}, ${closedAt},
      case when ${retracted} then ${startedAt}::timestamptz end, case when ${retracted} then 'late samples' end,
      jsonb_build_object('opening', jsonb_build_object(
        'at', ${startedAt}::timestamptz, 'state', 'outage', 'quorum', 2, 'reporting', 3,
        'votes', '[]'::jsonb, 'notCounted', '[]'::jsonb
      ))
    from component c
    join venue v using (venue_id)
    where v.venue = ${venue} and c.component = ${component}
    returning slug
  `);
  return row!.slug;
}
