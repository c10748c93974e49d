import { setTimeout as sleep } from "node:timers/promises";
import { version } from "../../shared/config/package.js";
import { type Db, type Pool, sql } from "../../shared/database/pool.js";
import {
  type Definitions,
  readDefinitions,
  readSchema,
  readScript,
  type SchemaFile,
  sqlFolder,
} from "../../shared/database/sql-files.js";
import type { Log } from "../../shared/log/log.js";
import { UserError } from "../../shared/process/user-error.js";
import type { Registry } from "../../shared/registry/registry.js";
import { applyAs, asCore, giveToOwners, type MigratingRole, migratingRole } from "./migrating-role.js";
import { definitionsMade } from "./schema-state.js";
import { requireExtension } from "./supported-servers.js";
import { syncRegistry } from "./sync-registry.js";

/** Runs a step, with retries until it gets its locks, in a separate transaction with our search path. */
type Step = <Result>(name: string, work: (tx: Db) => Promise<Result>) => Promise<Result>;

/**
 * The next migration drops former definitions, too, so it is not worth waiting long for their readers.
 */
const formerPatienceMs = 10_000;

/**
 * Migrates a database to the schema of this build, and syncs its tables of venues with the registry, while others read
 * and write it.
 *
 * Files for tables (`schema/`) run once, in order, and are never edited afterwards. Files that only define (the
 * numbered files of each area, and the rights in `database/`) run again if the database differs from their result.
 * Each step is a separate transaction that first checks what is left to do: if it is killed, the next run continues,
 * and two concurrent migrators take turns. If nothing is left to do, it takes no lock that anybody waits for.
 *
 * @param pool with at least two connections
 * @param folder the folder of the SQL files
 * @param patienceMs how long a step tries to get its locks
 * @throws UserError if the user lacks rights, if there is no suitable TimescaleDB, if an applied schema file was
 * edited, if the database is newer than this build, or if somebody else holds a lock for too long
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
    await step("the prelude of migrations", (tx) => tx.script(definitions.prelude));
  const applied = await appliedFiles(pool);
  if (applied.size === 0)
    log.info("creating the tables of venuewatch in an empty database", {
      files: schema.length,
    });
  for (const file of schema) if (!applied.has(file.name)) await applyFile(step, log, role, schema, file);
  // after a restore without owners
  if ((await pool.file("not_yet_owned")).length > 0) await step("the owners of tables", giveToOwners);
  if (!(await areMade(pool, definitions))) await makeDefinitions(pool, step, log, role, schema, definitions);
  const formerMs = Math.min(patienceMs, formerPatienceMs);
  await dropFormer(pool, stepWithin(formerMs), log, formerMs);
  await step("the registry", (tx) => syncAsCore(tx, registry));
}

/**
 * Repeats the prelude's settings of the database for this transaction: older connections do not have them, and the
 * embedded database has a single session for all.
 */
function inOurNames<Result>(work: (tx: Db) => Promise<Result>) {
  return async (tx: Db) => {
    await tx.script(
      "set local search_path = venuewatch, public; set local client_min_messages = warning; set local row_security = off",
    );
    return work(tx);
  };
}

/** Names and checksums of the schema files that were applied. */
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
 * Applies a schema file. Views and functions stay unchanged meanwhile. Only if the file removes something that they
 * depend on are they dropped with it; programs that need them fail until they are created again.
 */
