import databasesSql, { type SQLQuery } from "@databases/sql";
import pg from "pg";
import Cursor from "pg-cursor";
import type { SettingName } from "../config/settings.js";
import type { Log } from "../log/log.js";
import { UserError } from "../process/user-error.js";
import { databaseFault, countsAsAway } from "./fault.js";
import { type Connections, openConnections } from "./hosts.js";
import { statementText } from "./sql-files.js";

/** Tagged templates whose values are bound. (The second `default` is needed because the package is CommonJS.) */
export const sql = databasesSql.default;

/** Queries one database, on any connection of the pool or on that of a transaction. */
export interface Db {
  /** Rows of a tagged template; its values are bound, never interpolated. */
  query<Row>(query: SQLQuery): Promise<Row[]>;
  /**
   * Rows of the statement `<name>.sql` with the values as `$1, $2, …`. Statements are unnamed: on the embedded database
   * a named one would be shared by all clients.
   */
  file<Row>(name: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Rows of any other statement; its values are bound, too. */
  text<Row>(text: string, values: readonly unknown[]): Promise<Row[]>;
  /** Runs several statements, as in a file, without values. */
  script(text: string): Promise<void>;
}

export interface Pool extends Db {
  /** Runs `work` in one transaction on one connection; rolled back when it throws. */
  transaction<Result>(work: (tx: Db) => Promise<Result>): Promise<Result>;
  /** Rows of the statement `<name>.sql` in batches of `batchRows`; see `RowStream`. */
  rows(name: string, values: readonly unknown[], batchRows: number): Promise<RowStream>;
  /** The same for any other statement. */
  textRows(text: string, values: readonly unknown[], batchRows: number): Promise<RowStream>;
  close: () => Promise<void>;
}

export interface PoolOptions {
  /** The program's name in `pg_stat_activity`. */
  applicationName: string;
  log: Log;
  /** Maximum number of connections. */
  max?: number;
  /** Limit of a statement; on the embedded database, of all statements of one exchange together. */
  statementTimeoutMs?: number;
  /** How long a transaction may be idle, on a server, before its connection is ended. */
  idleInTransactionMs?: number;
  /** Nothing is written: of several hosts, a standby can be used. */
  readOnly?: boolean;
}

/**
 * Opens a pool, which connects at its first query. Times are read as Date, bigints and numerics as numbers.
 */
export function openPool(url: string, options: PoolOptions): Pool {
  const config: pg.PoolConfig = {
    application_name: `venuewatch ${options.applicationName}`,
    max: options.max ?? 4,
    connectionTimeoutMillis: 10_000,
    statement_timeout: options.statementTimeoutMs,
    idle_in_transaction_session_timeout: options.idleInTransactionMs,
    // a server that vanished does not report its own timeout either
    query_timeout: options.statementTimeoutMs && options.statementTimeoutMs + 1_000,
    // idle connections notice such a server within minutes, not hours
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    options: sessionSettings.map((setting) => `-c ${setting}`).join(" "),
    types: resultTypes,
  };
  const { log, readOnly = false } = options;
  const pool = openConnections(url, config, { readOnly, log });

  const { succeeded } = options.log.database;

  async function textRows(text: string, values: readonly unknown[], batchRows: number) {
    const rows = await openRowStream(await pool.connect(), text, values, resultTypes, batchRows);
    succeeded();
    return rows;
  }

  return {
    ...makeDb((text, values) => queryOnce(pool, text, values), succeeded),
    transaction: (work) => inTransaction(pool, work, succeeded),
    rows: (name, values, batchRows) => textRows(statementText(name), values, batchRows),
    textRows,
    close: () => pool.end(),
  };
}

/** These override the server's own settings. */
const sessionSettings = [
  // the migration sets this for the database, but not for older connections
  "search_path=venuewatch,public",
  "timezone=UTC",
  "jit=off",
  // the formats that pg parses, and that `move` compares
  "datestyle=ISO,MDY",
  "intervalstyle=postgres",
  "bytea_output=hex",
  "extra_float_digits=1",
];

/**
 * Opens a pool to a database that must be there.
 *
 * @param setting the setting or option that has the address
 * @throws UserError where it cannot be used; also for a superuser, if somebody else owns our functions and views, which
 * would run with all rights
 */
export async function connect(url: string, options: PoolOptions, setting?: string): Promise<Pool> {
  const pool = openPool(url, options);
  try {
    // only names of pg_catalog: the owner may have set the search path
    const [other] = await pool.query<{ owner: string }>(sql`
      select owner.rolname as owner
      from pg_catalog.pg_namespace n
      join pg_catalog.pg_roles owner on owner.oid operator(pg_catalog.=) n.nspowner
      join pg_catalog.pg_roles me on me.rolname operator(pg_catalog.=) current_user
      where n.nspname operator(pg_catalog.=) 'venuewatch' and me.rolsuper and not owner.rolsuper
    `);
    if (other)
      throw new UserError(
        `${setting ?? "DATABASE_URL"} names a superuser, but ${other.owner}, who is none, owns the schema: give ${other.owner}'s address`,
      );
    return pool;
  } catch (error) {
    await pool.close();
    throw databaseFault(error, url, setting) ?? error;
  }
}

/** For programs that can start without the database: logs why it cannot be used. It may become available later. */
export async function warnUnlessReachable(
  pool: Pool,
  url: string,
  log: Log,
  setting: SettingName = "DATABASE_URL",
): Promise<void> {
  try {
    await pool.query(sql`select`);
  } catch (error) {
    const fault = databaseFault(error, url, setting) ?? (error as Error);
    if (!countsAsAway(log, "first connections", fault)) log.warn(fault.message);
  }
}

type Execute = (text: string, values?: unknown[]) => Promise<pg.QueryResult>;

/** On any connection. After an error the connection is discarded, since its state is unknown. */
async function queryOnce(pool: Connections, text: string, values?: unknown[]): Promise<pg.QueryResult> {
  const client = await pool.connect();
  let broken: Error | undefined;
  // when the connection is lost, the query itself fails
  const lost = (error: Error) => (broken = error);
  client.on("error", lost);
  try {
    return await client.query(text, values);
  } catch (error) {
    broken = error as Error;
    throw error;
  } finally {
    client.off("error", lost);
    client.release(broken);
  }
}

function makeDb(execute: Execute, succeeded: () => void): Db {
  async function text<Row>(text: string, values: readonly unknown[]) {
    const result = await execute(text, [...values]);
    succeeded();
    return result.rows as Row[];
  }
  return {
    query<Row>(query: SQLQuery) {
      const { text: formatted, values } = query.format(sqlFormat);
      return text<Row>(formatted, values);
    },
    file<Row>(name: string, values: readonly unknown[] = []) {
      return text<Row>(statementText(name), values);
    },
    text,
    async script(text) {
      await execute(text);
      succeeded();
    },
  };
}

async function inTransaction<Result>(
  pool: Connections,
  work: (tx: Db) => Promise<Result>,
  succeeded: () => void,
): Promise<Result> {
  const client = await pool.connect();
  let broken: Error | undefined;
  // without a listener, a connection that is lost between two statements would end the program
  const lost = (error: Error) => (broken = error);
  client.on("error", lost);
  try {
    await client.query("begin");
    const result = await work(makeDb((text, values) => client.query(text, values), succeeded));
    await client.query("commit");
    return result;
  } catch (error) {
    // the first error is thrown; a connection that cannot even roll back is discarded
    await client.query("rollback").catch((rollback: Error) => {
      broken = rollback;
    });
    // this server has become read-only, and another one may be writable
    const { code } = error as { code?: string };
    if (code === readOnlyTransaction) broken ??= error as Error;
    throw error;
  } finally {
    client.off("error", lost);
    client.release(broken);
  }
}

/** SQLSTATE. */
const readOnlyTransaction = "25006";

const sqlFormat = {
  escapeIdentifier: (name: string) => pg.escapeIdentifier(name),
  formatValue: (value: unknown, index: number) => ({
    placeholder: `$${index + 1}`,
    value,
  }),
};

/** Our bigints and numerics are counts and percentages, which a number represents exactly. */
const resultTypes = new pg.TypeOverrides();
resultTypes.setTypeParser(pg.types.builtins.INT8, Number);
resultTypes.setTypeParser(pg.types.builtins.NUMERIC, Number);

/**
 * The rows of one statement, read in batches from a cursor: a list of any length takes the memory of two batches.
 *
 * A reader holds the connection until its last row is read, and on the embedded database, where an open cursor occupies
 * the only backend, blocks everyone else. A list shorter than a batch is read at once, and holds none.
 */
export interface RowStream {
  columns: readonly string[];
  /**
   * The next batch, with values in the order of the columns; null at the end.
   *
   * @throws Error where the database fails
   */
  next(): Promise<unknown[][] | null>;
  /** Call it to stop before the end; it does no harm otherwise. */
  close(): void;
}

/**
 * @param client is released by this in any case
 * @throws Error where the statement fails before its first rows
 */
async function openRowStream(
  client: pg.PoolClient,
  text: string,
  values: readonly unknown[],
  types: pg.CustomTypesConfig,
  batchRows: number,
): Promise<RowStream> {
  let failure: Error | undefined;
  let held = true;
  /** Rejects the read in progress: its cursor does not report that its connection was taken away. */
  let abortRead: ((error: Error) => void) | undefined;
  const lost = (error: Error) => release((failure ??= error));
  client.on("error", lost);
  const cursor = client.query(new Cursor<unknown[]>(text, [...values], { rowMode: "array", types }));

  /** A connection whose cursor was not read to the end is discarded: closing it would wait for the statement. */
  function release(broken?: Error): void {
    if (!held) return;
    held = false;
    client.off("error", lost);
    // only this ends pg's query timer, which would keep the program alive
    (cursor as unknown as { callback?: () => void }).callback?.();
    client.release(broken);
    if (broken) abortRead?.(broken);
  }

  function read() {
    return new Promise<{ rows: unknown[][]; columns: string[] }>((resolve, reject) => {
      abortRead = reject;
      cursor.read(batchRows, (error, rows, result) => {
        if (error) {
          release((failure ??= error));
          return reject(failure);
        }
        if (rows.length < batchRows) release();
        resolve({ rows, columns: result.fields.map(({ name }) => name) });
      });
    });
  }

  const first = await read();
  let ahead: unknown[][] | Promise<unknown[][]> | null = first.rows;

  return {
    columns: first.columns,
    async next() {
      if (failure) throw failure;
      const rows = await ahead;
      if (!rows || rows.length === 0) return null;
      // the database produces the next batch while this one is used
      ahead = held ? readAhead() : null;
      return rows;
    },
    close() {
      release(new Error("not read to the end"));
    },
  };

  function readAhead(): Promise<unknown[][]> {
    const reading = read().then(({ rows }) => rows);
    // it may fail after the reader has stopped
    reading.catch(() => {});
    return reading;
  }
}
