/**
 * The backend has one session, in which its clients take turns. A ClientSession records what a session of the client's
 * own would contain. It is restored if another client has held the backend in between.
 *
 * Each client has its own user and settings (SET and start-up parameters; for a superuser also SET ROLE and SET SESSION
 * AUTHORIZATION). They are restored at each of its turns.
 *
 * As behind a transaction pooler, the following is lost as soon as another client has had a turn, which can happen
 * between any two transactions: temporary tables, cursors WITH HOLD, PREPAREd statements, session-level advisory locks,
 * currval(), settings made by set_config() outside a SET, and settings with names that PostgreSQL does not know
 * (`my.setting`).
 *
 * Nothing of this reaches the next client, unless both are the owner's own programs (`areOwnPrograms`). Two things do
 * reach it: the libraries that LOAD loaded, and the state of random().
 */
import type { IsUnknown } from "./refused-statements.js";
import { SqlError } from "./sql-error.js";
import type { Startup } from "./startup.js";
import { unknownSetting, wrongPassword } from "./wire-messages.js";

/**
 * The build sets some settings on its command line, some of them harmful: search_path=pg_catalog, enable_seqscan=off,
 * and log level DEBUG1, which alone triples the time of a small statement. It reads no postgresql.conf and ignores
 * ALTER DATABASE … SET. The values here are a server's defaults, except for jit (which the build lacks), work_mem,
 * search_path and TimeZone.
 */
const defaults = ({ searchPath }: ClientSessionOptions) => `
  SET log_min_messages = fatal;
  SET client_min_messages = notice;
  SET search_path = ${searchPath};
  SET enable_seqscan = on;
  SET allow_system_table_mods = off;
  SET jit = off;
  SET work_mem = '16MB';
  SET TimeZone = 'UTC'`;

/** The superuser that the build starts as. */
export const owner = "postgres";

/**
 * The statement_timeout of a superuser that has set none. A statement that somebody forgot in psql must not block all
 * others for as long as a migration may take. The owner's own programs set their own limits.
 */
const ownersStatementTimeout = "20s";

export interface ClientSessionOptions {
  /** The search_path of a client that sets none, as SQL. */
  searchPath: string;
  /**
   * Matches the `application_name` of the owner's own programs; null if there are none. They change nothing in their
   * session but what `pg_settings` shows, and have a statement_timeout only if they set it.
   */
  ownPrograms: RegExp | null;
}

export interface Login {
  /** Of the password, as PostgreSQL stores it. */
  verifier: string;
  isSuperuser: boolean;
}

export interface ClientSession {
  user: string;
  /** The oid of the user's role. */
  oid: number;
  /** Whether it cannot change its role; a superuser can. */
  isFixed: boolean;
  /** The settings in the start-up packet. */
  initial: Record<string, string>;
  /** The settings that the client has SET since. */
  own: Record<string, string>;
  /** Whether the client may have changed settings since they were last read. */
  touched: boolean;
  /** 0: none. This build ignores it; the host enforces it. */
  statementTimeoutMs: number;
}

/** Executes one SQL text and returns its rows, or throws the backend's error. */
export type RunSql = (sql: string) => Promise<(string | null)[][]>;

export interface SessionBackend extends ClientSessionOptions {
  run: RunSql;
  isUnknown: IsUnknown;
  fixRole: (oid: number) => void;
  unfixRole: () => void;
}

/** All roles that may log in with a password, by name. No client's session may be active. */
export async function loginsOf(backend: SessionBackend): Promise<Map<string, Login>> {
  await resetSession(backend);
  const rows = await backend.run(
    "SELECT rolname, rolpassword, rolsuper FROM pg_authid WHERE rolcanlogin AND rolpassword IS NOT NULL",
  );
  return new Map(
    rows.map(([name, verifier, isSuperuser]) => [name!, { verifier: verifier!, isSuperuser: isSuperuser === "t" }]),
  );
}

/**
 * Revokes everything by which any login could end the database. To be called at every start: an older version may have
 * created the directory.
 *
 * Only superusers may create functions and run DO blocks: if one catches its cancellation, only the end of the database
 * can stop it.
 *
 * PostgreSQL allocates temp_buffers in the first session that uses a temporary table, and keeps them until the backend
 * ends; then the setting cannot be changed any more. So the host is the first.
 *
 * This build lacks the libraries that convert between encodings, and calling one causes a trap. Without a default
 * conversion, PostgreSQL refuses the encoding instead. CREATE CONVERSION calls the conversion function, too, so only
 * superusers may execute those functions.
 */
