/**
 * Measures how long the engine takes to decide, against a bare read of the data that it decides from, in fleets of
 * several sizes: on the embedded database, or on the TimescaleDB server of DATABASE_URL.
 *
 * Each tick is as in production: the samples of two more seconds have arrived, a few of them bad, and everything that
 * it writes counts.
 */
import { type Pool, sql } from "../shared/database/pool.js";
import { accepted, tick } from "../server/core/engine/tick.js";
import { rulesRow } from "../shared/rules/engine-rules.js";
import { type Figure, type Spread, spreadOf, timesMs } from "./figure.js";
import { openStage } from "./stage.js";

const regions = 3;
const cadenceMs = 5_000;
const times = 30;

interface Size {
  series: number;
  /** How often a fleet of that size is made; its openings are single ticks, so one of them says little. */
  fleets: number;
  /** The promised time of a tick, milliseconds. */
  promisedMs: { server: number | null; embedded: number | null };
}

const sizes: Size[] = [
  { series: 315, fleets: 5, promisedMs: { server: 20, embedded: 60 } },
  { series: 2_001, fleets: 3, promisedMs: { server: null, embedded: null } },
  { series: 20_001, fleets: 1, promisedMs: { server: 400, embedded: 1_000 } },
  { series: 60_000, fleets: 1, promisedMs: { server: 1_200, embedded: null } },
];

export async function benchTick(): Promise<Figure[]> {
  const kind = process.env.DATABASE_URL ? "server" : "embedded";
  const figures: Figure[] = [];
  const usPerSeries = new Map<number, number>();
  for (const { series, fleets, promisedMs } of sizes) {
    // a fleet of that size is too large for the embedded database
    if (kind === "embedded" && series > 20_001) continue;
    const { quiet, openingMs, retractingMs, read } = await measure(series, fleets);
    usPerSeries.set(series, (quiet.p50 * 1000) / series);
    const floor = { value: read.p50, what: "one grouped read of the window" };
    const promised = promisedMs[kind];
    figures.push(
      {
        what: `${series} series, a tick, p50`,
        value: quiet.p50,
        unit: "ms",
        floor,
      },
      {
        what: `${series} series, a tick, p95`,
        value: quiet.p95,
        unit: "ms",
        ...(promised && { floor: { value: promised, what: "promised" } }),
      },
      {
        what: `${series} series, the tick that opens an incident for every tenth component, p50 of ${fleets}`,
        value: openingMs,
        unit: "ms",
        floor,
      },
      {
        what: `${series} series, the tick that retracts them all, p50 of ${fleets}`,
        value: retractingMs,
        unit: "ms",
        floor,
      },
    );
  }
  const [small, large] = [usPerSeries.get(2_001)!, [...usPerSeries.values()].at(-1)!];
  const largest = [...usPerSeries.keys()].at(-1)!;
  figures.push({
    what: `a tick per series, at ${largest}`,
    value: large,
    unit: "µs",
    floor: { value: small, what: "at 2001" },
  });
  return figures;
}

interface Measured {
  quiet: Spread;
  openingMs: number;
  retractingMs: number;
  read: Spread;
}

/** Measures several fleets, one after the other. */
async function measure(series: number, fleets: number): Promise<Measured> {
  const all: FleetTimes[] = [];
  for (let nth = 0; nth < fleets; nth++) all.push(await timesOfFleet(series));
  return {
    quiet: spreadOf(all.flatMap(({ quietMs }) => quietMs)),
    openingMs: spreadOf(all.map(({ openingMs }) => openingMs)).p50,
    retractingMs: spreadOf(all.map(({ retractingMs }) => retractingMs)).p50,
    read: spreadOf(all.flatMap(({ readMs }) => readMs)),
  };
}

interface FleetTimes {
  quietMs: number[];
  readMs: number[];
  openingMs: number;
  retractingMs: number;
}

async function timesOfFleet(series: number): Promise<FleetTimes> {
  const stage = await openStage();
  const { pool } = stage;
  try {
    await makeFleet(pool, series / regions);
    let atMs = Math.floor(Date.now() / 60_000) * 60_000;
    await measured(pool, atMs - 2 * rulesRow.window_ms, atMs);
    await pool.script("analyze");
    accepted(await tick(pool, new Date(atMs)));
    const quietMs = await timesMs(
      times,
      async () => accepted(await tick(pool, new Date(atMs))),
      () => measured(pool, atMs, (atMs += rulesRow.step_ms)),
    );
    const readMs = await timesMs(times, () =>
      pool.query(sql`
        select component_id, region_id, count(*), count(*) filter (where not good), max(ts)
        from sample
        where ts > ${new Date(atMs - rulesRow.window_ms)} and ts <= ${new Date(atMs)}
        group by component_id, region_id
      `),
    );
    const opening = await massOpening(pool, atMs);
    return { quietMs, readMs, openingMs: opening.tookMs, retractingMs: await massRetraction(pool, opening) };
  } finally {
    await stage.close();
  }
}

