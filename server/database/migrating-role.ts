import { type Db, type Pool, sql } from "../../shared/database/pool.js";
import { readScript, statementText } from "../../shared/database/sql-files.js";
import { UserError } from "../../shared/process/user-error.js";

/** The user that runs a migration. */
export interface MigratingRole {
  name: string;
  database: string;
  isSuperuser: boolean;
  isEmbedded: boolean;
}

interface Rights {
  name: string;
  database: string;
  is_superuser: boolean;
  is_embedded: boolean;
  is_owner: boolean;
  /** Another user who migrated it before; null: none. */
  migrated_by: string | null;
  /** Statements that an administrator must run. */
  asked: string[];
}

/**
 * Checks, before anything is changed, that the user may migrate: a superuser, or the owner of the database with
 * CREATEROLE or membership in our roles.
 *
 * A superuser does not migrate a database that another owner migrated: that owner's functions would run as the
 * superuser.
 *
 * @throws UserError with the statements to ask an administrator for, if the user may not migrate; also if another user
 * migrated the database before
 */
export async function migratingRole(pool: Pool): Promise<MigratingRole> {
  const [rights] = await pool.file<Rights>("migrating_role");
  const { name, database, is_superuser, is_owner, migrated_by, asked } = rights!;
  if (migrated_by !== null)
    throw new UserError(
      `${migrated_by} migrated this database before and owns the schema. Migrate as ${migrated_by}, ` +
        `or move the history into a database that ${name} migrates (venuewatch move)`,
    );
  const owner = `alter database ${quotedIdentifier(database)} owner to ${quotedIdentifier(name)}`;
  const wanted = is_superuser || is_owner ? asked : [owner, ...asked];
  if (wanted.length > 0)
    throw new UserError(
      `Only a superuser, or the database's owner with CREATEROLE or membership in vw_core and vw_definer, can migrate; ${name} is neither. ` +
        `Ask an administrator for: ${wanted.join("; ")}`,
    );
  return {
    ...{ name, database },
    ...{ isSuperuser: is_superuser, isEmbedded: rights!.is_embedded },
  };
}

/**
 * Runs a schema file as vw_core. TimescaleDB stores parts of hypertables and roll-ups in its own schema, and only a
 * superuser could make vw_core the owner of those parts later, so vw_core creates them. Besides, the file must not
 * write to core's tables with other rights (sql/database/as-core.sql). On the embedded database core has no login, and
 * rights on a database cannot be changed.
 */
export async function applyAs({ isEmbedded, database }: MigratingRole, tx: Db, text: string): Promise<void> {
  if (isEmbedded) {
    await tx.script(text);
    return giveToOwners(tx);
  }
  const name = sql.ident(database);
  await tx.query(sql`grant create on database ${name} to vw_core`);
  // the new owner must be allowed to create it there
  const mayCreate = "grant usage, create on schema venuewatch to vw_core;";
  await tx.script(`${mayCreate}\n${await readScript("lend-to-core.sql")}`);
  await asCore(tx, (core) => core.script(text), mayCreate);
  await tx.script("revoke create on schema venuewatch from vw_core");
  await tx.query(sql`revoke create on database ${name} from vw_core`);
  await tx.script(await readScript("refuse-left-names.sql"));
  await giveToOwners(tx);
}

/**
 * Gives tables and roll-ups to their owners, in the transaction that created them or lent them to core: what core
 * attaches to a table while it owns it would stay, and run with the rights of the next owner.
 */
export async function giveToOwners(tx: Db): Promise<void> {
  const others = await tx.file<{ relation: string; is_view: boolean; owner: string }>("not_yet_owned");
  if (others.length === 0) return;
  // the new owner must be allowed to create it there
  await tx.script("grant create on schema venuewatch to vw_core");
  for (const { relation, is_view, owner } of others) {
    const [name, role] = [sql.ident("venuewatch", relation), sql.ident(owner)];
    await tx.query(
      is_view ? sql`alter materialized view ${name} owner to ${role}` : sql`alter table ${name} owner to ${role}`,
    );
  }
  await tx.script("revoke create on schema venuewatch from vw_core");
  // the new owner's grants have become part of its ownership, and the old owner has lost its rights as the owner
  await tx.script(await readScript("grants.sql"));
}

/** A file takes at most one value, which is JSON, and returns rows. */
export interface CoreDb {
  file<Row>(name: string, values?: readonly [unknown]): Promise<Row[]>;
  script(text: string): Promise<void>;
}

/**
 * Does work on core's tables with the rights of vw_core, and no others (sql/database/as-core.sql).
 *
 * @param tx a transaction
 * @param lent what the migrating user grants to core before each call
 */
export async function asCore(tx: Db, work: (core: CoreDb) => Promise<void>, lent = ""): Promise<void> {
  const makeFunction = `${await readScript("as-core.sql")}\n${lent}`;
  async function call<Row>(text: string, value: unknown, returnsRows: boolean): Promise<Row[]> {
    await tx.script(makeFunction);
    const rows = await tx.query<{ row: Row }>(
      // the casts leave no choice among functions of this name
      sql`select venuewatch.as_core(${text}::text, ${value}::jsonb, ${returnsRows}::boolean) as row`,
    );
    await tx.script("drop function venuewatch.as_core(text, jsonb, boolean)");
    return rows.map(({ row }) => row);
  }
  await work({
    file: async (name, [value] = [null]) => call(statementText(name), value, true),
    async script(text) {
      await call(text, null, false);
    },
  });
}

function quotedIdentifier(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}
