/** Plays a scenario with the engine on a separate database, and reports what the engine does. */
import { type Db, type Pool, sql } from "../../shared/database/pool.js";
import { retractIncident } from "../../server/engine/retract.js";
import { rulesRow } from "../../server/engine/rules.js";
import { accepted, decideUpTo } from "../../server/engine/tick.js";
import { type Registry } from "../../shared/registry/registry.js";
import { syncRegistry } from "../../server/database/sync-registry.js";
import { testRegistry } from "./database.js";
import { forgetDecisions } from "./decisions.js";
import { insertSamples } from "./engine-on-worlds.js";
import type { Happening, Scenario } from "./scenario.js";
import { eventsOf, look, makeSight, type Seen } from "./scenario-seen.js";
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
      ...{ component, label: component, cadenceMs },
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
