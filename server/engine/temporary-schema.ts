/** Schemas for the temporary tables of a run. They come first in the search path and are dropped after it. */
import { randomBytes } from "node:crypto";
import { type Db, type Pool, sql } from "../../shared/database/pool.js";
import { UserError } from "../../shared/process/user-error.js";

export interface TemporarySchema {
  name: string;
  /**
   * Runs `work` in a transaction that finds the tables of this schema first. Keep it short: it blocks all other users
   * of the embedded database.
   *
   * @throws UserError when the schema was dropped because this process stalled for too long
   */
  within: <Result>(work: (tx: Db) => Promise<Result>) => Promise<Result>;
  drop: () => Promise<void>;
}

const prefix = "venuewatch_replay_";

/**
 * A run that has not updated `alive_at` for this long was killed, and its schema may be dropped. A batch takes a
 * fraction of a second, and no statement more than two minutes.
 */
const abandonedAfter = "10 minutes";

/**
 * Creates a schema, and drops those left by killed runs.
 *
 * @throws UserError when the database's user may not create one
 */
export async function makeTemporarySchema(pool: Pool): Promise<TemporarySchema> {
  await dropAbandoned(pool);
  const name = `${prefix}${randomBytes(6).toString("hex")}`;
  await create(pool, name);

  return {
    name,
    within: (work) =>
      pool.transaction(async (tx) => {
        // PostgreSQL ignores a missing schema in the search path, and the real tables would be found. So this comes
        // first: it fails if the schema is gone, and blocks others from dropping it until the transaction ends.
        await markAlive(tx, name);
        // local: on the embedded database all clients share a session
        await tx.query(sql`set local search_path = ${sql.ident(name)}, venuewatch, public`);
        return work(tx);
      }),
    drop: () => drop(pool, name),
  };
}

async function create(pool: Pool, name: string): Promise<void> {
  try {
    await pool.transaction(async (tx) => {
      await tx.query(sql`create schema ${sql.ident(name)}`);
      await tx.query(sql`create unlogged table ${sql.ident(name, "run")} (alive_at timestamptz not null)`);
      await tx.query(sql`insert into ${sql.ident(name, "run")} values (clock_timestamp())`);
    });
  } catch (error) {
    if ((error as { code?: string }).code !== "42501") throw error;
    throw new UserError(
      "A replay creates a temporary schema, which the user of DATABASE_URL may not do: as the database's owner, run: grant create on database … to …",
      { cause: error },
    );
  }
}

async function markAlive(tx: Db, name: string): Promise<void> {
  try {
    await tx.query(sql`update ${sql.ident(name, "run")} set alive_at = clock_timestamp()`);
  } catch (error) {
    if ((error as { code?: string }).code !== "42P01") throw error;
    throw new UserError(
      `This replay stalled for more than ${abandonedAfter}, and another replay has dropped its tables: run it again`,
      { cause: error },
    );
  }
}

async function dropAbandoned(pool: Pool): Promise<void> {
  const schemas = await pool.query<{ name: string }>(sql`
    select n.nspname as name
    from pg_namespace n
    where n.nspname ~ ${`^${prefix}[0-9a-f]{12}$`} and pg_has_role(n.nspowner, 'usage')
  `);
  for (const { name } of schemas)
    await pool.transaction(async (tx) => {
      // two concurrent clean-ups would drop the same schema
      await tx.query(sql`select pg_advisory_xact_lock(hashtextextended('venuewatch.replay', 0))`);
      if (await isAbandoned(tx, name)) await drop(tx, name);
    });
}

async function isAbandoned(tx: Db, name: string): Promise<boolean> {
  const [table] = await tx.query<{ here: boolean }>(sql`select to_regclass(${`${name}.run`}) is not null as here`);
  if (!table?.here) return true;
  // a server crash empties the table, since it is unlogged
  const [run] = await tx.query<{ left: boolean }>(sql`
    select coalesce(max(alive_at) < clock_timestamp() - ${abandonedAfter}::interval, true) as left
    from ${sql.ident(name, "run")}
  `);
  return run!.left;
}

async function drop(db: Db, name: string): Promise<void> {
  await db.query(sql`drop schema if exists ${sql.ident(name)} cascade`);
}
