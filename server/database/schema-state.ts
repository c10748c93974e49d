/** What a database was made by, compared with what this build would make. */
import { type Db, sql } from "../../shared/database/pool.js";
import { version } from "../../shared/config/package.js";
import { readDefinitions, schemaNames, sqlFolder } from "../../shared/database/sql-files.js";

/** Which schema files this build has, and which of them the database lacks or has beyond them. */
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

/** The views and functions that stand. */
export interface DefinitionsMade {
  /** Of the files that they were made from. */
  checksum: string;
  /** The build that made them. */
  version: string;
  /** They are still those: none was dropped or replaced since. */
  intact: boolean;
}

/** Null where none were made, or before 0.8. */
export async function definitionsMade(db: Db): Promise<DefinitionsMade | null> {
  const [table] = await db.query<{ here: boolean }>(
    sql`select to_regclass('venuewatch.definition') is not null as here`,
  );
  if (!table!.here) return null;
  const [made] = await db.file<DefinitionsMade>("definitions_made");
  return made ?? null;
}

let ownChecksum: Promise<string> | undefined;

/** What is wrong with the views and functions for a program of this build, in words; null: nothing. */
export async function definitionsFault(db: Db): Promise<string | null> {
  ownChecksum ??= readDefinitions(sqlFolder).then(({ checksum }) => checksum);
  const made = await definitionsMade(db);
  if (made === null) return "has no views and functions of this build";
  if (made.checksum !== (await ownChecksum))
    return `has the views and functions of another build: they are those of ${made.version}, and this is ${version}`;
  return made.intact ? null : "has not the views and functions that were made: some were dropped or replaced";
}
