/**
 * Behaviour of the engine as text. A scenario file has a sentence that says what it shows, a line that says what is
 * measured, a line of samples per region, and what the engine is seen to do, each line with its time since the start:
 *
 *     venue okx, rest:ticker, every 5s, from 2026-01-15T12:00:00Z
 *     eu-central    .*24 x*24 .*12
 *     us-east       .*60
 *     +10s   rest:ticker operational, 2 report, quorum 2
 *
 * A sample is one letter, see `letters`; `x*3` is three of them, `x*3@90` three that came to the database 90 s after their
 * slots. Several components each have a line that names them and lines of regions below it. README.md beside the
 * scenarios says it all in words.
 */
import { sql, type Db } from "../server/db.js";
import { rulesRow } from "../server/engine/rules.js";
import { accepted, type Decided, decideUpTo } from "../server/engine/tick.js";
import type { Fault } from "../server/sample.js";

export interface Scenario {
  shows: string;
  startsAt: Date;
  /** The engine comes by this often, and decides what is due; at every instant by default. */
  noticedEveryMs: number;
  /** It is away from the one to the other. */
  away: { fromMs: number; toMs: number }[];
  series: Series[];
  /** What must be seen, a line each. */
  expected: string[];
}

interface Series {
  venue: string;
  component: string;
  cadenceMs: number;
  /** Null: not known. */
  typicalMs: number | null;
  region: string;
  /** One a slot from the start; null: not measured. */
  samples: (Sample | null)[];
}

interface Sample {
  fault: Fault | null;
  latencyMs: number | null;
  receivedAfterS: number;
}

type Measured = Pick<
  Series,
  "venue" | "component" | "cadenceMs" | "typicalMs"
>[];

const good = { fault: null, latencyMs: 80 };
const slow = { fault: null, latencyMs: 2_500 };
const failed = (fault: Fault) => ({ fault, latencyMs: null });

const letters: Record<string, Omit<Sample, "receivedAfterS"> | null> = {
  _: null,
  ".": good,
  s: slow,
  x: failed("timeout"),
  h: failed("http"),
  d: failed("dns"),
  l: failed("limited"),
  b: failed("blocked"),
  c: failed("closed"),
  t: failed("stall"),
};

const headLine =
  /^venue (\S+), (\S+), every (\d+)s(?:, typical (\d+)ms)?(?:, from (\S+))?(?:, noticed every (\d+)s)?$/;
const componentLine =
  /^((?:rest|ws):[a-z]+), every (\d+)s(?:, typical (\d+)ms)?$/;
const awayLine = /^engine away \+(\d+)s to \+(\d+)s$/;
const samplesLine = /^([a-z]+-[a-z]+)\s+(\S.*)$/;

/** @throws Error naming the line that it does not understand */
export function parseScenario(text: string): Scenario {
  const lines = text.split("\n").map((line) => line.trim());
  const firstHead = lines.findIndex((line) => line.startsWith("venue "));
  const scenario: Scenario = {
    shows: lines.slice(0, firstHead).join(" ").trim(),
    startsAt: new Date(NaN),
    noticedEveryMs: rulesRow.step_ms,
    away: [],
    series: [],
    expected: [],
  };
  let venues: string[] = [];
  let measured: Measured = [];
  for (const line of lines.slice(firstHead).filter(Boolean)) {
    const head = headLine.exec(line);
    const component = componentLine.exec(line);
    const away = awayLine.exec(line);
    const samples = samplesLine.exec(line);
    if (head) {
      venues = head[1]!.split("+");
      measured = measuredOf(venues, head[2]!, head[3]!, head[4]);
      if (head[5]) scenario.startsAt = new Date(head[5]);
      if (head[6]) scenario.noticedEveryMs = Number(head[6]) * 1000;
    } else if (component) {
      measured = measuredOf(venues, component[1]!, component[2]!, component[3]);
    } else if (away) {
      const [fromMs, toMs] = [Number(away[1]) * 1000, Number(away[2]) * 1000];
      scenario.away.push({ fromMs, toMs });
    } else if (line.startsWith("+")) {
      scenario.expected.push(line.replace(/\s+/g, " "));
    } else if (samples) {
      const region = samples[1]!;
      const slots = samples[2]!.split(/\s+/).flatMap(parseRun);
      for (const one of measured)
        scenario.series.push({ ...one, region, samples: slots });
    } else {
      throw new Error(`a scenario has no line like this: ${line}`);
    }
  }
  return scenario;
}

