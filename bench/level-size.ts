/** Measures how much data a level of the history occupies: samples, or one of their roll-ups. */
import { type Pool, sql } from "../shared/database/pool.js";

interface Size {
  rows: number;
  bytes: number;
}

/** Returns the size on disk of whole chunks, with their indexes. */
export async function compressedSize(pool: Pool, level: string): Promise<Size> {
  const time = sql.ident(level === "sample" ? "ts" : level.split("_").pop()!);
  const [size] = await pool.query<Size>(sql`
    select sum(held.rows)::bigint as rows, sum(on_disk.total_bytes)::bigint as bytes
    from timescaledb_information.chunks c
    left join timescaledb_information.continuous_aggregates a
      on a.materialization_hypertable_schema = c.hypertable_schema and a.materialization_hypertable_name = c.hypertable_name
    join chunks_detailed_size(format('%I.%I', c.hypertable_schema, c.hypertable_name)::regclass) on_disk using (chunk_schema, chunk_name)
    cross join lateral (
      select count(*) as rows
      from ${sql.ident(level)}
      where ${time} >= c.range_start and ${time} < c.range_end
    ) held
    where coalesce(a.view_name, c.hypertable_name) = ${level} and c.is_compressed
  `);
  if (!size || size.rows === 0) throw new Error(`expected compressed chunks of ${level}, found none`);
  return size;
}

/** Returns the size of the rows of a table that are not compressed yet; its time is in the column of this name. */
export async function runningSize(pool: Pool, level: string, time: string): Promise<Size> {
  const [size] = await pool.query<Size>(sql`
    select
      sum(pg_total_relation_size(format('%I.%I', c.chunk_schema, c.chunk_name)::regclass))::bigint as bytes,
      (select count(*) from ${sql.ident(level)} where ${sql.ident(time)} >= min(c.range_start)) as rows
    from timescaledb_information.chunks c
    left join timescaledb_information.continuous_aggregates a
      on a.materialization_hypertable_schema = c.hypertable_schema and a.materialization_hypertable_name = c.hypertable_name
    where coalesce(a.view_name, c.hypertable_name) = ${level} and not c.is_compressed
  `);
  return size!;
}

/**
 * Returns the most days that remain uncompressed: the length of a chunk plus the time that upkeep waits after its end.
 */
export async function openDaysOf(pool: Pool, level: string): Promise<number> {
  const [open] = await pool.query<{ days: number }>(sql`
    select extract(epoch from d.time_interval + upkeep.compressed_after())::float / 86400 as days
    from timescaledb_information.dimensions d
    join timescaledb_information.continuous_aggregates a
      on a.materialization_hypertable_schema = d.hypertable_schema and a.materialization_hypertable_name = d.hypertable_name
    where a.view_schema = 'venuewatch' and a.view_name = ${level}
  `);
  return open!.days;
}

export async function uncompressedSize(pool: Pool, level: string): Promise<Size> {
  const table = await tableOf(pool, level);
  const [size] = await pool.query<Size>(sql`
    select (select count(*) from ${sql.ident(level)}) as rows, hypertable_size(${table.name}::regclass)::bigint as bytes
  `);
  return size!;
}

export async function tableOf(pool: Pool, level: string) {
  const [table] = await pool.query<{ schema: string; table: string }>(sql`
    select materialization_hypertable_schema as schema, materialization_hypertable_name as table
    from timescaledb_information.continuous_aggregates
    where view_schema = 'venuewatch' and view_name = ${level}
  `);
  const { schema, table: name } = table!;
  return { name: `${schema}.${name}`, ident: sql.ident(schema, name) };
}

export async function bytesOfRow(size: Promise<Size>): Promise<number> {
  const { rows, bytes } = await size;
  return rows === 0 ? 0 : bytes / rows;
}
