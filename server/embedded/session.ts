/**
 * One backend is one session, and its clients take turns in it. A session
 * kept here is what a client's own would have been: it is put in place when
 * another client had the backend before.
 *
 * Each client has for itself: settings (SET, SET ROLE, SET SESSION
 * AUTHORIZATION, start-up parameters). They come back with each of its turns.
 *
 * Gone as soon as another client has had a turn, at the latest between two
 * transactions, as behind a transaction pooler: temporary tables, cursors
 * WITH HOLD, PREPAREd statements, session-level advisory locks, currval().
 * Settings made by set_config() outside a SET, and of names that PostgreSQL
 * does not know (`my.setting`), are lost in the same way.
 *
 * Nothing of these reaches the next client. What still does: the libraries
 * that LOAD loaded, and the state of random().
 *
 * Putting a session in place costs 0.2 ms; a plain `select 1` costs 0.1 ms.
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
  SET SESSION AUTHORIZATION postgres;
  SET log_min_messages = fatal;
  SET client_min_messages = notice;
  SET search_path = venuewatch, public;
  SET enable_seqscan = on;
  SET allow_system_table_mods = off;
  SET jit = off;
  SET work_mem = '16MB';
  SET TimeZone = 'UTC'`;

export interface Session {
  /** As the start-up packet asked. */
  initial: Record<string, string>;
  /** As the client has SET since. */
  own: Record<string, string>;
  /** Whether the client may have changed settings since its session was put in place. */
  touched: boolean;
}

/** Takes one SQL text, answers its rows or throws the backend's error. */
export type Run = (sql: string) => Promise<(string | null)[][]>;

/** A user who exists as a role acts as that role; any other, as in `psql` without `-U`, is the superuser. */
export async function openSession(
  run: Run,
  user: string,
  settings: Record<string, string>,
): Promise<Session> {
  await resetSession(run);
  const roles = await run(
    `SELECT 1 FROM pg_roles WHERE rolname = ${literal(user)} AND rolname <> current_user`,
  );
  const role: Record<string, string> = roles.length > 0 ? { role: user } : {};
  const session = {
    initial: { ...settings, ...role },
    own: {},
    touched: false,
  };
  await apply(run, session);
  return session;
}

export async function enterSession(run: Run, session: Session): Promise<void> {
  await resetSession(run);
  await apply(run, session);
}

/** To be called between transactions, before another session is put in place. */
export async function leaveSession(run: Run, session: Session): Promise<void> {
  if (!session.touched) return;
  session.touched = false;
  const rows = await run(`
    SELECT name, setting FROM pg_settings WHERE source = 'session'
    UNION ALL SELECT 'session_authorization', session_user WHERE session_user <> 'postgres'
    UNION ALL SELECT 'role', current_setting('role')`);
  session.own = Object.fromEntries(rows) as Record<string, string>;
}

/** What libpq and others want to be told at the start. */
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

/** Name and value of each setting that a client is told of at the start. */
export async function reportedSettings(run: Run): Promise<[string, string][]> {
  const values = reported.map((name) => `current_setting(${literal(name)})`);
  const [row] = await run(`SELECT ${values.join(", ")}, session_user`);
  const names = [...reported, "session_authorization"];
  return names.map((name, i) => [name, row?.[i] ?? ""]);
}

/**
 * All of DISCARD ALL but DISCARD PLANS. What functions in PL/pgSQL have planned is no client's own, and is good for the next: plans are made anew
 * where a table or the search path is another. Without it every turn planned the board and a venue's page from the beginning, 20 to 80 ms.
 *
 * RESET and DISCARD do not undo SET SESSION AUTHORIZATION in this build.
 */
const reset = `
  CLOSE ALL;
  RESET ALL;
  DEALLOCATE ALL;
  UNLISTEN *;
  SELECT pg_advisory_unlock_all();
  DISCARD SEQUENCES;
  DISCARD TEMP`;

export async function resetSession(run: Run): Promise<void> {
  await run(reset);
  await run(defaults);
}

/** What is applied after session_authorization and role runs with their rights, so they come last. */
async function apply(run: Run, session: Session): Promise<void> {
  const all = { ...session.initial, ...session.own };
  const { session_authorization, role, ...rest } = all;
  const calls = Object.entries({ ...rest, session_authorization, role })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => setConfig(name, value!));
  if (calls.length > 0) await run(`SELECT ${calls.join(", ")}`);
}

function setConfig(name: string, value: string): string {
  return `set_config(${literal(name)}, ${literal(value)}, false)`;
}

/** Safe with standard_conforming_strings on, which holds right after DISCARD ALL. */
function literal(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}
