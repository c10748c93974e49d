import { type Db, sql } from "./db.js";
import { UserError } from "./user-error.js";

/**
 * Beneath ours stand tables of TimescaleDB's own, which nobody else can give to vw_core; nor could anybody else limit what whoever connects
 * may do on the server. Tried before anything is changed.
 *
 * @throws UserError when the user is no superuser
 */
export async function requireSuperuser(db: Db): Promise<void> {
  const [user] = await db.query<{ name: string; is_superuser: boolean }>(
    sql`select rolname as name, rolsuper as is_superuser from pg_roles where rolname = current_user`,
  );
  if (user!.is_superuser) return;
  throw new UserError(
    `Migrating takes a superuser of the database server, but ${user!.name} is none. Let DATABASE_URL name a superuser for this step; ` +
      "all other programs do with their own logins. A managed service that gives no superuser is not supported yet: run the server yourself.",
  );
}
