import type pg from "pg";
import Cursor from "pg-cursor";

/**
 * The rows of one statement, read by batches from a cursor: a list of any length takes the memory of two batches.
 *
 * Who reads slowly would hold the connection meanwhile, and on the embedded database, where an open cursor has the one
 * backend to itself, everybody else. Therefore the first batch is read before anything else is done, a connection goes
 * back as soon as the last row has been read from it, and `holdMs` after the first batch it is taken away. A list of
 * fewer rows than a batch is thus read whole, and its reader never holds a connection at all.
 */
export interface RowStream {
  columns: readonly string[];
  /** The first batch, which `next` gives too. */
  first: readonly unknown[][];
  /**
   * Values in the order of the columns, or null when there are no more.
   *
   * @throws Error where the database fails, or where the connection has been held for too long
   */
  next(): Promise<unknown[][] | null>;
  /** To be called by who stops before the end, and may be by anybody. */
  close(): void;
}

/** How rows are read. */
export interface BatchOptions {
  batchRows: number;
  /** From the first batch on; Infinity where nobody else waits for the connection. */
  holdMs: number;
}

/** More rows a batch than a page of the API has: its answers are one batch each. */
export const usualBatches: BatchOptions = { batchRows: 250, holdMs: 5_000 };

/**
 * @param client is given back by this, whatever happens
 * @throws Error where the statement fails at its first rows
 */
export async function openRowStream(
  client: pg.PoolClient,
  text: string,
  values: readonly unknown[],
  types: pg.CustomTypesConfig,
  { batchRows, holdMs }: BatchOptions,
): Promise<RowStream> {
  let failure: Error | undefined;
  let held = true;
  /** Of the batch that is under way: its cursor tells nobody that its connection was taken away. */
  let giveUp: ((error: Error) => void) | undefined;
  const lost = (error: Error) => giveBack((failure ??= error));
  client.on("error", lost);
  let late: NodeJS.Timeout | undefined;
  const cursor = client.query(new Cursor<unknown[]>(text, [...values], { rowMode: "array", types }));

  /** One whose cursor was not read to its end is thrown away: closing it would wait for the statement. */
  function giveBack(broken?: Error): void {
    if (!held) return;
    held = false;
    clearTimeout(late);
    client.off("error", lost);
    // pg's timer of a query is ended by this alone, and would keep the program alive
    (cursor as unknown as { callback?: () => void }).callback?.();
    client.release(broken);
    if (broken) giveUp?.(broken);
  }

  function read() {
    return new Promise<{ rows: unknown[][]; columns: string[] }>((resolve, reject) => {
      giveUp = reject;
      cursor.read(batchRows, (error, rows, result) => {
        if (error) {
          giveBack((failure ??= error));
          return reject(failure);
        }
        if (rows.length < batchRows) giveBack();
        resolve({ rows, columns: result.fields.map(({ name }) => name) });
      });
    });
  }

  const first = await read();
  // from here on it is the reader who holds it; a statement has a limit of its own
  if (held && holdMs < Infinity)
    late = setTimeout(() => {
      lost(new Error(`the rows were not read within ${holdMs} ms`));
    }, holdMs);
  let ahead: unknown[][] | Promise<unknown[][]> | null = first.rows;

  return {
    columns: first.columns,
    first: first.rows,
    async next() {
      if (failure) throw failure;
      const rows = await ahead;
      if (!rows || rows.length === 0) return null;
      // the database makes the next ones while these are written
      ahead = held ? readAhead() : null;
      return rows;
    },
    close() {
      giveBack(new Error("not read to the end"));
    },
  };

  function readAhead(): Promise<unknown[][]> {
    const asked = read().then(({ rows }) => rows);
    // it may fail when nobody waits for it any more
    asked.catch(() => {});
    return asked;
  }
}
