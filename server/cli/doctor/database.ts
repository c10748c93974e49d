/** Checks the database: versions, clock, schema, rights, venues, probes and engine. */
import type { DatabaseError } from "pg";
import { version } from "../../../shared/config/package.js";
import { databaseUrlOf, type Settings } from "../../../shared/config/settings.js";
import { databaseFault } from "../../../shared/database/fault.js";
import { connect, type Pool, sql } from "../../../shared/database/pool.js";
import type { Log } from "../../../shared/log/log.js";
import { watchedVenues } from "../../../shared/registry/chain-venues.js";
import type { Registry } from "../../../shared/registry/registry.js";
import { definitionsFault, schemaState } from "../../database/schema-state.js";
import {
  adviceOnServer,
  communityAdvice,
  isOlder,
  isSupported,
  oldestTimescaledb,
  supportedRange,
} from "../../database/supported-servers.js";
import { type Finding, failure, findingOf, ok, warning } from "./finding.js";
import { adviceOn } from "./venues.js";

/** A clock error beyond the first makes logs hard to compare; beyond the second, samples are refused. */
const warnClockMs = 500;
const maxClockMs = 10_000;

/** @param registry null where it is not valid */
export async function databaseFound(settings: Settings, registry: Registry | null, log: Log): Promise<Finding[]> {
  const url = databaseUrlOf(settings);
  let pool: Pool | undefined;
  try {
    pool = await connect(url, { applicationName: "doctor", log, max: 1, statementTimeoutMs: 5_000 });
    return await findingsOn(pool, settings.region, registry);
  } catch (error) {
    const { message } = databaseFault(error, url) ?? (error as Error);
    return [
      failure(
        "database",
        message,
        settings.databaseUrl === null
          ? "start venuewatch up or venuewatch database, which host the embedded database, or set DATABASE_URL"
          : "probes store their samples meanwhile; everything else that needs the database waits",
      ),
    ];
  } finally {
    await pool?.close();
  }
}

/** @throws the error where no query is possible at all */
export async function findingsOn(pool: Pool, region: string | null, registry: Registry | null): Promise<Finding[]> {
  const server = await serverFound(pool);
  const rights = await checkedDatabase("rights", () => rightsFound(pool, region));
  const schema = await checkedDatabase("schema", () => schemaFound(pool));
  // the following checks query objects of this build's schema
  if (schema.grade === "failure") return [...server, schema, rights];
  return [
    ...server,
    schema,
    rights,
    ...(registry ? [await checkedDatabase("venues", () => venuesFound(pool, registry))] : []),
    ...(registry ? [await checkedDatabase("never good", () => neverGoodFound(pool, registry))].flat() : []),
    await checkedDatabase("vantages", () => vantagesFound(pool)),
    await checkedDatabase("probes", () => probesFound(pool, region)),
    await checkedDatabase("engine", () => engineFound(pool)),
  ];
}

function checkedDatabase<Found extends Finding | Finding[]>(
  check: string,
  look: () => Promise<Found>,
): Promise<Found | Finding> {
  return findingOf(
    check,
    look,
    (code) => /^[0-9][0-9A-Z]{4}$/.test(code),
    "correct what the database refuses; sql/database/roles.sql has the rights of its users",
  );
}

async function serverFound(pool: Pool): Promise<Finding[]> {
  const sentMs = Date.now();
  const [server] = await pool.query<{
    version: string;
    timescaledb: string | null;
    license: string | null;
    now: Date;
  }>(sql`
    select
      current_setting('server_version') as version,
      (select extversion from pg_extension where extname = 'timescaledb') as timescaledb,
      current_setting('timescaledb.license', true) as license,
      clock_timestamp() as now
  `);
  const tookMs = Date.now() - sentMs;
  const { version, timescaledb, license, now } = server!;
  const aheadMs = Math.round(sentMs + tookMs / 2 - +now);
  const clock = `this clock is ${aheadMs} ± ${Math.ceil(tookMs / 2)} ms ahead of the database's`;
  const certainMs = Math.abs(aheadMs) - tookMs / 2;
  const advice = "synchronise both machines with a time server";
  return [
    versionsFound(version, timescaledb, license, tookMs),
    certainMs > maxClockMs
      ? failure("database clock", clock, advice)
      : certainMs > warnClockMs
        ? warning("database clock", clock, advice)
        : ok("database clock", clock),
  ];
}

