/**
 * One backend is one session, and its clients take turns in it. A session
 * kept here is what a client's own would have been: it is put in place when
 * another client had the backend before.
 *
 * Each client has for itself: its user, and settings (SET, start-up
 * parameters; of a superuser SET ROLE and SET SESSION AUTHORIZATION as well).
 * They come back with each of its turns.
 *
 * Gone as soon as another client has had a turn, at the latest between two
 * transactions, as behind a transaction pooler: temporary tables, cursors
 * WITH HOLD, PREPAREd statements, session-level advisory locks, currval().
 * Settings made by set_config() outside a SET, and of names that PostgreSQL
 * does not know (`my.setting`), are lost in the same way.
 *
 * Nothing of these reaches the next client, unless both are programs of the
 * service (`areOfService`). What still does: the libraries that LOAD loaded,
 * and the state of random().
 */

/**
 * The build starts with settings of its own on the command line, some of them
 * harmful (search_path=pg_catalog, enable_seqscan=off, log level DEBUG1, which
 * alone trebles the time of a small statement), reads no postgresql.conf, and
 * ignores ALTER DATABASE … SET. These are a server's defaults, but for jit
 * (there is none), work_mem, and search_path and TimeZone, which are what the
 * migration sets for the database on a server.
 */
const defaults = `
  SET log_min_messages = fatal;
  SET client_min_messages = notice;
  SET search_path = venuewatch, public;
  SET enable_seqscan = on;
  SET allow_system_table_mods = off;
  SET jit = off;
  SET work_mem = '16MB';
  SET TimeZone = 'UTC'`;

/** The superuser that the build starts as. */
export const owner = "postgres";

/**
 * Of a superuser who has named no statement_timeout. A statement that somebody forgot in psql must not keep the board
 * for the ten minutes that a migration may need; web answers its newest board for longer than this. The service's
 * programs bound themselves.
 */
const ownersTimeout = "20s";
const ofService = /^venuewatch /;

export interface ClientSession {
  user: string;
  /** Of the user's role. */
  oid: number;
  /** Whether its role is fixed: a superuser's is not. */
  isFixed: boolean;
  /** As the start-up packet asked. */
  initial: Record<string, string>;
  /** As the client has SET since. */
  own: Record<string, string>;
  /** Whether the client may have changed settings since they were read last. */
  touched: boolean;
  /** 0: none. This build ignores it, the host does not. */
  statementTimeoutMs: number;
}

/** Takes one SQL text, answers its rows or throws the backend's error. */
export type RunSql = (sql: string) => Promise<(string | null)[][]>;

export interface SessionBackend {
  run: RunSql;
  fixRole: (oid: number) => void;
  unfixRole: () => void;
}

/**
 * What the user's password is known by; null where there is no such user, or none who may log in by a password.
 * The session in place must have been left.
 */
export async function verifierOf(backend: SessionBackend, user: string): Promise<string | null> {
  await resetSession(backend);
  const [row] = await backend.run(`SELECT rolpassword FROM pg_authid WHERE rolname = ${literal(user)} AND rolcanlogin`);
  return row?.[0] ?? null;
}

/**
 * Takes away what would let any login end the database. To be called at every start: a directory may come from an older
 * version.
 *
 * Functions and blocks are for superusers: one that catches its cancellation cannot be ended but with the database.
 *
 * The libraries that convert between encodings are not in this build, and calling one is a trap. Without a default
 * conversion PostgreSQL refuses the encoding instead. CREATE CONVERSION calls the function, too, so it is for
 * superusers alone.
 */
export async function removeTraps(backend: SessionBackend): Promise<void> {
  await resetSession(backend);
  await backend.run("REVOKE USAGE ON LANGUAGE plpgsql, sql FROM PUBLIC");
  await backend.run("UPDATE pg_catalog.pg_conversion SET condefault = false WHERE condefault");
  await backend.run(`
    DO $$ DECLARE conversion regprocedure; BEGIN
      FOR conversion IN
        SELECT DISTINCT conproc::regprocedure FROM pg_catalog.pg_conversion WHERE has_function_privilege('public', conproc, 'execute')
      LOOP EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', conversion);
      END LOOP;
    END $$`);
}

