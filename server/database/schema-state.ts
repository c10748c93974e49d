/** Compares the schema of a database with the schema of this build. */
import { version } from "../../shared/config/package.js";
import { type Db, sql } from "../../shared/database/pool.js";
import { readDefinitions, schemaNames, sqlFolder } from "../../shared/database/sql-files.js";

/** The schema files of this build that the database lacks, and those in the database that this build does not have. */
export async function schemaState(db: Db): Promise<{ missing: string[]; unknown: string[] }> {
  const files = await schemaNames(sqlFolder);
  const [table] = await db.query<{ here: boolean }>(
    sql`select to_regclass('venuewatch.migration') is not null as here`,
  );
  const rows = table?.here
    ? await db.query<{ name: string }>(sql`select name from venuewatch.migration order by name`)
    : [];
  const applied = rows.map(({ name }) => name);
  return {
    missing: files.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !files.includes(name)),
  };
}

/** The views and functions in the database. */
export interface DefinitionsMade {
  /** Checksum of the files that they were created from. */
  checksum: string;
  /** Version of the build that created them. */
  version: string;
  /** Whether none was dropped or replaced since. */
  intact: boolean;
}

/** Null if there are none. */
export async function definitionsMade(db: Db): Promise<DefinitionsMade | null> {
  const [table] = await db.query<{ here: boolean }>(
    sql`select to_regclass('venuewatch.definition') is not null as here`,
  );
  if (!table!.here) return null;
  const [made] = await db.query<DefinitionsMade>(sql`
    select d.checksum, d.version, d.fingerprint = venuewatch.definitions_fingerprint() as intact
    from venuewatch.definition d
  `);
  return made ?? null;
}

let ownChecksum: Promise<string> | undefined;

/** Why a program of this build cannot use the views and functions, in words; null if it can. */
export async function definitionsFault(db: Db): Promise<string | null> {
  ownChecksum ??= readDefinitions(sqlFolder).then(({ checksum }) => checksum);
  const made = await definitionsMade(db);
  if (made === null) return "has no views and functions of this build";
  if (made.checksum !== (await ownChecksum))
    return made.version === version
      ? `has views and functions of other files than this build, also ${version}`
      : `has the views and functions of another build: they are from ${made.version}, this is ${version}`;
  return made.intact ? null : "its views and functions are incomplete: some were dropped or replaced";
}
