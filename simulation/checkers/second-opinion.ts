/**
 * The second implementation of the rule book, which reads the same samples, agrees with all records of the engine, and
 * with its states at the instants at which they were noted.
 */
import { type Pool, sql } from "../../shared/database/pool.js";
import { engineLines, engineRecords, opinionLines, recordLines } from "../../test/support/engine-on-worlds.js";
import { rulesOfTheBook } from "../../test/support/random-runs.js";
import { type Opinion, secondOpinion } from "../../test/support/second-opinion.js";
import type { World } from "../../test/second-opinion/world.js";
import type { Cluster } from "../cluster.js";
import { restartEveryMs } from "../operator.js";

export async function checkSecondOpinion(cluster: Cluster): Promise<string[]> {
  const { ask, ledger } = cluster;
  const opinion = await opinionOn(cluster);
  const [lines, records, dispatched] = await ask(
    async (pool) => [await engineLines(pool), await engineRecords(pool), await readDispatched(pool)] as const,
  );
  const moments = new Map(opinion.moments.map((moment) => [moment.at, moment]));
  const instantMs = opinion.moments.at(-1)!.at;
  const states = [...ledger.states, { instantMs, lines }].flatMap(({ instantMs, lines }) =>
    differing(
      new Date(instantMs).toISOString(),
      sinceItsRollout(cluster, lines),
      sinceItsRollout(cluster, knownTo(cluster, lines, opinionLines([moments.get(instantMs)!]))),
    ),
  );
  const expected = withoutDispatched(opinion, dispatched, cluster);
  return [
    ...(ledger.states.length === 0 ? ["expected the engine's states every 20 s, got none (simulation/states.ts)"] : []),
    ...differing("in the end", recordLines(records), recordLines(expected)),
    ...states,
  ];
}

/**
 * The second opinion knows no channels: an event that left the outbox before its incident was retracted is not dropped.
 */
function withoutDispatched(opinion: Opinion, dispatchedMs: ReadonlyMap<string, number>, { ledger }: Cluster): Opinion {
  const retracted = new Map(opinion.incidents.map(({ slug, retractedAt }) => [slug, retractedAt]));
  const decidedMs = (instantMs: number) =>
    Math.min(...ledger.decisions.filter(({ instant }) => +instant >= instantMs).map(({ atMs }) => atMs));
  const alerts = opinion.alerts.map((alert) => {
    const sentMs = dispatchedMs.get(`${alert.kind} ${alert.slug}`) ?? Infinity;
    return { ...alert, dropped: alert.dropped && sentMs > decidedMs(retracted.get(alert.slug)!) };
  });
  return { ...opinion, alerts };
}

async function readDispatched(pool: Pool): Promise<ReadonlyMap<string, number>> {
  const rows = await pool.query<{ event: string; atMs: number }>(sql`
    select kind || ' ' || slug as event, extract(epoch from dispatched_at)::float8 * 1000 as "atMs"
    from alert_event
    join incident using (incident_id)
    where dispatched_at is not null
  `);
  return new Map(rows.map(({ event, atMs }) => [event, atMs]));
}

function addedVenues({ registry, largerRegistry }: Cluster): string[] {
  return largerRegistry.venues.slice(registry.venues.length).map(({ id }) => id);
}

/** The second opinion knows the final registry from the beginning. */
function knownTo(cluster: Cluster, engine: string, second: string): string {
  const isOf = (line: string, venue: string) => line.startsWith(`${venue} `);
  const unknown = addedVenues(cluster).filter((venue) => !engine.split("\n").some((line) => isOf(line, venue)));
  const lines = second.split("\n").filter((line) => !unknown.some((venue) => isOf(line, venue)));
  return lines.join("\n");
}

/** No probe measured the added venue before it was restarted, so states that are older are equally old. */
function sinceItsRollout(cluster: Cluster, lines: string): string {
  const migratedMs = cluster.ledger.periods.get("registry")?.[0]?.fromMs ?? -Infinity;
  const later = (ms: string) => String(Math.max(Number(ms), migratedMs + restartEveryMs));
  return lines
    .split("\n")
    .map((line) => {
      const isAdded = addedVenues(cluster).some((venue) => line.startsWith(`${venue} `));
      return isAdded ? line.replace(/\b\d{13}\b/g, later) : line;
    })
    .join("\n");
}

