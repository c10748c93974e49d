import { type Db, type Pool, sql } from "./db.js";
import type { Log } from "./log.js";
import type { Registry } from "./registry.js";
import {
  readDefinitions,
  readSchema,
  type SchemaFile,
  schemaNames,
  sqlFolder,
} from "./sql-files.js";
import { syncRegistry } from "./sync-registry.js";
import { UserError } from "./user-error.js";

/**
 * Brings a database to the schema of this build, and its tables of venues to the registry.
 *
 * What holds data (`schema/`) runs once, in order, and is never edited after; what only defines (`upkeep.sql`, `engine/`,
 * `views/`, `roles.sql`, `logins.sql`) is dropped and made anew every time. All of it is one transaction under a lock: two migrators
 * at once end well, and a failing one leaves nothing behind.
 *
 * @param folder where the SQL files are
 * @throws UserError when there is no TimescaleDB that serves, when an applied schema file was edited, or when the
 *   database is newer than this build
 */
export async function migrate(
  pool: Pool,
  registry: Registry,
  log: Log,
  folder = sqlFolder,
): Promise<void> {
  await requireExtension(pool);
  const schema = await readSchema(folder);
  const { prelude, definitions } = await readDefinitions(folder);

  const applied = await despiteReaders(log, () =>
    pool.transaction(async (tx) => {
      await takeLock(tx);
      await tx.script(prelude);
      const names = await applySchema(tx, schema);
      await tx.script(definitions);
      await syncRegistry(tx, registry);
      return names;
    }),
  );
  for (const name of applied) log.info("applied schema file", { name });
}

/** Which schema files this build has, and which of them the database lacks or has beyond them. */
export async function schemaState(
  db: Db,
): Promise<{ missing: string[]; unknown: string[] }> {
  const files = await schemaNames(sqlFolder);
  const [table] = await db.query<{ here: boolean }>(
    sql`select to_regclass('venuewatch.migration') is not null as here`,
  );
  const rows = table?.here
    ? await db.query<{ name: string }>(
        sql`select name from venuewatch.migration order by name`,
      )
    : [];
  const applied = rows.map(({ name }) => name);
  return {
    missing: files.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !files.includes(name)),
  };
}

/** Outside the transaction, because TimescaleDB wants to be loaded before a session has done anything else with it. */
async function requireExtension(pool: Pool): Promise<void> {
  const version = (await extensionVersion(pool)) ?? (await makeExtension(pool));
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major < 2 || (major === 2 && minor < 23))
    throw new UserError(
      `The database must have TimescaleDB 2.23 or newer, but it has ${version}. ` +
        "Install a newer one there, and let a superuser run: alter extension timescaledb update",
    );
}

async function makeExtension(pool: Pool): Promise<string> {
  let refused = "";
  try {
    await pool.script("create extension if not exists timescaledb");
  } catch (error) {
    refused = (error as Error).message;
  }
  // a racing migrator may have made it when we could not
  const version = await extensionVersion(pool);
  if (version === undefined)
    throw new UserError(
      `The database must have the TimescaleDB extension, but creating it failed: ${refused}. ` +
        "Install TimescaleDB 2.23 or newer there, or let a superuser run: create extension timescaledb",
    );
  return version;
}

async function extensionVersion(db: Db): Promise<string | undefined> {
  const [extension] = await db.query<{ version: string }>(
    sql`select extversion as version from pg_extension where extname = 'timescaledb'`,
  );
  return extension?.version;
}

/**
 * A program that reads the views while they are dropped may hold one and wait for another: a deadlock, of which the
 * database undoes one side. When that is the migration, as a whole, it is done again; under the heaviest load tried,
 * one in four met it.
 */
async function despiteReaders<Result>(
  log: Log,
  work: () => Promise<Result>,
): Promise<Result> {
  for (let triesLeft = 9; ; triesLeft--) {
    try {
      return await work();
    } catch (error) {
      const deadlock = (error as { code?: string }).code === "40P01";
      if (!deadlock || triesLeft === 0) throw error;
      log.warn("readers stood in the migration's way; it is done again", {
        triesLeft,
      });
    }
  }
}

async function takeLock(tx: Db): Promise<void> {
  // On the embedded database a transaction has the only backend, so it is alone in any case.
  await tx.query(sql`
    select pg_advisory_xact_lock(hashtextextended('venuewatch.migration', 0))
  `);
}

async function applySchema(tx: Db, files: SchemaFile[]): Promise<string[]> {
  const rows = await tx.query<{ name: string; checksum: string }>(
    sql`select name, checksum from venuewatch.migration order by name`,
  );
  const applied = new Map(rows.map((row) => [row.name, row.checksum]));
  refuseNewerDatabase(files, [...applied.keys()]);
  refuseEditedFiles(files, applied);

  const pending = files.filter(({ name }) => !applied.has(name));
  for (const file of pending) await applyFile(tx, file);
  return pending.map(({ name }) => name);
}

async function applyFile(tx: Db, file: SchemaFile): Promise<void> {
  try {
    await tx.script(file.text);
  } catch (error) {
    throw new Error(
      `The schema file ${file.name} failed, and the migration was undone: ${(error as Error).message}`,
      { cause: error },
    );
  }
  await tx.query(sql`
    insert into venuewatch.migration (name, checksum) values (${file.name}, ${file.checksum})
  `);
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

function refuseEditedFiles(
  files: SchemaFile[],
  applied: Map<string, string>,
): void {
  const edited = files.filter(
    ({ name, checksum }) => applied.has(name) && applied.get(name) !== checksum,
  );
  if (edited.length > 0)
    throw new UserError(
      `A schema file must never change once applied, but ${edited.map(({ name }) => name).join(", ")} ` +
        "differs from what this database was made with. Undo the edit and put the change into a new file.",
    );
}
