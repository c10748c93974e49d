-- Saving disk: compression, and what needs a vacuum.

-- Whether rows were inserted into a chunk after its compression: they lie in the chunk itself, beside its batches.
create function upkeep.has_rows_beside(chunk regclass) returns boolean
language plpgsql stable
as $$
declare
  found_one boolean;
begin
  execute format('select exists (select from only %s)', chunk) into found_one;
  return found_one;
end;
$$;

-- Compresses the oldest chunk that is due: raw samples first, then roll-ups. One per call, so that others do not wait
-- long. If none is due, a compressed chunk with rows inserted since: until then they lie beside the compressed ones, at
-- ten times the size. Returns its name, or null if nothing is due.
--
-- A day of a series' minutes goes into one batch, if TimescaleDB takes more than a thousand rows: 6.1 bytes a row,
-- instead of 7.5 in two batches, because most columns are nearly constant, and each takes as much in a small batch as
-- in a large one. Not so samples: a reader of the last minutes of a day would unpack more.
create function upkeep.compress_next(at timestamptz) returns text
language plpgsql
as $$
declare
  due    regclass;
  rollup name;
begin
  -- materialized: the planner expects one chunk, and otherwise computes this view for each of the hundreds (0.3 s)
  with rollups as materialized (
    select ca.* from timescaledb_information.continuous_aggregates ca
  )
  select format('%I.%I', ch.chunk_schema, ch.chunk_name)::regclass, ca.view_name into due, rollup
  from timescaledb_information.chunks ch
  left join rollups ca
    on ca.materialization_hypertable_schema = ch.hypertable_schema
    and ca.materialization_hypertable_name = ch.hypertable_name
  where ch.range_end
    <= at - case when ca.view_name is null then upkeep.samples_compressed_after() else upkeep.compressed_after() end
    and coalesce(ca.view_name, ch.hypertable_name) in (
      'sample', 'sample_minute', 'latency_hour', 'stream_hour', 'component_minute', 'venue_minute', 'sample_hour',
      'latency_day'
    )
    and coalesce(ca.view_schema, ch.hypertable_schema) = 'venuewatch'
    and case
      when ch.is_compressed then upkeep.has_rows_beside(format('%I.%I', ch.chunk_schema, ch.chunk_name)::regclass)
      else true
    end
  order by ch.is_compressed, ca.view_name is not null, ch.range_end
  limit 1;
  if due is not null then
    perform set_config(s.name, least(1440, s.max_val::int)::text, true)
    from pg_settings s
    where s.name = 'timescaledb.compression_batch_size_limit' and rollup is not null;
    perform compress_chunk(due, if_not_compressed => true);
  end if;
  return due::text;
end;
$$;

-- Tables that are rewritten constantly and need an explicit vacuum: on the embedded database, which has no autovacuum,
-- the open chunks of roll-ups, whose newest rows are recomputed every few seconds (40 MB an hour with the registry's
-- venues if not vacuumed), and the catalogue.
create function upkeep.rewritten() returns setof text
language sql stable
as $$
  select format('%I.%I', ch.chunk_schema, ch.chunk_name)
  from timescaledb_information.continuous_aggregates ca
  join timescaledb_information.chunks ch
    on ch.hypertable_schema = ca.materialization_hypertable_schema
      and ch.hypertable_name = ca.materialization_hypertable_name
  where is_embedded()
    and ca.view_schema = 'venuewatch'
    and not ch.is_compressed
    and ch.range_end > now() - interval '2 days'
  union all
  select format('%I.%I', n.nspname, c.relname)
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  where is_embedded() and c.relkind = 'r' and c.relpages > 16
    and (
      c.relnamespace = 'pg_catalog'::regnamespace
      -- tables of the extension
      or exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
    )
$$;

-- Tables that have at least doubled since they were analyzed, on the embedded database, which has no autovacuum. After
-- a first start, its statistics know the handful of samples of the first seconds, and a plan made for these takes more
-- than twenty times as long a minute later.
create function upkeep.grown() returns setof text
language sql stable
as $$
  select format('%I.%I', n.nspname, c.relname)
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  where is_embedded()
    and c.relkind = 'r'
    and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
    -- a table of a few pages is read whole in any plan
    and pg_relation_size(c.oid) > 2 * greatest(c.relpages, 4) * current_setting('block_size')::integer
$$;

-- Creates the chunk of samples for two hours from now, on a server, where a chunk is a day. Otherwise the first sample
-- of a day would: its transaction locks the table against others that need a new chunk, and a probe that leaves its own
-- open would stop the probes of all regions. TimescaleDB has no function for it, so a sample is inserted and deleted.
create procedure upkeep.make_next_chunk(at timestamptz)
language plpgsql
as $$
declare
  ahead constant timestamptz := at + interval '2 hours';
begin
  if is_embedded() or exists (
    select
    from timescaledb_information.chunks ch
    where ch.hypertable_schema = 'venuewatch' and ch.hypertable_name = 'sample'
      and ch.range_start <= ahead and ch.range_end > ahead
  ) then
    return;
  end if;
  insert into sample (ts, component_id, region_id, good)
  select ahead, c.component_id, g.region_id, true
  from component c
  cross join region g
  order by 2, 3
  limit 1;
  delete from sample where ts = ahead;
end;
$$;
