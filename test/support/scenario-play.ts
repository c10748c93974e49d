/** Plays a scenario with the engine on a separate database, and reports what the engine does. */
import { type Db, type Pool, sql } from "../../shared/database/pool.js";
import { retractIncident } from "../../server/core/engine/retract.js";
import { rulesRow } from "../../shared/rules/engine-rules.js";
import { accepted, decideUpTo, type Decided } from "../../server/core/engine/tick.js";
import type { Registry } from "../../shared/registry/registry.js";
import { syncRegistry } from "../../server/database/sync-registry.js";
import { testRegistry } from "./database.js";
import { forgetDecisions } from "./decisions.js";
import { insertSamples } from "./engine-on-worlds.js";
import type { Happening, Scenario } from "./scenario.js";
import type { Sample } from "../second-opinion/world.js";

const usualRegistry = testRegistry();

/**
 * Inserts the samples and lets the engine decide throughout their time. Returns what it did, one line each.
 *
 * Meanwhile the database watches the scenario's components, and afterwards the packaged registry again.
 */
export async function play(db: Pool, scenario: Scenario, rules: Record<string, number> = rulesRow): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of linesOf(db, scenario, rules)) lines.push(line);
  return lines;
}

/** Returns whether the scenario is played as expected. Stops at the first line that differs. */
export async function goesAsExpected(
  db: Pool,
  scenario: Scenario,
  rules: Record<string, number> = rulesRow,
): Promise<boolean> {
  const expected = scenario.expected.values();
  for await (const line of linesOf(db, scenario, rules)) if (line !== expected.next().value) return false;
  return expected.next().done === true;
}

async function* linesOf(db: Pool, scenario: Scenario, rules: Record<string, number>): AsyncGenerator<string> {
  const registry = await usualRegistry;
  if (!withSight.has(db)) await makeSight(db);
  withSight.add(db);
  await forget(db);
  await watch(db, registry, scenario, []);
  try {
    await insertSamples(db, samplesOf(scenario));
    await insertHoursBefore(db, scenario);
    await insertTypical(db, scenario);
    await insertVantage(db, scenario);
    const step = scenario.decidedEveryMs && { step_ms: scenario.decidedEveryMs };
    yield* decideThrough(db, registry, scenario, { ...rules, ...step });
  } finally {
    await syncRegistry(db, registry);
  }
}

async function* decideThrough(
  db: Pool,
  registry: Registry,
  scenario: Scenario,
  rules: Record<string, number>,
): AsyncGenerator<string> {
  const endMs = Math.max(...scenario.series.map(({ samples, cadenceMs }) => samples.length * cadenceMs));
  const everyMs = scenario.noticedEveryMs ?? rules.step_ms!;
  const waiting = [...scenario.happenings].sort((a, b) => a.atMs - b.atMs);
  const happened: Happening[] = [];

  let before: Seen = new Map();
  for (let ms = 0; ms < endMs; ms += everyMs) {
    while (waiting[0] && waiting[0].atMs <= ms) {
      happened.push(waiting.shift()!);
      await happen(db, registry, scenario, happened);
    }
    if (scenario.away.some(({ fromMs, toMs }) => ms >= fromMs && ms < toMs)) continue;
    const now = new Date(+scenario.startsAt + ms);
    for await (const answer of decideUpTo(db, now, { rules })) {
      const decided = accepted(answer);
      const after = await look(db, scenario, decided);
      const at = (+new Date(decided.at) - +scenario.startsAt) / 1000;
      for (const line of await eventsOf(db, scenario, decided, before, after)) yield `+${at}s ${line}`;
      before = after.standing;
    }
  }
}

const withSight = new WeakSet<Pool>();

async function forget(db: Db): Promise<void> {
  await forgetDecisions(db);
  await db.script(`
    truncate sample, region_vantage;
    do $$
    begin
      if exists (select from sample_hour) then
        truncate sample_hour;
      end if;
    end $$
  `);
  // each scenario's registry rewrites all rows, and ticks read through the dead ones: twice as slow at the end
  await db.script("vacuum component, venue");
}

/** Watches only what a scenario measures; its regions are those of the registry and any others that it names. */
async function watch(db: Db, registry: Registry, scenario: Scenario, gone: string[]): Promise<void> {
  const { series, regions, news, startsAt, ends } = scenario;
  const published = regions ?? [...registry.regions.map(({ id }) => id), ...series.map(({ region }) => region)];
  const left = [...new Set(published)].filter((region) => !gone.includes(region));
  const venues = [...new Set(series.map(({ venue }) => venue))];
  const componentsOf = (venue: string) => {
    const its = series.filter((one) => one.venue === venue && !gone.includes(one.component));
    const cadences = new Map(its.map(({ component, cadenceMs }) => [component, cadenceMs]));
    return [...cadences].map(([component, cadenceMs]) => ({
      ...{ component, label: component, cadenceMs, entry: component },
      ...endOf(component),
    }));
  };
  const endOf = (component: string) => {
    const end = ends.find((one) => one.component === component);
    return end && { endsAt: new Date(+startsAt + end.atMs), endsBecause: `${component} ends` };
  };
  const watched = {
    regions: left.map((region) => ({ region, name: region })),
    venues: venues.map((venue) => ({ venue, name: venue, category: "exchange", components: componentsOf(venue) })),
  };
  await db.file("sync_registry", [JSON.stringify(watched)]);
  // the others were good before the scenario
  await db.query(sql`
    update component_entry e set good_at = '-infinity'
    from component c join venue v using (venue_id)
    where c.component_id = e.component_id and e.good_at is null and v.venue <> all (${news}::text[])
  `);
}

