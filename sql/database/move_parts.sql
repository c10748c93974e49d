-- What `move` copies, in this order: tables, referenced ones first; then samples and spans; then every roll-up. From
-- the catalogue, so that a new table is not forgotten. Six tables are no data: `migration` and `definition` describe
-- how this database was made, `leader` who leads here, `timeline` this server's log; `typical_week` and `open_hour` are
-- recomputed.
--
-- {part, kind, reads, writes, columns, written, identity, at, windowMs}: the quoted names to read from and write to (a
-- roll-up is written to its materialization hypertable); all columns, and those that are not generated; the column with
-- a sequence; the time column, and how much time is moved at once. The last two are null for a table.
with recursive hyper as (
  select
    coalesce(a.view_name, d.hypertable_name) as part,
    a.view_name is not null as is_rollup,
    format('%I.%I', d.hypertable_schema, d.hypertable_name)::regclass as kept_in,
    d.column_name as at,
    case
      when d.hypertable_name = 'sample' then interval '1 hour' else least(d.time_interval, interval '30 days')
    end as at_once
  from timescaledb_information.dimensions d
  left join timescaledb_information.continuous_aggregates a
    on a.materialization_hypertable_schema = d.hypertable_schema
      and a.materialization_hypertable_name = d.hypertable_name
  where 'venuewatch' in (d.hypertable_schema, a.view_schema)
),
plain as (
  select c.oid::regclass as kept_in, c.relname as part
  from pg_class c
  where c.relnamespace = 'venuewatch'::regnamespace
    and c.relkind = 'r'
    and c.relname not in ('migration', 'definition', 'leader', 'timeline', 'typical_week', 'open_hour')
    and c.oid not in (select kept_in from hyper)
),
pointing (kept_in, depth) as (
  select kept_in, 0 from plain
  union
  select f.conrelid::regclass, p.depth + 1
  from pointing p
  join pg_constraint f on f.confrelid = p.kept_in and f.contype = 'f' and f.conrelid <> f.confrelid
),
parts as (
  select
    h.part,
    case when h.is_rollup then 'rollup' when h.part = 'sample' then 'samples' else 'spans' end as kind,
    h.kept_in,
    h.at,
    h.at_once,
    -- roll-ups in the order of their creation, because they are built on each other
    array[1, h.is_rollup::int, h.kept_in::oid::bigint] as place
  from hyper h
  union all
  select
    p.part,
    'table',
    p.kept_in,
    null,
    null,
    array[0, (select max(depth) from pointing g where g.kept_in = p.kept_in), p.kept_in::oid::bigint]
  from plain p
)
select
  p.part,
  p.kind,
  format('venuewatch.%I', p.part) as reads,
  -- with the schema: names on the search path would come without it
  (
    select format('%I.%I', n.nspname, c.relname)
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    where c.oid = p.kept_in
  ) as writes,
  a.columns,
  a.written,
  a.identity,
  quote_ident(p.at) as at,
  (extract(epoch from p.at_once) * 1000)::bigint as "windowMs"
from parts p
cross join lateral (
  select
    string_agg(quote_ident(attname), ', ' order by attnum) as columns,
    string_agg(quote_ident(attname), ', ' order by attnum) filter (where attgenerated = '') as written,
    min(attname) filter (where attidentity <> '') as identity
  from pg_attribute
  where attrelid = p.kept_in and attnum > 0 and not attisdropped
) a
order by p.place