export async function removeTraps(backend: SessionBackend): Promise<void> {
  await resetSession(backend);
  await backend.run("REVOKE USAGE ON LANGUAGE plpgsql, sql FROM PUBLIC");
  await backend.run("CREATE TEMP TABLE touched (a int); INSERT INTO touched VALUES (1); DROP TABLE touched");
  await backend.run("UPDATE pg_catalog.pg_conversion SET condefault = false WHERE condefault");
  await backend.run(`
    DO $$ DECLARE conversion regprocedure; BEGIN
      FOR conversion IN
        SELECT DISTINCT conproc::regprocedure FROM pg_catalog.pg_conversion WHERE has_function_privilege('public', conproc, 'execute')
      LOOP EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', conversion);
      END LOOP;
    END $$`);
}

/** Lets a role log in with the password of this verifier. Creates the role if it is missing. */
export async function admitByVerifier(backend: SessionBackend, role: string, verifier: string): Promise<void> {
  await resetSession(backend);
  const [found] = await backend.run(`SELECT 1 FROM pg_roles WHERE rolname = ${literal(role)}`);
  const name = identifier(role);
  if (!found) await backend.run(`CREATE ROLE ${name}`);
  await backend.run(`ALTER ROLE ${name} LOGIN PASSWORD ${literal(verifier)}`);
}

/**
 * Opens the session of a user who has authenticated. It has the rights of that role and cannot gain others, unless the
 * role is a superuser.
 *
 * @param verifier proved by the user. The host may have read it before the password was changed
 */
export async function openSession(
  backend: SessionBackend,
  { user, settings }: Startup,
  verifier: string,
): Promise<ClientSession> {
  await resetSession(backend);
  const [row] = await backend.run(
    `SELECT oid, rolsuper FROM pg_authid WHERE rolname = ${literal(user)} AND rolcanlogin AND rolpassword = ${literal(verifier)}`,
  );
  if (!row) throw new SqlError(wrongPassword(user));
  const isFixed = row[1] !== "t";
  const unknown = Object.keys(settings).find(backend.isUnknown);
  if (isFixed && unknown !== undefined) throw new SqlError(unknownSetting(unknown));
  const isBounded = !isFixed && !isOwnProgram(backend, settings);
  const session: ClientSession = {
    user,
    oid: Number(row[0]),
    isFixed,
    initial: isBounded ? { statement_timeout: ownersStatementTimeout, ...settings } : settings,
    own: {},
    touched: false,
    statementTimeoutMs: 0,
  };
  await apply(backend, session);
  await readSettings(backend.run, session);
  return session;
}

/** @param previous the active session; null if there is none, or if its state is uncertain */
export async function enterSession(
  backend: SessionBackend,
  session: ClientSession,
  previous: ClientSession | null,
): Promise<void> {
  if (previous && areOwnPrograms(backend, previous, session)) return changeSettings(backend, previous, session);
  await resetSession(backend);
  await apply(backend, session);
}

/**
 * Between two of the owner's own programs only settings that differ are set or reset. They may take turns many times a
 * second, and resetting everything takes 0.7 ms. Both must act as the superuser, who may reset every setting.
 */
function areOwnPrograms(backend: SessionBackend, ...sessions: ClientSession[]): boolean {
  return sessions.every(
    (one) =>
      isOwnProgram(backend, one.initial) && one.own["session_authorization"] === owner && one.own["role"] === "none",
  );
}

function isOwnProgram({ ownPrograms }: ClientSessionOptions, settings: Record<string, string>): boolean {
  return ownPrograms?.test(settings["application_name"] ?? "") ?? false;
}

/**
 * RESET never restores a harmful setting of the build here: `defaults` sets these in each session, so none is unset.
 */
async function changeSettings(backend: SessionBackend, previous: ClientSession, next: ClientSession): Promise<void> {
  const before = settingsOf(previous);
  const after = settingsOf(next);
  const unset = Object.keys(before).filter((name) => after[name] === undefined);
  if (unset.length > 0) await backend.run(unset.map((name) => `RESET ${identifier(name)}`).join(";"));
  await setAll(backend, Object.fromEntries(Object.entries(after).filter(([name, value]) => before[name] !== value)));
}