async function happen(db: Pool, registry: Registry, scenario: Scenario, happened: Happening[]): Promise<void> {
  const { kind, what } = happened.at(-1)!;
  if (kind === "operator retracts") {
    await retractIncident(db, what, "a scenario says so");
  } else if (kind === "alerts are sent") {
    await db.query(sql`
      update alert_event set dispatched_at = at where dispatched_at is null and dropped_at is null
    `);
  } else {
    const gone = happened.filter(({ kind }) => kind === "leaves the registry").map(({ what }) => what);
    await watch(db, registry, scenario, gone);
  }
}

function samplesOf({ series, startsAt }: Scenario): Sample[] {
  return series.flatMap(({ venue, component, region, samples, cadenceMs }) =>
    samples.flatMap((sample, slot): Sample[] => {
      if (!sample) return [];
      const { latencyMs, ...rest } = sample;
      const ts = +startsAt + slot * cadenceMs;
      return [{ venue, component, region, ts, ...rest, latencyUs: latencyMs && latencyMs * 1000 }];
    }),
  );
}

const hourMs = 3_600_000;

/** A single sample in each hour is its median. */
async function insertHoursBefore(db: Db, { series, startsAt }: Scenario) {
  const startHourMs = Math.floor(+startsAt / hourMs) * hourMs;
  const samples = series.flatMap(({ venue, component, region, hoursBefore }) =>
    hoursBefore.flatMap((latencyMs, index): Sample[] => {
      if (latencyMs === null) return [];
      const ts = startHourMs - (hoursBefore.length - index) * hourMs;
      const answer = { fault: null, latencyUs: latencyMs * 1000, unserved: false, receivedAfterS: 0 };
      return [{ venue, component, region, ts, ...answer }];
    }),
  );
  if (samples.length === 0) return;
  await insertSamples(db, samples);
  const oldest = new Date(Math.min(...samples.map(({ ts }) => ts)));
  await db.query(sql`
    call refresh_continuous_aggregate('sample_hour', ${oldest}::timestamptz, ${startsAt}::timestamptz)
  `);
}

async function insertVantage(db: Db, { onOneMachine, startsAt }: Scenario) {
  await db.query(sql`
    insert into region_vantage (region_id, holds_from, machine)
    select g.region_id, ${startsAt}::timestamptz, 'one machine'
    from region g
    where g.region = any (${onOneMachine}::text[])
  `);
}

/** Inserts it as if it had been computed before the start, valid for a day. */
async function insertTypical(db: Db, { series, startsAt }: Scenario) {
  for (const { venue, component, region, typicalMs } of series)
    if (typicalMs !== null)
      await db.query(sql`
        insert into typical_latency (holds_from, component_id, region_id, p50_us, hours)
        select distinct engine.typical_in_force(at), c.component_id, g.region_id, ${typicalMs}::int * 1000, 168
        from generate_series(${startsAt}::timestamptz, ${startsAt}::timestamptz + interval '1 day', '1 hour') at,
          component c, venue v, region g
        where v.venue_id = c.venue_id and v.venue = ${venue} and c.component = ${component} and g.region = ${region}
      `);
}

interface Sight {
  standing: Seen;
  alerts: string[];
}

/** All states, by kind and name. */
type Seen = Map<string, Standing>;

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
async function makeSight(db: Db): Promise<void> {
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
async function look(db: Db, { series, alsoSeen }: Scenario, { at }: Decided): Promise<Sight> {
  const several = new Set(series.map(({ venue }) => venue)).size > 1;
  const rows = await db.query<Standing>(sql`select * from scenario.sight(${several}, ${alsoSeen}, ${at})`);
  const isAlert = ({ kind }: Standing) => kind === "alert";
  return {
    standing: new Map(rows.filter((row) => !isAlert(row)).map((row) => [`${row.kind} ${row.name}`, row])),
    alerts: rows.filter(isAlert).map(({ state, note }) => `alert ${state}${note && ", "}${note}`),
  };
}

/** Returns what differs from before, and what was decided. */
async function eventsOf(db: Db, scenario: Scenario, decided: Decided, before: Seen, after: Sight) {
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
