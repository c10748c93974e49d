import { setTimeout as sleep } from "node:timers/promises";
import { withLockRetry } from "./lock-retry.js";
import { type Db, type Pool, sql } from "../../shared/database/pool.js";
import type { Log } from "../../shared/log/log.js";
import { applyAs, asCore, type MigratingRole, migratingRole } from "./migrating-role.js";
import { version } from "../../shared/config/package.js";
import type { Registry } from "../../shared/registry/registry.js";
import { requireExtension } from "./require-extension.js";
import { definitionsMade } from "./schema-state.js";
import {
  type Definitions,
  readDefinitions,
  readSchema,
  readScript,
  type SchemaFile,
  sqlFolder,
} from "../../shared/database/sql-files.js";
import { syncRegistry } from "./sync-registry.js";
import { UserError } from "../../shared/process/user-error.js";

/** A step, tried until it has its locks: a transaction of its own, in which our names are found. */
type Step = <Result>(name: string, work: (tx: Db) => Promise<Result>) => Promise<Result>;

/**
 * What stood before is dropped at the next migration too, so it is not worth waiting long for whoever still reads it.
 */
const formerPatienceMs = 10_000;

/**
 * Brings a database to the schema of this build, and its tables of venues to the registry, while others read and write
 * it.
 *
 * What holds data (`schema/`) runs once, in order, and is never edited after. What only defines (`upkeep.sql`,
 * `kept-plans/`, `engine/`, `views/`, `grants.sql`, `roles.sql`, `logins.sql`) is made again where it is not what these
 * files make. Each step is a transaction of its own that looks first what is left to do: it may be killed anywhere and
 * the next run goes on, and two migrators at once take turns. Where nothing is left to do, nothing is locked that
 * anybody waits for.
 *
 * @param pool of two connections at least
 * @param folder where the SQL files are
 * @param patienceMs for how long a step tries to get its locks
 * @throws UserError when the user has not the rights, when there is no TimescaleDB that serves, when an applied schema
 * file was edited, when the
 *   database is newer than this build, or when somebody else keeps a lock
 */
export async function migrate(
  pool: Pool,
  registry: Registry,
  log: Log,
  folder = sqlFolder,
  patienceMs = 60_000,
): Promise<void> {
  const role = await migratingRole(pool);
  await requireExtension(pool, log);
  const schema = await readSchema(folder);
  const definitions = await readDefinitions(folder);
  const stepWithin =
    (withinMs: number): Step =>
    (name, work) =>
      withLockRetry(pool, log, name, inOurNames(work), withinMs);
  const step = stepWithin(patienceMs);

  refuseOthers(schema, await appliedFiles(pool));
  if (!(await areMade(pool, definitions)))
    await step("what migrations stand on", (tx) => tx.script(definitions.prelude));
  const applied = await appliedFiles(pool);
  if (applied.size === 0)
    log.info("creating the tables of venuewatch in an empty database", {
      files: schema.length,
    });
  for (const file of schema) if (!applied.has(file.name)) await applyFile(step, log, role, schema, file);
  await giveToOwners(pool, step);
  if (!(await areMade(pool, definitions))) await makeDefinitions(pool, step, log, role, schema, definitions);
  const formerMs = Math.min(patienceMs, formerPatienceMs);
  await dropFormer(pool, stepWithin(formerMs), log, formerMs);
  await step("the registry", (tx) => syncAsCore(tx, registry));
}

/**
 * As the prelude sets the database, for connections that are older; the embedded one has a single connection for all.
 */
function inOurNames<Result>(work: (tx: Db) => Promise<Result>) {
  return async (tx: Db) => {
    await tx.script("set local search_path = venuewatch, public; set local client_min_messages = warning");
    return work(tx);
  };
}

