/** The rights of the tests' user in a database: on a server it need not be a superuser. */
import pg from "pg";

/** Returns why a test that needs a superuser is skipped; false where the user is one. */
export async function superuserMissing(): Promise<string | false> {
  const server = process.env.DATABASE_URL;
  if (!server) return false;
  const client = new pg.Client(server);
  await client.connect();
  const { rows } = await client.query<{ rolsuper: boolean }>(
    "select rolsuper from pg_roles where rolname = current_user",
  );
  await client.end();
  return rows[0]!.rolsuper ? false : "DATABASE_URL's user is not a superuser";
}

/** Returns a script that gives its connection the rights of a role, and only those. */
export function becoming(role: string): string {
  return `${mayBecome(role)}; set role ${role}`;
}

/**
 * Returns a script after which the tests' user may become that role. A superuser may become any role. Other users must
 * be members, even of a role that they created. From PostgreSQL 16 on they do not inherit its rights, so without SET
 * ROLE they keep their own.
 */
export function mayBecome(role: string): string {
  return `
    do $$
    begin
      if current_setting('server_version_num')::int < 160000 then
        if not pg_has_role('${role}', 'member') then
          grant ${role} to current_user;
        end if;
      elsif not pg_has_role('${role}', 'set') then
        execute 'grant ${role} to current_user with inherit false, set true';
      end if;
    exception
      -- another test granted it first
      when unique_violation then null;
    end;
    $$
  `;
}