async function applyFile(
  step: Step,
  log: Log,
  role: MigratingRole,
  schema: SchemaFile[],
  file: SchemaFile,
): Promise<void> {
  const startMs = performance.now();
  const apply = (before: string) =>
    step(`schema file ${file.name}`, async (tx) => {
      const applied = await appliedFiles(tx);
      refuseOthers(schema, applied);
      if (applied.has(file.name)) return false;
      await tx.script(before);
      await applyAs(role, tx, file.text);
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
    const tookMs = Math.round(performance.now() - startMs);
    if (isOurs) log.info("applied schema file", { name: file.name, tookMs });
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new Error(`The schema file ${file.name} failed and was undone: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** A column that a view shows cannot be dropped (2BP01), and its type cannot be changed (0A000). */
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
  const startMs = performance.now();
  const dropFormer = await readScript("drop-former.sql");
  const isOurs = await step("views and functions", async (tx) => {
    refuseOthers(schema, await appliedFiles(tx));
    if (await areMade(tx, definitions)) return false;
    // former definitions of a migration that was killed
    await tx.script(dropFormer);
    await tx.script(definitions.text);
    // other views may show the same past differently
    await asCore(tx, (core) => core.script("call upkeep.published_past_changed()"));
    await tx.query(sql`
      insert into venuewatch.definition (checksum, fingerprint, version)
      values (${definitions.checksum}, venuewatch.definitions_fingerprint(), ${version})
      on conflict (only_row) do update
      set checksum = excluded.checksum, fingerprint = excluded.fingerprint, version = excluded.version, made_at = now()
    `);
    // last, because it sets the search path
    if (role.isSuperuser) await tx.script(definitions.superuser);
    return true;
  });
  const tookMs = Math.round(performance.now() - startMs);
  if (!isOurs) return;
  log.info("made views and functions", { tookMs });
  const [rights] = await pool.query<{ unlimited: boolean }>(
    sql`select has_function_privilege('public', 'pg_notify(text, text)', 'execute') as unlimited`,
  );
  if (rights!.unlimited)
    log.warn(
      `some limits on logins need a superuser: ask an administrator to run psql -X -v ON_ERROR_STOP=1 -d ${role.database} -f sql/database/superuser.sql`,
      { user: role.name },
    );
}

/** Core may write the tables of the registry only in this transaction. */
async function syncAsCore(tx: Db, registry: Registry): Promise<void> {
  await tx.script("grant insert, update on region, venue, component to vw_core");
  await asCore(tx, (core) => syncRegistry(core, registry));
  await tx.script("revoke insert, update on region, venue, component from vw_core");
}

/**
 * Drops the former definitions once every statement that may have resolved their names has ended. They are harmless, so
 * if somebody reads them for longer, as a dump does, they are left to the next migration.
 */
async function dropFormer(pool: Pool, step: Step, log: Log, patienceMs: number): Promise<void> {
  const [former] = await pool.query<{ stand: boolean }>(sql`
    select exists (select from pg_namespace where starts_with(nspname, 'venuewatch_former_')) as stand
  `);
  if (!former!.stand) return;
  try {
    await othersEnd(pool, patienceMs);
    const script = await readScript("drop-former.sql");
    await step("dropping the former definitions", (tx) => tx.script(script));
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    log.warn("the former definitions are left to the next migration", { error });
  }
}

/** @throws UserError if a transaction that is running now does not end in time */
async function othersEnd(pool: Pool, withinMs: number): Promise<void> {
  const untilMs = performance.now() + withinMs;
  let running = await underWay(pool, null);
  for (let pauseMs = 5; running.length > 0; pauseMs *= 2) {
    if (performance.now() + pauseMs > untilMs)
      throw new UserError(
        `${running.length} older transactions are still running: select * from pg_stat_activity shows them`,
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
        "differs from the file that this database was migrated with. Undo the edit and put the change into a new file.",
    );
}

// Transactions that change relations which others use. While such a transaction waits for a lock, later ones queue
// behind it. So it waits only briefly, rolls back, and retries. It rolls back before the database checks for deadlocks
// (`deadlock_timeout`, a second), so that PostgreSQL never ends somebody else's transaction because of one.

/**
 * The work under the lock takes about as long again, so a reader that arrives at the worst instant still waits for well
 * below a second.
 */
export const lockTimeoutMs = 300;

const firstPauseMs = 250;
const longestPauseMs = 5_000;

/**
 * Whether a retry can succeed: after no lock in time, after a deadlock, and after a concurrent change of the same row
 * of the catalogue, for example by a vacuum. The last error has no specific SQLSTATE, so its message is compared.
 */
function gaveWay(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string };
  return code === "55P03" || code === "40P01" || (code === "XX000" && message === "tuple concurrently updated");
}

interface Blocker {
  pid: number;
  name: string;
  age_s: number | null;
  relation: string | null;
}

/**
 * Runs a step in a separate transaction, one migrator at a time. On a server, the pool needs a second connection to
 * find out who holds the lock.
 *
 * @param step name of the step for the log
 * @param work is rolled back before a retry
 * @param patienceMs no retry begins after this time
 * @throws UserError that names who held the lock
 */
async function withLockRetry<Result>(
  pool: Pool,
  log: Log,
  step: string,
  work: (tx: Db) => Promise<Result>,
  patienceMs: number,
): Promise<Result> {
  const untilMs = performance.now() + patienceMs;
  let pauseMs = firstPauseMs;
  for (;;) {
    const attempt = await tryOnce(pool, log, work);
    if ("result" in attempt) return attempt.result;
    const blockedBy = blockersText(attempt.blockers);
    if (performance.now() + pauseMs > untilMs)
      throw new UserError(
        `${step} did not get a lock within ${Math.round(patienceMs / 1000)} s: ${blockedBy}. ` +
          "Completed steps stay done, and no lock is held. Wait until that transaction ends, or end it (select pg_terminate_backend(pid)), and run venuewatch migrate again.",
        { cause: attempt.error },
      );
    log.warn(`${step} got no lock; retrying`, { pauseMs, blockedBy });
    await sleep(pauseMs);
    pauseMs = Math.min(pauseMs * 2, longestPauseMs);
  }
}

type Attempt<Result> = { result: Result } | { error: unknown; blockers: Blocker[] };

async function tryOnce<Result>(pool: Pool, log: Log, work: (tx: Db) => Promise<Result>): Promise<Attempt<Result>> {
  const watch = makeWatch(pool, log);
  try {
    const result = await pool.transaction(async (tx) => {
      const pid = await takeTurn(tx);
      if (pid !== null) watch.begin(pid);
      return work(tx);
    });
    return { result };
  } catch (error) {
    if (!gaveWay(error)) throw error;
    return { error, blockers: watch.seen() };
  } finally {
    await watch.end();
  }
}

/**
 * Waits for another migrator without a limit, since this transaction holds no lock yet.
 *
 * @returns the pid of the backend; null on the embedded database, where a transaction has the only backend and never
 * waits for a lock
 */
async function takeTurn(tx: Db): Promise<number | null> {
  await tx.query(sql`select pg_advisory_xact_lock(hashtextextended('venuewatch.migration', 0))`);
  const [backend] = await tx.query<{ pid: number; alone: boolean }>(sql`
    select
      pg_backend_pid() as pid,
      version() like '%emcc%' as alone,
      set_config('lock_timeout', ${String(lockTimeoutMs)}, true),
      -- After this time, the waiting backend cancels an autovacuum that blocks it. Only some users may set it.
      case
        when has_parameter_privilege('deadlock_timeout', 'set') then set_config('deadlock_timeout', ${String(lockTimeoutMs / 3)}, true)
      end
  `);
  return backend!.alone ? null : backend!.pid;
}

/** Looks up on another connection whom a backend waits for, while it waits: afterwards this is unknown. */
function makeWatch(pool: Pool, log: Log) {
  let blockers: Blocker[] = [];
  let asking: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;

  async function ask(pid: number) {
    try {
      const found = await pool.file<Blocker>("blockers", [pid]);
      if (found.length > 0) blockers = found;
    } catch (error) {
      log.warn("could not find out who holds the lock", { error });
    }
    asking = null;
  }
  return {
    begin(pid: number) {
      timer = setInterval(() => {
        asking ??= ask(pid);
      }, lockTimeoutMs / 3);
    },
    seen: () => blockers,
    async end() {
      clearInterval(timer);
      await asking;
    },
  };
}

function blockersText(blockers: Blocker[]): string {
  if (blockers.length === 0) return "its holder is unknown";
  return blockers
    .map(({ pid, name, age_s, relation }) =>
      [
        `${name} (pid ${pid})`,
        age_s !== null && `in a transaction for ${age_s} s`,
        relation !== null && `holds ${relation}`,
      ]
        .filter(Boolean)
        .join(" "),
    )
    .join(", ");
}
