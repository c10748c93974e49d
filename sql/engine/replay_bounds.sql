-- The period and the components that can be replayed. $1 the rules as JSON, $2 a venue or null.
--
-- {ticked_at, kept_since, raw_kept_ms, longest_span_ms, components}; `kept_since` is a lower bound of the oldest kept
-- samples, `components` the ids of the watched components.
select
  (select c.ticked_at from engine_clock c) as ticked_at,
  (
    select min(ch.range_start)
    from timescaledb_information.chunks ch
    where ch.hypertable_schema = 'venuewatch' and ch.hypertable_name = 'sample'
  ) as kept_since,
  extract(epoch from upkeep.raw_kept()) * 1000 as raw_kept_ms,
  extract(
    epoch from engine.longest_span(jsonb_populate_record(null::engine.rules, $1::jsonb))
  ) * 1000 as longest_span_ms,
  array(
    select c.component_id
    from component c
    join venue v using (venue_id)
    where c.published and v.published and ($2::text is null or v.venue = $2)
    order by c.component_id
  ) as components
