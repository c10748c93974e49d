/**
 * Behaviour of the engine as text. A scenario file has a sentence that says what it shows, a line that says what is
 * measured, a line of samples per region, and what the engine is seen to do, each line with its time since the start:
 *
 *     venue okx, rest:ticker, every 5s, from 2026-01-15T12:00:00Z
 *     eu-central    .*24 x*24 .*12
 *     us-east       .*60
 *     +10s   rest:ticker operational, 2 report, quorum 2
 *
 * A sample is `.` good, `x` timed out, `l` limited, `b` blocked, `c` closed, or `_` not measured; `x*3` is three of
 * them. Several components of the venue each have a line that names them and lines of regions below it.
 */
import { sql, type Db } from "../server/db.js";
import { tick } from "../server/engine/tick.js";
import type { Fault } from "../server/sample.js";

export interface Scenario {
  shows: string;
  venue: string;
  startsAt: Date;
  tickMs: number;
  series: Series[];
  /** What must be seen, a line each. */
  expected: string[];
}

interface Series {
  component: string;
  cadenceMs: number;
  region: string;
  /** One a slot from the start; undefined: not measured. */
  samples: (Fault | "good" | undefined)[];
}

const letters: Record<string, Fault | "good" | undefined> = {
  ".": "good",
  x: "timeout",
  l: "limited",
  b: "blocked",
  c: "closed",
  _: undefined,
};

export function parseScenario(text: string): Scenario {
  const lines = text.split("\n").map((line) => line.trim());
  const firstHead = lines.findIndex((line) => line.startsWith("venue "));
  const scenario: Scenario = {
    shows: lines.slice(0, firstHead).join(" ").trim(),
    venue: "",
    startsAt: new Date(NaN),
    tickMs: 5_000,
    series: [],
    expected: [],
  };
  let measured = { component: "", cadenceMs: 0 };
  for (const line of lines.slice(firstHead).filter(Boolean)) {
    const head =
      /^venue (\S+), (\S+), every (\d+)s, from (\S+)(?:, tick (\d+)s)?$/.exec(
        line,
      );
    const component = /^((?:rest|ws):[a-z]+), every (\d+)s$/.exec(line);
    const series = /^([a-z-]+)\s+([.xlbc_*\d\s]+)$/.exec(line);
    if (head) {
      scenario.venue = head[1]!;
      scenario.startsAt = new Date(head[4]!);
      scenario.tickMs = Number(head[5] ?? 5) * 1000;
      measured = { component: head[2]!, cadenceMs: Number(head[3]) * 1000 };
    } else if (component) {
      measured = {
        component: component[1]!,
        cadenceMs: Number(component[2]) * 1000,
      };
    } else if (line.startsWith("+")) {
      scenario.expected.push(line.replace(/\s+/g, " "));
    } else if (series) {
      scenario.series.push({
        ...measured,
        region: series[1]!,
        samples: series[2]!.trim().split(/\s+/).flatMap(parseRun),
      });
    } else {
      throw new Error(`a scenario has no line like this: ${line}`);
    }
  }
  return scenario;
}

function parseRun(word: string) {
  const run = /^(\D)(?:\*(\d+))?$/.exec(word);
  if (!run || !(run[1]! in letters))
    throw new Error(`expected a sample like . or x*3, not ${word}`);
  return Array<Fault | "good" | undefined>(Number(run[2] ?? 1)).fill(
    letters[run[1]!],
  );
}

/** Inserts the samples and ticks through the time they span, and a little beyond; returns what the engine did, a line each. */
export async function play(db: Db, scenario: Scenario): Promise<string[]> {
  await forget(db);
  await insertSamples(db, scenario);
  const slots = scenario.series.map((s) => s.samples.length * s.cadenceMs);
  const endMs = Math.max(...slots);

  const seen: string[] = [];
  const states = new Map<string, string>();
  for (let ms = 0; ms < endMs; ms += scenario.tickMs) {
    const decided = await tick(db, new Date(+scenario.startsAt + ms));
    const lines = [
      ...(await changedStates(db, scenario, states)),
      ...(await moves(db, scenario, decided)),
    ];
    seen.push(...lines.map((line) => `+${ms / 1000}s ${line}`));
  }
  return seen;
}

async function forget(db: Db): Promise<void> {
  await db.script(
    `truncate sample, engine_clock, region_state, component_state, venue_state, incident`,
  );
}

async function insertSamples(db: Db, scenario: Scenario): Promise<void> {
  const rows = scenario.series.flatMap(
    ({ component, cadenceMs, region, samples }) =>
      samples.map((sample, slot) => ({
        component,
        region,
        ts: new Date(+scenario.startsAt + slot * cadenceMs),
        fault: sample === "good" ? null : sample,
        latency_us: sample === "good" ? 80_000 : null,
      })),
  );
  const taken = rows.filter((row) => row.fault !== undefined);
  await db.query(sql`
    insert into sample (ts, component_id, region_id, good, fault, latency_us)
    select r.ts, c.component_id, g.region_id, r.fault is null, r.fault, r.latency_us
    from jsonb_to_recordset(${JSON.stringify(taken)}::jsonb)
      as r (component text, region text, ts timestamptz, fault fault, latency_us int)
    join component c using (component)
    join venue v on v.venue_id = c.venue_id and v.venue = ${scenario.venue}
    join region g using (region)
  `);
}

async function changedStates(
  db: Db,
  scenario: Scenario,
  states: Map<string, string>,
): Promise<string[]> {
  const rows = await db.query<{ component: string; line: string }>(sql`
    select c.component, s.state || ', ' || s.reporting || ' report, quorum ' || s.quorum as line
    from component_state s
    join component c using (component_id)
    join venue v using (venue_id)
    where v.venue = ${scenario.venue}
    order by c.position
  `);
  const changed = rows.filter(({ component, line }) => {
    const before = states.get(component) ?? "unknown";
    return !before.startsWith(line.split(",")[0]!);
  });
  for (const { component, line } of rows) states.set(component, line);
  return changed.map(({ component, line }) => `${component} ${line}`);
}

async function moves(
  db: Db,
  scenario: Scenario,
  decided: Awaited<ReturnType<typeof tick>>,
): Promise<string[]> {
  if (!decided) throw new Error("the engine refused to tick");
  const told = [];
  for (const slug of decided.opened)
    told.push(
      `opened ${slug}, started +${await startedAfterS(db, scenario, slug)}s, agreed ${await agreed(db, slug)}`,
    );
  for (const slug of decided.escalated) told.push(`escalated ${slug}`);
  for (const slug of decided.closed)
    told.push(`closed ${slug}, peak ${await peak(db, slug)}`);
  return told;
}

async function startedAfterS(db: Db, scenario: Scenario, slug: string) {
  const [row] = await db.query<{ started_at: Date }>(
    sql`select started_at from incident where slug = ${slug}`,
  );
  return (+row!.started_at - +scenario.startsAt) / 1000;
}

async function agreed(db: Db, slug: string) {
  const [row] = await db.query<{ regions: string }>(sql`
    select string_agg(vote ->> 'region', ' ' order by place) as regions
    from incident, jsonb_array_elements(evidence -> 'opening' -> 'votes') with ordinality as v (vote, place)
    where slug = ${slug} and vote ->> 'vote' in ('degraded', 'outage')
  `);
  return row!.regions;
}

async function peak(db: Db, slug: string) {
  const [row] = await db.query<{ peak_severity: string }>(
    sql`select peak_severity from incident where slug = ${slug}`,
  );
  return row!.peak_severity;
}