const opinions = new WeakMap<Cluster, Promise<Opinion>>();

/** Computed once, after the cores have stopped. */
export function opinionOn(cluster: Cluster): Promise<Opinion> {
  const opinion = opinions.get(cluster) ?? computeOpinion(cluster);
  opinions.set(cluster, opinion);
  return opinion;
}

async function computeOpinion({ ask, registry, ledger }: Cluster): Promise<Opinion> {
  const stored = await ask(readWorld);
  return secondOpinion({
    ...stored,
    rules: rulesOfTheBook,
    regions: registry.regions.map(({ id }) => id),
    instants: instantsBetween(Math.min(...ledger.decisions.map(({ instant }) => +instant)), stored.lastInstant),
    retractions: [],
  });
}

function differing(when: string, engine: string, second: string): string[] {
  const [engineSays, secondSays] = [engine.split("\n"), second.split("\n")];
  const only = (some: readonly string[], others: readonly string[]) => some.filter((line) => !others.includes(line));
  return [
    ...only(engineSays, secondSays).map((line) => `only the engine says: ${when}: ${line}`),
    ...only(secondSays, engineSays).map((line) => `only the second opinion says: ${when}: ${line}`),
  ];
}

/** No fault lasts as long as a pause after which the engine skips instants. */
function instantsBetween(firstMs: number, lastMs: number): number[] {
  const { step_ms } = rulesOfTheBook;
  return Array.from({ length: (lastMs - firstMs) / step_ms + 1 }, (_, place) => firstMs + place * step_ms);
}

type StoredWorld = Pick<World, "venues" | "samples" | "typical" | "vantages"> & { lastInstant: number };

/** Everything that the engine had to decide from. */
async function readWorld(pool: Pool): Promise<StoredWorld> {
  const [row] = await pool.query<{ world: StoredWorld }>(sql`
    with watched as (
      select c.component_id, c.position, c.component, c.kind, c.cadence_ms, v.venue_id, v.venue, v.position as venue_position
      from component c
      join venue v using (venue_id)
      where c.published and v.published
    )
    select jsonb_build_object(
      'lastInstant', (select extract(epoch from ticked_at) * 1000 from engine_clock),
      'venues', (
        select jsonb_agg(jsonb_build_object('id', venue, 'components', components) order by venue_position)
        from (
          select venue, venue_position, jsonb_agg(
            -- no region has seen it good before the history
            jsonb_build_object('id', component, 'kind', kind, 'cadenceMs', cadence_ms, 'isNew', true) order by position
          ) as components
          from watched
          group by venue, venue_position
        ) v
      ),
      'samples', (
        select coalesce(jsonb_agg(jsonb_build_object(
          'venue', w.venue, 'component', w.component, 'region', g.region, 'ts', extract(epoch from s.ts) * 1000,
          'fault', s.fault, 'unserved', coalesce(s.unserved, false), 'latencyUs', s.latency_us,
          'receivedAfterS', s.received_after_s
        )), '[]')
        from sample s
        join watched w using (component_id)
        join region g using (region_id)
      ),
      'typical', (
        select coalesce(jsonb_agg(jsonb_build_object(
          'venue', w.venue, 'component', w.component, 'region', g.region,
          'boundary', extract(epoch from t.holds_from - interval '10 minutes') * 1000, 'latencyUs', t.p50_us
        )), '[]')
        from typical_latency t
        join watched w using (component_id)
        join region g using (region_id)
        where t.p50_us is not null
      ),
      'vantages', (
        select coalesce(jsonb_agg(jsonb_build_object(
          'region', g.region, 'holdsFrom', extract(epoch from r.holds_from) * 1000, 'machine', r.machine
        )), '[]')
        from region_vantage r
        join region g using (region_id)
        -- infinity: no tick has seen it yet
        where r.holds_from < 'infinity'
      )
    ) as world
  `);
  return row!.world;
}
