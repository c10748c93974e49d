import { type Db, type Pool, sql } from "./db.js";
import { UserError } from "./user-error.js";

/** As whom a migration runs. */
export interface MigratingRole {
  name: string;
  database: string;
  isSuperuser: boolean;
}

interface Rights {
  name: string;
  database: string;
  is_superuser: boolean;
  is_owner: boolean;
  /** Null where the user has that role's rights. */
  migrated_by: string | null;
  /** Statements. */
  asked: string[];
}

/**
 * A superuser, or the owner of the database who may create roles or was made a member of ours. Asked before anything is changed.
 *
 * @throws UserError with the statements to ask an administrator for, when the user may not migrate; also when another user migrated it before
 */
export async function migratingRole(pool: Pool): Promise<MigratingRole> {
  const [rights] = await pool.file<Rights>("migrating_role");
  const { name, database, is_superuser, is_owner, migrated_by, asked } =
    rights!;
  const owner = `alter database ${quoted(database)} owner to ${quoted(name)}`;
  const wanted = is_superuser || is_owner ? asked : [owner, ...asked];
  if (wanted.length > 0)
    throw new UserError(
      `Migrating takes a superuser of the server, or the owner of the database who may create roles or is a member of venuewatch's; ${name} is not. ` +
        `Ask an administrator for: ${wanted.join("; ")}`,
    );
  if (migrated_by !== null)
    throw new UserError(
      `${migrated_by} migrated this database before and owns the schema; ${name} may not change it. Migrate as ${migrated_by}, ` +
        `or move the history into a database that ${name} migrates (venuewatch move)`,
    );
  return { name, database, isSuperuser: is_superuser };
}

/**
 * Runs a schema file. Nobody but a superuser could give vw_core what TimescaleDB keeps beneath hypertables and roll-ups, in a schema of its
 * own. So the file runs as vw_core where there is none, and all tables are vw_core's from the beginning.
 */
export async function applyAs(
  { isSuperuser, database }: MigratingRole,
  tx: Db,
  text: string,
): Promise<void> {
  if (isSuperuser) return tx.script(text);
  const name = sql.ident(database);
  await tx.query(sql`grant create on database ${name} to vw_core`);
  await tx.script(
    "grant usage, create on schema venuewatch to vw_core; set local role vw_core",
  );
  await tx.script(text);
  await tx.script(
    "set local role none; revoke create on schema venuewatch from vw_core",
  );
  await tx.query(sql`revoke create on database ${name} from vw_core`);
}

function quoted(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name)
    ? name
    : `"${name.replaceAll('"', '""')}"`;
}