function measuredOf(
  venues: string[],
  component: string,
  everyS: string,
  typicalMs?: string,
): Measured {
  return venues.map((venue) => ({
    venue,
    component,
    cadenceMs: Number(everyS) * 1000,
    typicalMs: typicalMs === undefined ? null : Number(typicalMs),
  }));
}

function parseRun(word: string): (Sample | null)[] {
  const run = /^(.)(?:\*(\d+))?(?:@(\d+))?$/.exec(word);
  const letter = run && letters[run[1]!];
  if (letter === undefined || !run)
    throw new Error(`expected a sample like . or x*3 or x*3@90, not ${word}`);
  const sample = letter && { ...letter, receivedAfterS: Number(run[3] ?? 0) };
  return Array<Sample | null>(Number(run[2] ?? 1)).fill(sample);
}

/** Inserts the samples and lets the engine decide through the time they span; returns what it did, a line each. */
export async function play(
  db: Db,
  scenario: Scenario,
  rules: Record<string, number> = rulesRow,
): Promise<string[]> {
  await forget(db);
  await watchOnly(db, scenario);
  await insertSamples(db, scenario);
  await insertTypical(db, scenario);
  const slots = scenario.series.map((s) => s.samples.length * s.cadenceMs);
  const endMs = Math.max(...slots);

  const seen: string[] = [];
  let before: Seen = { states: new Map(), impaired: new Map() };
  for (let ms = 0; ms < endMs; ms += scenario.noticedEveryMs) {
    if (scenario.away.some(({ fromMs, toMs }) => ms >= fromMs && ms < toMs))
      continue;
    const now = new Date(+scenario.startsAt + ms);
    for await (const answer of decideUpTo(db, now, { rules })) {
      const decided = accepted(answer);
      const after = await look(db, scenario);
      const lines = [
        ...changes(before, after),
        ...(await moves(db, scenario, decided)),
      ];
      const at = (+new Date(decided.at) - +scenario.startsAt) / 1000;
      seen.push(...lines.map((line) => `+${at}s ${line}`));
      before = after;
    }
  }
  await watchAll(db);
  return seen;
}

async function forget(db: Db): Promise<void> {
  await db.script(
    `truncate sample, engine_clock, region_state, component_state, venue_state, incident, alert_event, impairment,
      typical_latency`,
  );
}

/** A few components are decided more quickly than all. */
async function watchOnly(db: Db, scenario: Scenario): Promise<void> {
  const venues = scenario.series.map(({ venue }) => venue);
  await db.query(sql`update venue set published = venue = any (${venues})`);
}

async function watchAll(db: Db): Promise<void> {
  await db.query(sql`update venue set published = true`);
}

async function insertSamples(db: Db, scenario: Scenario): Promise<void> {
  const rows = scenario.series.flatMap(
    ({ venue, component, cadenceMs, region, samples }) =>
      samples.flatMap((sample, slot) => {
        if (!sample) return [];
        const ts = new Date(+scenario.startsAt + slot * cadenceMs);
        return [{ venue, component, region, ts, ...sample }];
      }),
  );
  await db.query(sql`
    insert into sample (ts, component_id, region_id, good, fault, latency_us, received_after_s)
    select r.ts, c.component_id, g.region_id, r.fault is null, r.fault, r."latencyMs" * 1000, r."receivedAfterS"
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (
      venue text, component text, region text, ts timestamptz, fault fault, "latencyMs" int, "receivedAfterS" int
    )
    join venue v using (venue)
    join component c on c.venue_id = v.venue_id and c.component = r.component
    join region g using (region)
  `);
}