function versionsFound(postgres: string, timescaledb: string | null, license: string | null, tookMs: number): Finding {
  if (timescaledb === null)
    return failure(
      "database",
      `PostgreSQL ${postgres} without TimescaleDB`,
      `install TimescaleDB there, then run venuewatch migrate; this build was tested with ${supportedRange}`,
    );
  const found = `PostgreSQL ${postgres} with TimescaleDB ${timescaledb} answers in ${tookMs} ms`;
  if (license === "apache")
    return failure("database", `${found}, but timescaledb.license is ${license}, not timescale`, communityAdvice);
  const versions = { postgres, timescaledb };
  if (isSupported(versions)) return ok("database", found);
  // migrate refuses an older one
  const grade = isOlder(timescaledb, oldestTimescaledb) ? failure : warning;
  return grade("database", `${found}, but this build was tested with ${supportedRange}`, adviceOnServer(versions));
}

async function schemaFound(pool: Pool): Promise<Finding> {
  const { missing, unknown } = await schemaState(pool);
  if (unknown.length > 0)
    return failure(
      "schema",
      `it has ${unknown.join(", ")}, which this build does not know`,
      "run the newer build that created it",
    );
  const advice = "run venuewatch migrate of this build";
  if (missing.length > 0) return failure("schema", `it lacks ${missing.join(", ")}`, advice);
  const fault = await definitionsFault(pool);
  return fault === null ? ok("schema", "matches this build") : failure("schema", `it ${fault}`, advice);
}

/**
 * Checks the rights that each program requires. Objects that do not exist yet count as allowed: the migration grants
 * them.
 */
async function rightsFound(pool: Pool, region: string | null): Promise<Finding> {
  const rows = await pool.query<{
    user: string;
    program: string;
    allowed: boolean;
  }>(sql`
    select
      current_user as user,
      n.program,
      bool_and(
        -- without usage of the schema, looking up its tables is refused
        case when has_schema_privilege(to_regnamespace('venuewatch'), 'usage') is false then false
        else coalesce(has_table_privilege(to_regclass('venuewatch.' || n.relation), n.privilege), true) end
      ) as allowed
    from (
      values
        ('core', 'engine_clock', 'update'),
        ('core', 'incident', 'insert'),
        ('web', 'sample', 'select'),
        ('web', 'incident', 'select')
    ) as n (program, relation, privilege)
    group by n.program
    union all
    select
      current_user,
      'probe',
      case when has_schema_privilege(to_regnamespace('upkeep'), 'usage') is false then false
      else coalesce(has_function_privilege(to_regprocedure('upkeep.record_samples(text,json)'), 'execute'), true) end
    order by program
  `);
  const able = rows.filter(({ allowed }) => allowed).map(({ program }) => program);
  const found = `${rows[0]!.user} has the rights of ${able.join(", ") || "none of our programs"}`;
  const advice = "make it a member of its program's role, vw_probe, vw_core or vw_web (sql/database/roles.sql)";
  if (able.length === 0) return failure("rights", found, advice);
  if (region === null) return ok("rights", found);
  if (!able.includes("probe")) return failure("rights", `${found}, but REGION is set, so a probe is to run`, advice);
  try {
    await pool.query(sql`select upkeep.require_region(${region})`);
  } catch (error) {
    const { code, message, hint } = error as Partial<DatabaseError>;
    if (code !== "42501") throw error;
    return failure("rights", message!, hint ?? advice);
  }
  return ok("rights", found);
}

async function venuesFound(pool: Pool, registry: Registry): Promise<Finding> {
  const rows = await pool.query<{ venue: string }>(sql`select venue from venue where published`);
  const there = new Set(rows.map(({ venue }) => venue));
  const ours = new Set(watchedVenues(registry).map(({ id }) => id));
  const lacks = [...ours].filter((id) => !there.has(id));
  const more = [...there].filter((id) => !ours.has(id));
  if (lacks.length === 0 && more.length === 0) return ok("venues", `the database has all ${ours.size} of the registry`);
  return warning(
    "venues",
    [
      lacks.length > 0 && `the database lacks ${lacks.join(", ")}`,
      more.length > 0 && `the registry lacks ${more.join(", ")}`,
    ]
      .filter(Boolean)
      .join("; "),
    "run venuewatch migrate with the REGISTRY of all programs",
  );
}

/** More than these most likely have the same reason. */
const mostNeverGood = 20;