/** Names and checksums. */
async function appliedFiles(db: Db): Promise<Map<string, string>> {
  const [table] = await db.query<{ here: boolean }>(
    sql`select to_regclass('venuewatch.migration') is not null as here`,
  );
  if (!table!.here) return new Map();
  const rows = await db.query<{ name: string; checksum: string }>(
    sql`select name, checksum from venuewatch.migration order by name`,
  );
  return new Map(rows.map((row) => [row.name, row.checksum]));
}

/**
 * Views and functions stand meanwhile as they are. Only where a file takes away what they stand on, they are dropped
 * with it, and what needs them fails until they are made again.
 */
async function applyFile(
  step: Step,
  log: Log,
  role: MigratingRole,
  schema: SchemaFile[],
  file: SchemaFile,
): Promise<void> {
  const begunMs = performance.now();
  const apply = (before: string) =>
    step(`schema file ${file.name}`, async (tx) => {
      const applied = await appliedFiles(tx);
      refuseOthers(schema, applied);
      if (applied.has(file.name)) return false;
      await tx.script(before);
      await applyAs(role, tx, () => textFor(tx, file));
      await tx.query(sql`
        insert into venuewatch.migration (name, checksum) values (${file.name}, ${file.checksum})
      `);
      return true;
    });
  const applyAnyway = async (error: unknown) => {
    if (!definitionsStandOnIt(error)) throw error;
    log.warn("drops views and functions until all files are applied", {
      name: file.name,
    });
    const drops = ["drop-definitions.sql", "drop-former.sql"].map(readScript);
    return apply((await Promise.all(drops)).join("\n"));
  };
  try {
    const isOurs = await apply("").catch(applyAnyway);
    const tookMs = Math.round(performance.now() - begunMs);
    if (isOurs) log.info("applied schema file", { name: file.name, tookMs });
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new Error(`The schema file ${file.name} failed and was undone: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

async function textFor(tx: Db, { text, online }: SchemaFile): Promise<string> {
  if (online === undefined) return text;
  const [history] = await tx.query<{ begun: boolean }>(sql`select exists (select from venuewatch.sample) as begun`);
  return history!.begun ? online : text;
}

/** A column that a view shows cannot be dropped (2BP01), nor get another type (0A000). */
function definitionsStandOnIt(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code === "2BP01" || code === "0A000";
}

async function areMade(db: Db, { checksum }: Definitions): Promise<boolean> {
  const made = await definitionsMade(db);
  return made !== null && made.checksum === checksum && made.intact;
}

async function makeDefinitions(
  pool: Pool,
  step: Step,
  log: Log,
  role: MigratingRole,
  schema: SchemaFile[],
  definitions: Definitions,
): Promise<void> {
  const begunMs = performance.now();
  const dropFormer = await readScript("drop-former.sql");
  const isOurs = await step("views and functions", async (tx) => {
    refuseOthers(schema, await appliedFiles(tx));
    if (await areMade(tx, definitions)) return false;
    // of a migration that was killed
    await tx.script(dropFormer);
    await tx.script(definitions.text);
    // other views may show the same past otherwise
    await asCore(tx, () => tx.query(sql`call upkeep.published_past_changed()`));
    await tx.query(sql`
      insert into venuewatch.definition (checksum, fingerprint, version)
      values (${definitions.checksum}, venuewatch.definitions_fingerprint(), ${version})
      on conflict (only_row) do update
      set checksum = excluded.checksum, fingerprint = excluded.fingerprint, version = excluded.version, made_at = now()
    `);
    // last, as it sets the search path
    if (role.isSuperuser) await tx.script(definitions.superuser);
    return true;
  });
  const tookMs = Math.round(performance.now() - begunMs);
  if (!isOurs) return;
  log.info("made views and functions", { tookMs });
  const [rights] = await pool.query<{ unlimited: boolean }>(
    sql`select has_function_privilege('public', 'pg_notify(text, text)', 'execute') as unlimited`,
  );
  if (rights!.unlimited)
    log.warn(
      `some limits on logins take a superuser: ask for psql -X -v ON_ERROR_STOP=1 -d ${role.database} -f sql/superuser.sql`,
      { user: role.name },
    );
}

/** One by one: a statement that reads two of them could hold one and wait for the other, again and again. */
async function giveToOwners(pool: Pool, step: Step): Promise<void> {
  const others = await pool.file<{
    relation: string;
    is_view: boolean;
    owner: string;
  }>("not_yet_owned");
  const grants = await readScript("grants.sql");
  for (const { relation, is_view, owner } of others)
    await step(`the owner of ${relation}`, async (tx) => {
      const name = sql.ident("venuewatch", relation);
      // who gets it must be allowed to make it there
      await tx.script("grant create on schema venuewatch to vw_core");
      await tx.query(
        is_view
          ? sql`alter materialized view ${name} owner to ${sql.ident(owner)}`
          : sql`alter table ${name} owner to ${sql.ident(owner)}`,
      );
      await tx.script("revoke create on schema venuewatch from vw_core");
      // what was granted to the new owner went into its own rights, and what the old one had as the owner is gone
      await tx.script(grants);
    });
}

/** Core may not write the tables of the registry, but for this transaction. */
async function syncAsCore(tx: Db, registry: Registry): Promise<void> {
  await tx.script("grant insert, update on region, venue, component to vw_core");
  await asCore(tx, () => syncRegistry(tx, registry));
  await tx.script("revoke insert, update on region, venue, component from vw_core");
}

/**
 * Drops what stood before, once every statement is over that may have found it by its name. It is in nobody's way, so
 * where somebody reads it for longer, as a dump does, it is left to the next migration.
 */
async function dropFormer(pool: Pool, step: Step, log: Log, patienceMs: number): Promise<void> {
  const [former] = await pool.query<{ stand: boolean }>(sql`
    select exists (select from pg_namespace where starts_with(nspname, 'venuewatch_former_')) as stand
  `);
  if (!former!.stand) return;
  try {
    await othersEnd(pool, patienceMs);
    // roll-ups last, since former views stand on them
    for (const name of ["drop-former.sql", "drop-former-rollups.sql"]) {
      const script = await readScript(name);
      await step("dropping what stood before", (tx) => tx.script(script));
    }
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    log.warn("what stood before is left to the next migration", { error });
  }
}

/** @throws UserError where a transaction that runs now does not end */
async function othersEnd(pool: Pool, withinMs: number): Promise<void> {
  const untilMs = performance.now() + withinMs;
  let running = await underWay(pool, null);
  for (let pauseMs = 5; running.length > 0; pauseMs *= 2) {
    if (performance.now() + pauseMs > untilMs)
      throw new UserError(
        `${running.length} transactions began before and go on: select * from pg_stat_activity shows them`,
      );
    await sleep(pauseMs);
    running = await underWay(pool, running);
  }
}

async function underWay(pool: Pool, among: string[] | null): Promise<string[]> {
  const [row] = await pool.file<{ running: string[] }>("under_way", [among]);
  return row!.running;
}

function refuseOthers(files: SchemaFile[], applied: Map<string, string>): void {
  refuseNewerDatabase(files, [...applied.keys()]);
  refuseEditedFiles(files, applied);
}

function refuseNewerDatabase(files: SchemaFile[], applied: string[]): void {
  const known = new Set(files.map(({ name }) => name));
  const unknown = applied.filter((name) => !known.has(name));
  if (unknown.length > 0)
    throw new UserError(
      `The database was migrated by a newer build: it has ${unknown.join(", ")}, which this build does not know. ` +
        "Run the newer build, or point DATABASE_URL or DATA_DIR at another database.",
    );
}

function refuseEditedFiles(files: SchemaFile[], applied: Map<string, string>): void {
  const edited = files.filter(({ name, checksum }) => applied.has(name) && applied.get(name) !== checksum);
  if (edited.length > 0)
    throw new UserError(
      `A schema file must never change once applied, but ${edited.map(({ name }) => name).join(", ")} ` +
        "differs from what this database was made with. Undo the edit and put the change into a new file.",
    );
}