/**
 * Records the settings that the client has made. To be called between transactions.
 *
 * The query runs with the client's own rights and search_path: without a schema, names and operators could resolve to
 * objects that the client has created.
 */
export async function readSettings(run: RunSql, session: ClientSession): Promise<void> {
  const timeout = `name ${equals} 'statement_timeout'`;
  const rows = await run(
    session.isFixed
      ? `
    SELECT name, setting, source FROM pg_catalog.pg_settings
    WHERE source ${equals} 'session' AND context ${equals} 'user' OR ${timeout}`
      : `
    SELECT name, setting, source FROM pg_catalog.pg_settings WHERE source ${equals} 'session' OR ${timeout}
    UNION ALL SELECT 'session_authorization', session_user, 'session'
    UNION ALL SELECT 'role', pg_catalog.current_setting('role'), 'session'`,
  );
  session.own = Object.fromEntries(rows.filter(([, , source]) => source === "session")) as Record<string, string>;
  const [, milliseconds] = rows.find(([name]) => name === "statement_timeout")!;
  session.statementTimeoutMs = Number(milliseconds);
  session.touched = false;
}

const equals = "OPERATOR(pg_catalog.=)";

/** Settings that libpq and other clients expect at the start. */
const reported = [
  "application_name",
  "client_encoding",
  "DateStyle",
  "default_transaction_read_only",
  "in_hot_standby",
  "integer_datetimes",
  "IntervalStyle",
  "is_superuser",
  "scram_iterations",
  "search_path",
  "server_encoding",
  "server_version",
  "standard_conforming_strings",
  "TimeZone",
];

/** Name and value of each setting that a client gets at the start. */
export async function reportedSettings(run: RunSql): Promise<[string, string][]> {
  const values = reported.map((name) => `current_setting(${literal(name)})`);
  const [row] = await run(`SELECT ${values.join(", ")}, session_user`);
  const names = [...reported, "session_authorization"];
  return names.map((name, i) => [name, row?.[i] ?? ""]);
}

/**
 * Everything that DISCARD ALL does, except DISCARD PLANS. The plans of PL/pgSQL functions do not belong to one client,
 * and the next one can reuse them: PostgreSQL replans when a table or the search path changes. With DISCARD PLANS,
 * every turn planned large queries again, which took 20 to 80 ms.
 *
 * RESET and DISCARD do not undo SET SESSION AUTHORIZATION in this build.
 */
const reset = `
  SET SESSION AUTHORIZATION postgres;
  CLOSE ALL;
  RESET ALL;
  DEALLOCATE ALL;
  UNLISTEN *;
  SELECT pg_catalog.pg_advisory_unlock_all();
  DISCARD SEQUENCES;
  DISCARD TEMP`;

export async function resetSession(backend: SessionBackend): Promise<void> {
  backend.unfixRole();
  // in one message, because each message costs as much as four of these statements
  await backend.run(`${reset};${defaults(backend)}`);
}

/**
 * The user is set first, so that settings are set with its rights; a superuser's later SET ROLE and the like come last.
 */
async function apply(backend: SessionBackend, { user, oid, isFixed, initial, own }: ClientSession): Promise<void> {
  if (user !== owner) await setAll(backend, { session_authorization: user });
  if (isFixed) backend.fixRole(oid);
  await setAll(backend, { ...initial, ...own });
}

/** By name in lower case: a start-up packet has `timezone` where `pg_settings` has `TimeZone`. */
function settingsOf({ initial, own }: ClientSession): Record<string, string> {
  const settings = [...Object.entries(initial), ...Object.entries(own)];
  return Object.fromEntries(settings.map(([name, value]) => [name.toLowerCase(), value]));
}

async function setAll(
  { run }: SessionBackend,
  { session_authorization, role, ...rest }: Record<string, string>,
): Promise<void> {
  const calls = Object.entries({ ...rest, session_authorization, role })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => setConfig(name, value!));
  if (calls.length > 0) await run(`SELECT ${calls.join(", ")}`);
}

function setConfig(name: string, value: string): string {
  return `pg_catalog.set_config(${literal(name)}, ${literal(value)}, false)`;
}

function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Safe while standard_conforming_strings is on, which it is right after resetSession. */
function literal(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}