/** For a fresh board these are nearly always an entry that is wrong, a country that a venue blocks, or the network. */
async function neverGoodFound(pool: Pool, registry: Registry): Promise<Finding[]> {
  const check = "never good";
  const [may] = await pool.query<{ look: boolean }>(
    sql`select has_table_privilege('component_entry', 'select') and has_table_privilege('region_state', 'select') as look`,
  );
  if (!may!.look) return [ok(check, "not checked: this user may not see it")];
  const rows = await pool.file<{ venue: string; component: string; faults: string[] }>("never_good");
  if (rows.length === 0) return [ok(check, "every component that is measured was good once")];
  const found = rows.slice(0, mostNeverGood).map(({ venue, component, faults }) => {
    const entry = watchedVenues(registry).find(({ id }) => id === venue);
    const what = `never seen good from here: ${venue} ${component}: ${faults.join(", ")}`;
    return warning(check, what, adviceOn(faults, entry));
  });
  const left = rows.length - found.length;
  if (left === 0) return found;
  return [...found, warning(check, `never seen good from here: ${left} more components`, "first correct the others")];
}

interface Reporting {
  region: string;
  /** The latest heartbeat of the region's probes. */
  seenAt: Date;
  /** Living probes. */
  probes: { version: string; troubles: { kind: string; detail: string }[] }[];
}

/** @param region a region that must have a probe; null: none */
async function probesFound(pool: Pool, region: string | null): Promise<Finding> {
  const regions = await pool.query<Reporting>(sql`
    select
      g.region,
      max(p.seen_at) as "seenAt",
      coalesce(
        jsonb_agg(jsonb_build_object('version', p.version, 'troubles', p.troubles) order by p.version, p.process)
          filter (where p.alive_until > now()),
        '[]'
      ) as probes
    from probe p
    join region g using (region_id)
    where g.published
    group by g.region_id
    order by g.position
  `);
  const silent = regions.filter(({ probes }) => probes.length === 0);
  const alive = regions.flatMap(({ probes }) => probes);
  const found =
    [
      ...regions.map(reportOf),
      ...(region !== null && !regions.some((one) => one.region === region)
        ? [`${region}: no probe has ever reported`]
        : []),
    ].join("; ") || "no probe has ever reported";
  if (silent.length > 0) return warning("probes", found, "check on their machines that they run, and see their logs");
  if (alive.some((one) => one.version !== version))
    return warning("probes", found, `this is ${version}: upgrade all programs together`);
  return alive.some(({ troubles }) => troubles.length > 0)
    ? warning("probes", found, "correct the reported troubles")
    : ok("probes", found);
}

function reportOf({ region, seenAt, probes }: Reporting): string {
  if (probes.length === 0) return `${region}: no heartbeat since ${seenAt.toISOString()}`;
  return probes
    .map(({ version, troubles }) =>
      [`${region} ${version}`, ...troubles.map(({ kind, detail }) => `${kind}: ${detail}`)].join(", "),
    )
    .join("; ");
}

/** Regions on one machine are no quorum against trouble of its network. */
async function vantagesFound(pool: Pool): Promise<Finding> {
  const machines = await pool.query<{ regions: string[] }>(sql`
    select array_agg(m.region order by m.position) as regions
    from (
      select distinct p.machine, g.region, g.position
      from probe p
      join region g using (region_id)
      where p.alive_until > now() and g.published and p.machine is not null
    ) m
    group by m.machine
    order by min(m.position)
  `);
  const shared = machines.filter(({ regions }) => regions.length > 1);
  if (shared.length === 0)
    return ok(
      "vantages",
      machines.length === 0 ? "no living probe has reported its machine" : "no two regions have probes on one machine",
    );
  const found = shared.map(({ regions }) => `${regions.join(", ")} have probes on one machine`).join("; ");
  return warning(
    "vantages",
    `${found}: together they are one vantage, and trouble of its network may look like trouble of venues`,
    "run venuewatch probe with one REGION on each of several machines, preferably in different networks (docs/production.md)",
  );
}

async function engineFound(pool: Pool): Promise<Finding> {
  const [may] = await pool.query<{ look: boolean }>(sql`select has_schema_privilege('api', 'usage') as look`);
  if (!may!.look) return ok("engine", "not checked: this user may not see it");
  const [clock] = await pool.file<{ ticked_at: Date | null; fresh: boolean }>("readiness");
  const { ticked_at: tickedAt, fresh } = clock!;
  if (tickedAt === null)
    return warning(
      "engine",
      "it has never decided anything, so every state is unknown",
      "start venuewatch core, or venuewatch up",
    );
  const found = `it has decided up to ${tickedAt.toISOString()}`;
  return fresh
    ? ok("engine", found)
    : failure(
        "engine",
        `${found}, so every state is unknown`,
        "check that a core runs, see its log, and check the database's clock",
      );
}
