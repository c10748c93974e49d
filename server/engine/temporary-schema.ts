/** Schemas for tables of a run, which come first in the search path and are gone after it. */
import { randomBytes } from "node:crypto";
import { type Db, type Pool, sql } from "../../shared/database/pool.js";
import { UserError } from "../../shared/process/user-error.js";

export interface TemporarySchema {
  name: string;
  /**
   * Runs `work` in a transaction that finds the tables of the scratch schema first. It should be short: on the embedded
   * database all others wait meanwhile.
   *
   * @throws UserError when the schema is gone, since this process had stood still for too long
   */
  within: <Result>(work: (tx: Db) => Promise<Result>) => Promise<Result>;
  drop: () => Promise<void>;
}

const prefix = "venuewatch_replay_";

/**
 * Whoever has not said for this long that it is alive was killed, and its schema may go. A turn takes a fraction of a
 * second, and no statement more than two minutes.
 */
const leftAfter = "10 minutes";

/**
 * Makes a schema, and drops those that killed runs have left.
 *
 * @throws UserError when the database's user may not make one
 */
export async function makeTemporarySchema(pool: Pool): Promise<TemporarySchema> {
  await dropLeft(pool);
  const name = `${prefix}${randomBytes(6).toString("hex")}`;
  await create(pool, name);

  return {
    name,
    within: (work) =>
      pool.transaction(async (tx) => {
        // A schema that is gone is passed over in a search path, and the real tables would be found. So this comes
        // first: it fails then, and until the end of the transaction it keeps others from dropping the schema.
        await sayAlive(tx, name);
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
      "A replay makes a schema of its own and drops it at the end, and the user of DATABASE_URL may not: let the database's owner run: grant create on database … to …",
      { cause: error },
    );
  }
}

async function sayAlive(tx: Db, name: string): Promise<void> {
  try {
    await tx.query(sql`update ${sql.ident(name, "run")} set alive_at = clock_timestamp()`);
  } catch (error) {
    if ((error as { code?: string }).code !== "42P01") throw error;
    throw new UserError(
      `This replay had stood still for more than ${leftAfter}, and another one has dropped its tables: run it again`,
      { cause: error },
    );
  }
}

async function dropLeft(pool: Pool): Promise<void> {
  const schemas = await pool.query<{ name: string }>(sql`
    select n.nspname as name
    from pg_namespace n
    where n.nspname ~ ${`^${prefix}[0-9a-f]{12}$`} and pg_has_role(n.nspowner, 'usage')
  `);
  for (const { name } of schemas)
    await pool.transaction(async (tx) => {
      // two that clean up at once would drop the same schema
      await tx.query(sql`select pg_advisory_xact_lock(hashtextextended('venuewatch.replay', 0))`);
      if (await isLeft(tx, name)) await drop(tx, name);
    });
}

async function isLeft(tx: Db, name: string): Promise<boolean> {
  const [table] = await tx.query<{ here: boolean }>(sql`select to_regclass(${`${name}.run`}) is not null as here`);
  if (!table?.here) return true;
  // a crash of the server empties the table, since it is not logged
  const [run] = await tx.query<{ left: boolean }>(sql`
    select coalesce(max(alive_at) < clock_timestamp() - ${leftAfter}::interval, true) as left
    from ${sql.ident(name, "run")}
  `);
  return run!.left;
}

async function drop(db: Db, name: string): Promise<void> {
  await db.query(sql`drop schema if exists ${sql.ident(name)} cascade`);
}
