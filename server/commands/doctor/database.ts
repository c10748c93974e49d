/** What the database is, whether it fits this build, what its user may do, and who reports to it. */
import { databaseFault } from "../../database-fault.js";
import { type Pool, openPool, sql } from "../../db.js";
import type { Log } from "../../log.js";
import { schemaState } from "../../migrate.js";
import { version } from "../../package.js";
import type { Registry } from "../../registry.js";
import { databaseUrlOf, type Settings } from "../../settings.js";
import { type Finding, failure, ok, warning } from "./finding.js";

/** A clock that is off by the first is in the way of comparing logs, by the second samples are refused. */
const tellableClockMs = 500;
const bearableClockMs = 10_000;

/** @param registry null where it cannot be read */
export async function databaseFound(
  settings: Settings,
  registry: Registry | null,
  log: Log,
): Promise<Finding[]> {
  const url = databaseUrlOf(settings);
  const pool = openPool(url, {
    ...{ applicationName: "doctor", log, max: 1, statementTimeoutMs: 5_000 },
  });
  try {
    const server = await serverFound(pool);
    const schema = await schemaFound(pool);
    if (schema.grade === "failure") return [...server, schema];
    return [
      ...server,
      schema,
      await rightsFound(pool, settings),
      ...(registry ? [await venuesFound(pool, registry)] : []),
      await probesFound(pool),
    ];
  } catch (error) {
    const { message } = databaseFault(error, url) ?? (error as Error);
    return [
      failure(
        "database",
        message,
        settings.databaseUrl === null
          ? "start venuewatch up or venuewatch database, which host the embedded one, or set DATABASE_URL"
          : "probes keep their samples meanwhile; what else reads or writes waits",
      ),
    ];
  } finally {
    await pool.close();
  }
}

async function serverFound(pool: Pool): Promise<Finding[]> {
  const sentMs = Date.now();
  const [server] = await pool.query<{
    version: string;
    timescaledb: string | null;
    now: Date;
  }>(sql`
    select
      current_setting('server_version') as version,
      (select extversion from pg_extension where extname = 'timescaledb') as timescaledb,
      clock_timestamp() as now
  `);
  const tookMs = Date.now() - sentMs;
  const { version, timescaledb, now } = server!;
  const aheadMs = Math.round(sentMs + tookMs / 2 - +now);
  const clock = `this clock is ${aheadMs} ms ahead of the database's, give or take ${Math.ceil(tookMs / 2)}`;
  const certainMs = Math.abs(aheadMs) - tookMs / 2;
  const advice = "let both machines follow a time server";
  return [
    timescaledb === null
      ? failure(
          "database",
          `PostgreSQL ${version} without TimescaleDB`,
          "install TimescaleDB 2.23 or newer there, and run venuewatch migrate",
        )
      : ok(
          "database",
          `PostgreSQL ${version} with TimescaleDB ${timescaledb} answers in ${tookMs} ms`,
        ),
    certainMs > bearableClockMs
      ? failure("database clock", clock, advice)
      : certainMs > tellableClockMs
        ? warning("database clock", clock, advice)
        : ok("database clock", clock),
  ];
}

async function schemaFound(pool: Pool): Promise<Finding> {
  const { missing, unknown } = await schemaState(pool);
  if (unknown.length > 0)
    return failure(
      "schema",
      `it has ${unknown.join(", ")}, which this build does not know`,
      "run the newer build that made it",
    );
  return missing.length > 0
    ? failure(
        "schema",
        `it lacks ${missing.join(", ")}`,
        "run venuewatch migrate of this build",
      )
    : ok("schema", "that of this build");
}

/** By what each program cannot do without. */
async function rightsFound(pool: Pool, { region }: Settings): Promise<Finding> {
  const [may] = await pool.query<{
    user: string;
    probe: boolean;
    core: boolean;
    web: boolean;
  }>(sql`
    select
      current_user as user,
      has_table_privilege('sample', 'insert') and has_table_privilege('watch', 'insert') as probe,
      has_table_privilege('engine_clock', 'update') and has_table_privilege('incident', 'insert') as core,
      has_table_privilege('sample', 'select') and has_table_privilege('incident', 'select') as web
  `);
  const { user, ...programs } = may!;
  const able = Object.entries(programs)
    .filter(([, allowed]) => allowed)
    .map(([program]) => program);
  const found = `${user} may do what ${able.join(", ") || "none of our programs"} must`;
  const advice =
    "make it a member of the role of its program, vw_probe, vw_core or vw_web (sql/roles.sql)";
  if (able.length === 0) return failure("rights", found, advice);
  return region !== null && !programs.probe
    ? failure(
        "rights",
        `${found}, and REGION is set, so a probe is to run`,
        advice,
      )
    : ok("rights", found);
}

async function venuesFound(pool: Pool, registry: Registry): Promise<Finding> {
  const rows = await pool.query<{ venue: string }>(
    sql`select venue from venue where published`,
  );
  const there = new Set(rows.map(({ venue }) => venue));
  const ours = new Set(registry.venues.map(({ id }) => id));
  const lacks = [...ours].filter((id) => !there.has(id));
  const more = [...there].filter((id) => !ours.has(id));
  if (lacks.length === 0 && more.length === 0)
    return ok("venues", `the database has the ${ours.size} of the registry`);
  return warning(
    "venues",
    [
      lacks.length > 0 && `the database lacks ${lacks.join(", ")}`,
      more.length > 0 && `the registry lacks ${more.join(", ")}`,
    ]
      .filter(Boolean)
      .join("; "),
    "run venuewatch migrate with the same REGISTRY as all programs have",
  );
}

async function probesFound(pool: Pool): Promise<Finding> {
  const alive = await pool.query<{
    region: string;
    version: string;
    troubles: { kind: string; detail: string }[];
  }>(sql`
    select g.region, p.version, p.troubles
    from probe p
    join region g using (region_id)
    where p.alive_until > now()
    order by g.position, p.version
  `);
  const found =
    alive.length === 0
      ? "none reports now"
      : alive
          .map((one) =>
            [
              `${one.region} ${one.version}`,
              ...one.troubles.map(({ kind, detail }) => `${kind}: ${detail}`),
            ].join(", "),
          )
          .join("; ");
  if (alive.some((one) => one.version !== version))
    return warning(
      "probes",
      found,
      `this is ${version}: upgrade all programs together`,
    );
  return alive.some(({ troubles }) => troubles.length > 0)
    ? warning("probes", found, "look after what they name")
    : ok("probes", found);
}
