import { type Db, type Pool, sql } from "../../shared/database/pool.js";
import { readScript } from "../../shared/database/sql-files.js";
import { UserError } from "../../shared/process/user-error.js";

/** As whom a migration runs. */
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
  /** Another user. */
  migrated_by: string | null;
  /** Statements. */
  asked: string[];
}

/**
 * A superuser, or the owner of the database with CREATEROLE or membership in our roles. Asked before anything is
 * changed.
 *
 * A superuser does not migrate what another owner migrated: that owner's functions would run as the superuser.
 *
 * @throws UserError with the statements to ask an administrator for, when the user may not migrate; also when another
 * user migrated it before
 */
export async function migratingRole(pool: Pool): Promise<MigratingRole> {
  const [rights] = await pool.file<Rights>("migrating_role");
  const { name, database, is_superuser, is_owner, migrated_by, asked } = rights!;
  if (migrated_by !== null)
    throw new UserError(
      `${migrated_by} migrated this database before and owns the schema. Migrate as ${migrated_by}, ` +
        `or move the history into a database that ${name} migrates (venuewatch move)`,
    );
  const owner = `alter database ${quoted(database)} owner to ${quoted(name)}`;
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
 * Runs a schema file as vw_core. Nobody but a superuser could give vw_core what TimescaleDB keeps beneath hypertables
 * and roll-ups, in a schema of its own, so they are vw_core's from the beginning. And what core has hung on its tables,
 * a default or a check, runs as whoever writes them: never as a superuser. The embedded database has no logins of core,
 * and cannot alter the rights on a database.
 */
export async function applyAs(
  { isEmbedded, database }: MigratingRole,
  tx: Db,
  text: () => Promise<string>,
): Promise<void> {
  if (isEmbedded) return tx.script(await text());
  const name = sql.ident(database);
  await tx.query(sql`grant create on database ${name} to vw_core`);
  await tx.script("grant usage, create on schema venuewatch to vw_core");
  await tx.script(await readScript("lend-to-core.sql"));
  await asCore(tx, async () => tx.script(await text()));
  await tx.script("revoke create on schema venuewatch from vw_core");
  await tx.query(sql`revoke create on database ${name} from vw_core`);
}

/** @param tx a transaction */
export async function asCore(tx: Db, work: () => Promise<unknown>): Promise<void> {
  await tx.script("set local role vw_core");
  await work();
  await tx.script("set local role none");
}

function quoted(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}
