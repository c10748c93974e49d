import type pg from "pg";
import Cursor from "pg-cursor";

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
export async function openRowStream(
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
