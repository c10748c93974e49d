import { createHash } from "node:crypto";
import { readFile, readdir } from "node:fs/promises";
import { type Db, type Pool, sql, sqlFolder } from "./db.js";
import type { Log } from "./log.js";
import { componentsOf, type Registry, type Venue } from "./registry.js";
import { UserError } from "./user-error.js";

/**
 * Brings a database to the schema of this build, and its tables of venues to the registry.
 *
 * What holds data (`sql/schema`) runs once, in order, and is never edited after; what only defines (`sql/upkeep.sql`,
 * `sql/engine`, `sql/views`) is dropped and made anew every time. All of it is one transaction under a lock: two
 * migrators at once end well, and a failing one leaves nothing behind.
 *
 * @throws UserError when an applied schema file was edited, or when the database is newer than this build
 */
export async function migrate(
  pool: Pool,
  registry: Registry,
  log: Log,
): Promise<void> {
  await makeExtension(pool);
  const schema = await readSchemaFiles();
  const definitions = await readDefinitions();

  const applied = await pool.transaction(async (tx) => {
    await takeLock(tx);
    const names = await applySchema(tx, schema);
    await tx.script(definitions);
    await tx.file("sync_registry", [JSON.stringify(registryRows(registry))]);
    return names;
  });
  for (const name of applied) log.info("applied schema file", { name });
}

/** Which schema files this build has, and which of them the database lacks or has beyond them. */
export async function schemaState(
  db: Db,
): Promise<{ missing: string[]; unknown: string[] }> {
  const files = (await readSchemaFiles()).map(({ name }) => name);
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

interface SchemaFile {
  name: string;
  text: string;
  checksum: string;
}

/** Outside the transaction, because TimescaleDB wants to be loaded before a session has done anything else with it. */
async function makeExtension(pool: Pool): Promise<void> {
  const [extension] = await pool.query<{ version: string }>(
    sql`select extversion as version from pg_extension where extname = 'timescaledb'`,
  );
  if (extension) return;
  try {
    await pool.script("create extension if not exists timescaledb");
  } catch (error) {
    // a racing migrator may have made it in between
    const [now] = await pool.query(
      sql`select from pg_extension where extname = 'timescaledb'`,
    );
    if (!now)
      throw new UserError(
        `The database must have the TimescaleDB extension, but creating it failed: ${(error as Error).message}. ` +
          "Install TimescaleDB 2.23 or newer there, or let a superuser run: create extension timescaledb",
      );
  }
}

async function takeLock(tx: Db): Promise<void> {
  // On the embedded database a transaction has the only backend, so it is alone in any case.
  await tx.query(sql`
    select pg_advisory_xact_lock(hashtextextended('venuewatch.migration', 0))
  `);
  await tx.script(await readText("prelude.sql"));
}

async function applySchema(tx: Db, files: SchemaFile[]): Promise<string[]> {
  const rows = await tx.query<{ name: string; checksum: string }>(
    sql`select name, checksum from venuewatch.migration order by name`,
  );
  const applied = new Map(rows.map((row) => [row.name, row.checksum]));
  refuseNewerDatabase(files, [...applied.keys()]);
  refuseEditedFiles(files, applied);

  const pending = files.filter(({ name }) => !applied.has(name));
  for (const { name, text, checksum } of pending) {
    await tx.script(text);
    await tx.query(sql`
      insert into venuewatch.migration (name, checksum) values (${name}, ${checksum})
    `);
  }
  return pending.map(({ name }) => name);
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

async function readSchemaFiles(): Promise<SchemaFile[]> {
  const names = await sqlFiles("schema");
  return Promise.all(
    names.map(async (name) => {
      const text = await readText(`schema/${name}`);
      const checksum = createHash("sha256").update(text).digest("hex");
      return { name, text, checksum };
    }),
  );
}

async function readDefinitions(): Promise<string> {
  const files = [
    "upkeep.sql",
    ...(await sqlFiles("engine")).map((name) => `engine/${name}`),
    ...(await sqlFiles("views")).map((name) => `views/${name}`),
  ];
  const texts = await Promise.all(files.map(readText));
  return texts.join("\n");
}

async function sqlFiles(folder: string): Promise<string[]> {
  const names = await readdir(new URL(`${folder}/`, sqlFolder));
  return names.filter((name) => name.endsWith(".sql")).sort();
}

function readText(path: string): Promise<string> {
  return readFile(new URL(path, sqlFolder), "utf8");
}

/** The registry as `sync_registry` reads it. */
function registryRows(registry: Registry) {
  return {
    regions: registry.regions.map(({ id, name }) => ({ region: id, name })),
    venues: registry.venues.map((venue) => ({
      venue: venue.id,
      name: venue.name,
      category: venue.category,
      symbol: venue.symbol,
      quote: venue.quote,
      chain: venue.chain,
      officialKind: venue.official?.kind ?? null,
      officialPage: venue.official?.page ?? null,
      components: componentsOf(venue).map((component) => ({
        component: component.id,
        label: component.label,
        target: component.target,
        cadenceMs: component.cadenceMs,
        stallAfterMs: stallAfterMs(venue, component.id),
      })),
    })),
  };
}

function stallAfterMs(venue: Venue, component: string): number | null {
  const stream = venue.socket?.streams.find(
    ({ name }) => `ws:${name}` === component,
  );
  return stream?.stall.afterMs ?? null;
}
