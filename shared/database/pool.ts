import { readFileSync } from "node:fs";
import databasesSql, { type SQLQuery } from "@databases/sql";
import pg from "pg";
import { countsAsAway } from "./away.js";
import { databaseFault } from "./fault.js";
import type { Log } from "../log/log.js";
import { openRowStream, type BatchOptions, type RowStream, usualBatches } from "./row-stream.js";
import { type Connections, openConnections } from "./writable-host.js";
import type { SettingName } from "../config/settings.js";
import { sqlFolder } from "./sql-files.js";

/** Tagged templates whose values are bound. (The package is CommonJS, hence the second default.) */
export const sql = databasesSql.default;

/** A way to ask one database, either any connection of the pool or the one that a transaction holds. */
export interface Db {
  /** Rows of a tagged template; its values are bound, never pasted. */
  query<Row>(query: SQLQuery): Promise<Row[]>;
  /**
   * Rows of `sql/queries/<name>.sql`, whose `$1, $2, …` are the values. Statements are unnamed: on the embedded
   * database a named one would be shared by all clients.
   */
  file<Row>(name: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Rows of a statement read from elsewhere; its values are bound too. */
  text<Row>(text: string, values: readonly unknown[]): Promise<Row[]>;
  /** Several statements at once, as they stand in a file; no values. */
  script(text: string): Promise<void>;
}

export interface Pool extends Db {
  /** Runs `work` in one transaction on one connection; rolled back when it throws. */
  transaction<Result>(work: (tx: Db) => Promise<Result>): Promise<Result>;
  /** Rows of `sql/queries/<name>.sql`, by batches, of which the first is there already; see `Rows`. */
  rows(name: string, values: readonly unknown[], reading?: Partial<BatchOptions>): Promise<RowStream>;
  /** The same, of a statement read from elsewhere. */
  textRows(text: string, values: readonly unknown[], reading?: Partial<BatchOptions>): Promise<RowStream>;
  close: () => Promise<void>;
}

export interface PoolOptions {
  /** The program, as `pg_stat_activity` shows it. */
  applicationName: string;
  log: Log;
  /** Connections at the most. */
  max?: number;
  /** A statement may run this long; on the embedded database all statements of one exchange. */
  statementTimeoutMs?: number;
  /** A transaction may do nothing for this long, on a server; then its connection is ended. */
  idleInTransactionMs?: number;
  /** Nothing is written: where the address names several hosts, a standby will do. */
  readOnly?: boolean;
}

/**
 * Opens a pool; it connects only when it is asked something. Times are read as Date, bigints and numerics as numbers.
 */
export function openPool(url: string, options: PoolOptions): Pool {
  const config: pg.PoolConfig = {
    application_name: `venuewatch ${options.applicationName}`,
    max: options.max ?? 4,
    connectionTimeoutMillis: 10_000,
    statement_timeout: options.statementTimeoutMs,
    idle_in_transaction_session_timeout: options.idleInTransactionMs,
    // a server that vanished without a word does not even say that it gave up
    query_timeout: options.statementTimeoutMs && options.statementTimeoutMs + 1_000,
    // such a server is noticed on idle connections in minutes, not in hours
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    options: sessionSettings.map((setting) => `-c ${setting}`).join(" "),
    types,
  };
  const { log, readOnly = false } = options;
  const pool = openConnections(url, config, { readOnly, log });

  const { succeeded } = options.log.database;

  async function textRows(text: string, values: readonly unknown[], reading: Partial<BatchOptions> = {}) {
    const rows = await openRowStream(await pool.connect(), text, values, types, {
      ...usualBatches,
      ...reading,
    });
    succeeded();
    return rows;
  }

  return {
    ...asker((text, values) => askOnce(pool, text, values), succeeded),
    transaction: (work) => inTransaction(pool, work, succeeded),
    rows: (name, values, reading) => textRows(queryFile(name), values, reading),
    textRows,
    close: () => pool.end(),
  };
}

/** Whatever the server's own settings are. */
const sessionSettings = [
  // as the database is set by the migration, for connections that are older than it
  "search_path=venuewatch,public",
  "timezone=UTC",
  "jit=off",
  // as pg reads values, and as `move` compares them
  "datestyle=ISO,MDY",
  "intervalstyle=postgres",
  "bytea_output=hex",
  "extra_float_digits=1",
];

/**
 * Opens a pool to a database that must be there.
 *
 * @param setting where the user has written the address
 * @throws UserError where it cannot be reached
 */
export async function connect(url: string, options: PoolOptions, setting?: string): Promise<Pool> {
  const pool = openPool(url, options);
  try {
    await pool.query(sql`select`);
    return pool;
  } catch (error) {
    await pool.close();
    throw databaseFault(error, url, setting) ?? error;
  }
}

/** For programs that can begin without the database: what is wrong with it is told, and it may come later. */
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

type Ask = (text: string, values?: unknown[]) => Promise<pg.QueryResult>;

/** On any connection; one on which something failed is thrown away, since nobody knows what state it is in. */
async function askOnce(pool: Connections, text: string, values?: unknown[]): Promise<pg.QueryResult> {
  const client = await pool.connect();
  let broken: Error | undefined;
  // of a connection that is lost meanwhile the query itself fails
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

function asker(ask: Ask, succeeded: () => void): Db {
  async function text<Row>(text: string, values: readonly unknown[]) {
    const result = await ask(text, [...values]);
    succeeded();
    return result.rows as Row[];
  }
  return {
    query<Row>(query: SQLQuery) {
      const { text: formatted, values } = query.format(placeholders);
      return text<Row>(formatted, values);
    },
    file<Row>(name: string, values: readonly unknown[] = []) {
      return text<Row>(queryFile(name), values);
    },
    text,
    async script(text) {
      await ask(text);
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
    const result = await work(asker((text, values) => client.query(text, values), succeeded));
    await client.query("commit");
    return result;
  } catch (error) {
    // the first error is the one to tell; a connection that cannot even roll back is thrown away
    await client.query("rollback").catch((rollback: Error) => {
      broken = rollback;
    });
    // its server does not take writes any more, and another one may
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

const placeholders = {
  escapeIdentifier: (name: string) => pg.escapeIdentifier(name),
  formatValue: (value: unknown, index: number) => ({
    placeholder: `$${index + 1}`,
    value,
  }),
};

const queryTexts = new Map<string, string>();

function queryFile(name: string): string {
  let text = queryTexts.get(name);
  if (text === undefined) {
    text = readFileSync(new URL(`queries/${name}.sql`, sqlFolder), "utf8");
    queryTexts.set(name, text);
  }
  return text;
}

/** Our bigints and numerics are counts and percentages, all within what a number holds exactly. */
const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, Number);
types.setTypeParser(pg.types.builtins.NUMERIC, Number);