interface Opening {
  atMs: number;
  /** The newest instant with samples. */
  untilMs: number;
  opened: number;
  tookMs: number;
}

/** Makes every tenth component fail everywhere from now on. Returns the tick that opened most incidents. */
async function massOpening(pool: Pool, fromMs: number): Promise<Opening> {
  const untilMs = fromMs + 8 * rulesRow.step_ms;
  let worst: Opening = { atMs: fromMs, untilMs, opened: 0, tookMs: 0 };
  for (let atMs = fromMs + rulesRow.step_ms; atMs <= untilMs; atMs += rulesRow.step_ms) {
    await measured(pool, atMs - rulesRow.step_ms, atMs, 10);
    const startMs = performance.now();
    const { opened } = accepted(await tick(pool, new Date(atMs)));
    const tookMs = performance.now() - startMs;
    if (opened.length > worst.opened) worst = { atMs, untilMs, opened: opened.length, tookMs };
  }
  if (worst.opened === 0) throw new Error("no incident opened");
  return worst;
}

/**
 * Inserts good samples of just before the opening late, so that the incidents were false. Returns the duration of the
 * tick that retracts them.
 */
async function massRetraction(pool: Pool, { atMs: openedAtMs, untilMs, opened }: Opening): Promise<number> {
  const lateS = rulesRow.late_sample_ms / 1000 + 1;
  const atMs = Math.ceil((openedAtMs + lateS * 1000) / rulesRow.retraction_every_ms) * rulesRow.retraction_every_ms;
  await pool.query(sql`
    insert into sample (ts, component_id, region_id, good, latency_us, received_after_s)
    -- no series has a slot at half a millisecond
    select i.opened_at - interval '0.5 ms', i.component_id, g.region_id, true, 70000, ${lateS}
    from incident i
    cross join region g
    where i.opened_at = ${new Date(openedAtMs)}
  `);
  await measured(pool, untilMs, atMs);
  const startMs = performance.now();
  const { retracted } = accepted(await tick(pool, new Date(atMs)));
  const tookMs = performance.now() - startMs;
  if (retracted.length !== opened) throw new Error(`${retracted.length} of ${opened} were retracted`);
  return tookMs;
}

/**
 * Creates the wanted number of components, a hundred per venue, each with a typical latency; nothing else is watched.
 */
async function makeFleet(pool: Pool, components: number): Promise<void> {
  const at = new Date();
  await pool.query(sql`update venue set published = false`);
  await pool.query(sql`
    insert into venue (venue, name, category, position)
    select 'bench' || n, 'Bench ' || n, 'exchange', n from generate_series(0, ${components}::int / 100) n
  `);
  await pool.query(sql`
    insert into component (venue_id, component, label, cadence_ms, position)
    select v.venue_id, 'rest:' || translate(n::text, '0123456789', 'abcdefghij'), 'Number ' || n, ${cadenceMs}, n
    from generate_series(0, ${components}::int - 1) n
    join venue v on v.venue = 'bench' || n / 100
  `);
  await pool.query(sql`
    insert into typical_latency (holds_from, component_id, region_id, p50_us, hours)
    select distinct engine.typical_in_force(${at}::timestamptz + hours * interval '1 hour'), c.component_id, g.region_id, 70000, 168
    from generate_series(-2, 2) hours, component c, region g
  `);
}

/**
 * Inserts samples at the cadence between two instants. One in five hundred failed, and all samples of every nth
 * component.
 */
async function measured(pool: Pool, fromMs: number, toMs: number, everyNthFails = 0): Promise<void> {
  await pool.query(sql`
    insert into sample (ts, component_id, region_id, good, fault, latency_us, received_after_s)
    select
      slot.ts, c.component_id, g.region_id, not bad.bad, case when bad.bad then 'connect'::fault end,
      case when not bad.bad then 60000 + (random() * 20000)::int end, 0
    from component c
    join venue v using (venue_id)
    cross join region g
    cross join lateral (
      -- every series has its own phase
      select to_timestamp((n * ${cadenceMs}::bigint + (c.component_id * 7919 + g.region_id * 104729) % ${cadenceMs}) / 1000.0) as ts
      from generate_series(${Math.floor(fromMs / cadenceMs) - 1}::bigint, ${Math.floor(toMs / cadenceMs)}::bigint) n
    ) slot
    cross join lateral (
      select random() < 0.002 or (${everyNthFails}::int > 0 and c.component_id % nullif(${everyNthFails}::int, 0) = 0) as bad
    ) bad
    where v.published and slot.ts > ${new Date(fromMs)} and slot.ts <= ${new Date(toMs)}
  `);
}