/** Lets a role log in by the password of this verifier. Makes the role where it is missing. */
export async function admit(backend: SessionBackend, role: string, verifier: string): Promise<void> {
  await resetSession(backend);
  const [found] = await backend.run(`SELECT 1 FROM pg_roles WHERE rolname = ${literal(role)}`);
  const name = identifier(role);
  if (!found) await backend.run(`CREATE ROLE ${name}`);
  await backend.run(`ALTER ROLE ${name} LOGIN PASSWORD ${literal(verifier)}`);
}

/**
 * Of a user who has shown the password. The session has the rights of that role, and no way to others unless they are a
 * superuser's.
 */
export async function openSession(
  backend: SessionBackend,
  user: string,
  settings: Record<string, string>,
): Promise<ClientSession> {
  await resetSession(backend);
  const [row] = await backend.run(
    `SELECT oid, rolsuper FROM pg_authid WHERE oid = quote_ident(${literal(user)})::regrole`,
  );
  const isFixed = row![1] !== "t";
  const isBounded = !isFixed && !ofService.test(settings["application_name"] ?? "");
  const session: ClientSession = {
    user,
    oid: Number(row![0]),
    isFixed,
    initial: isBounded ? { statement_timeout: ownersTimeout, ...settings } : settings,
    own: {},
    touched: false,
    statementTimeoutMs: 0,
  };
  await apply(backend, session);
  await readSettings(backend.run, session);
  return session;
}

/** @param previous whose session is in place; null where nobody's is, or it may be in disorder */
export async function enterSession(
  backend: SessionBackend,
  session: ClientSession,
  previous: ClientSession | null,
): Promise<void> {
  if (previous && areOfService(previous, session)) return changeSettings(backend, previous, session);
  await resetSession(backend);
  await apply(backend, session);
}

/**
 * Between two programs of the service nothing is reset, only what differs is set: they have the same rights, and leave
 * nothing behind but what `pg_settings` shows. They take turns seven times a second, and a reset takes 0.7 ms.
 */
function areOfService(...sessions: ClientSession[]): boolean {
  const [{ own }] = sessions as [ClientSession];
  return sessions.every(
    (one) =>
      ofService.test(one.initial["application_name"] ?? "") &&
      one.own["session_authorization"] === owner &&
      one.own["role"] === own["role"],
  );
}

/** Settings that the build starts with wrongly are never reset: `defaults` sets them in each session. */
async function changeSettings(backend: SessionBackend, previous: ClientSession, next: ClientSession): Promise<void> {
  const before = settingsOf(previous);
  const after = settingsOf(next);
  const unset = Object.keys(before).filter((name) => after[name] === undefined);
  if (unset.length > 0) await backend.run(unset.map((name) => `RESET ${identifier(name)}`).join(";"));
  await setAll(backend, Object.fromEntries(Object.entries(after).filter(([name, value]) => before[name] !== value)));
}

/**
 * Keeps what the client has set. To be called between transactions.
 *
 * It asks with the client's own rights and search_path: names and operators without a schema may lead to what the
 * client has made.
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

/** What libpq and others expect at the start. */
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
 * All of DISCARD ALL but DISCARD PLANS. What functions in PL/pgSQL have planned is no client's own, and is good for the
 * next: PostgreSQL plans again when a table or the search path changes. Without it every turn planned the board and a
 * venue's page from the beginning, 20 to 80 ms.
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

export async function resetSession({ run, unfixRole }: SessionBackend): Promise<void> {
  unfixRole();
  // in one message: each costs as much as four of these statements
  await run(`${reset};${defaults}`);
}

/** Settings come after the user: they are set with the user's rights. What a superuser has become since comes last. */
async function apply(backend: SessionBackend, { user, oid, isFixed, initial, own }: ClientSession): Promise<void> {
  if (user !== owner) await setAll(backend, { session_authorization: user });
  if (isFixed) backend.fixRole(oid);
  await setAll(backend, { ...initial, ...own });
}

/** By their names in lower case: `timezone`, as a start-up names it, and `TimeZone`, as `pg_settings` does, are one. */
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

/** Safe with standard_conforming_strings on, which holds right after resetSession. */
function literal(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}