/** As if it had been reckoned before the start, and for all of the scenario. */
async function insertTypical(db: Db, scenario: Scenario): Promise<void> {
  const { startsAt } = scenario;
  for (const { venue, component, region, typicalMs } of scenario.series)
    if (typicalMs !== null)
      await db.query(sql`
        insert into typical_latency (holds_from, component_id, region_id, p50_us, hours)
        select distinct engine.typical_in_force(at), c.component_id, g.region_id, ${typicalMs}::int * 1000, 168
        from generate_series(${startsAt}::timestamptz, ${startsAt}::timestamptz + interval '1 day', '1 hour') at,
          component c, venue v, region g
        where v.venue_id = c.venue_id and v.venue = ${venue} and c.component = ${component} and g.region = ${region}
      `);
}

interface Seen {
  states: Map<string, { state: string; line: string }>;
  /** Region to its venues. */
  impaired: Map<string, string>;
}

async function look(db: Db, scenario: Scenario): Promise<Seen> {
  const several = new Set(scenario.series.map(({ venue }) => venue)).size > 1;
  const rows = await db.query<{
    kind: "state" | "impaired";
    name: string;
    state: string;
    line: string;
  }>(sql`
    select 'state' as kind, case when ${several} then v.venue || ' ' else '' end || c.component as name,
      s.state::text as state, s.state || ', ' || s.reporting || ' report, quorum ' || s.quorum as line
    from component_state s
    join component c using (component_id)
    join venue v using (venue_id)
    union all
    select 'impaired', g.region, '', array_to_string(i.venues, ' ')
    from impairment i
    join region g using (region_id)
    where i.ended_at is null
    order by kind, name
  `);
  const of = (kind: string) => rows.filter((row) => row.kind === kind);
  return {
    states: new Map(of("state").map((row) => [row.name, row])),
    impaired: new Map(of("impaired").map(({ name, line }) => [name, line])),
  };
}

function changes(before: Seen, after: Seen): string[] {
  const lines = [];
  for (const [region, venues] of after.impaired)
    if (!before.impaired.has(region))
      lines.push(`${region} impaired: ${venues}`);
  for (const region of before.impaired.keys())
    if (!after.impaired.has(region)) lines.push(`${region} no longer impaired`);
  for (const [component, { state, line }] of after.states)
    if (state !== (before.states.get(component)?.state ?? "unknown"))
      lines.push(`${component} ${line}`);
  return lines;
}

async function moves(
  db: Db,
  scenario: Scenario,
  { opened, escalated, closed, retracted, at }: Decided,
): Promise<string[]> {
  const moved = [...opened, ...escalated, ...closed, ...retracted];
  if (moved.length === 0) return [];
  const incidents = await incidentsOf(db, moved);
  const told = [];
  for (const slug of retracted)
    told.push(`retracted ${slug}, ${incidents.get(slug)!.droppedAlerts}`);
  for (const slug of closed)
    told.push(`closed ${slug}, peak ${incidents.get(slug)!.peak}`);
  for (const slug of escalated) told.push(`escalated ${slug}`);
  for (const slug of opened) {
    const { startedAt, agreed, flapping } = incidents.get(slug)!;
    const startedS = (+startedAt - +scenario.startsAt) / 1000;
    told.push(
      `opened ${slug}, started +${startedS}s, agreed ${agreed}${flapping ? ", flapping" : ""}`,
    );
  }
  return [...told, ...(await alertsAt(db, at))];
}

interface SeenIncident {
  slug: string;
  startedAt: Date;
  peak: string;
  flapping: boolean;
  agreed: string;
  droppedAlerts: string;
}

async function incidentsOf(
  db: Db,
  slugs: string[],
): Promise<Map<string, SeenIncident>> {
  const rows = await db.query<SeenIncident>(sql`
    select
      i.slug,
      i.started_at as "startedAt",
      i.peak_severity as peak,
      i.flapping,
      (
        select string_agg(vote ->> 'region', ' ' order by place)
        from jsonb_array_elements(i.evidence -> 'opening' -> 'votes') with ordinality as v (vote, place)
        where vote ->> 'vote' in ('degraded', 'outage')
      ) as agreed,
      (
        select case count(*) when 0 then 'no alert dropped' else string_agg(e.kind, ' ' order by e.event_id) || ' alert dropped' end
        from alert_event e
        where e.incident_id = i.incident_id and e.dropped_at is not null
      ) as "droppedAlerts"
    from incident i
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
