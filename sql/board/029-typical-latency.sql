-- The median of whole milliseconds: the mean of the two middle values, which are the same for an odd count. As
-- percentile_cont computes it; null with too few values.
create function api.middle(lower_ms integer, upper_ms integer, counted bigint) returns integer
language sql immutable parallel safe
return case when counted >= api.p50_min_answers() then round((lower_ms + upper_ms) / 2::double precision)::int end;

-- Typical REST latency over the seven days up to and including `today`: the median of per-minute medians over all
-- endpoints and regions of a venue, in whole milliseconds. One row per venue; rows without a venue cover a whole
-- category, and the row with neither covers everything: medians do not add up, counts do. Without venues that had ended
-- on that day. upkeep.store_typical stores it.
create function api.typical_of_week(today date)
returns table (venue_id smallint, category text, p50_ms integer, minutes bigint)
language sql stable
begin atomic
  with counted as (
    select v.venue_id, v.category, d.p50_ms, sum(d.minutes)::bigint as minutes
    from venue_latency_day d
    join venue v using (venue_id)
    where v.published and d.day > ((typical_of_week.today - 7)::timestamp at time zone 'UTC')
      and (v.ends_at <= typical_of_week.today::timestamp at time zone 'UTC') is not true
    group by v.venue_id, v.category, d.p50_ms
  ),
  ranked as (
    select
      c.venue_id,
      c.category,
      c.p50_ms,
      (sum(sum(c.minutes)) over (partition by c.venue_id, c.category order by c.p50_ms))::bigint as upto,
      (sum(sum(c.minutes)) over (partition by c.venue_id, c.category))::bigint as total
    from counted c
    group by grouping sets ((c.venue_id, c.p50_ms), (c.category, c.p50_ms), (c.p50_ms))
  )
  select
    r.venue_id,
    r.category,
    api.middle(
      min(r.p50_ms) filter (where r.upto > (r.total - 1) / 2),
      min(r.p50_ms) filter (where r.upto > r.total / 2),
      min(r.total)
    ),
    min(r.total)
  from ranked r
  group by r.venue_id, r.category;
end;

-- The newest of these that existed at the instant of the answer. Unpublished venues have none.
create view api.typical as
select t.venue_id, t.category, t.p50_ms, t.minutes, t.holds_from
from typical_week t
where t.holds_from = (
  select max(w.holds_from) from typical_week w where w.holds_from <= (select k.generated_at from api.clock k)
);

-- REST latency of the median hour: the medians of the exact hourly medians and 95th percentiles. An hour has some
-- hundreds of samples, a minute only about twelve. Counts published hours with enough answers for a 95th percentile;
-- both figures come from the same hours, so the median is never above the percentile, and `hours` is their number. One
-- row per venue, and one without a venue over all their hours: percentiles do not add up, hours do.
--
-- Counts milliseconds instead of sorting hours, from kept counts where they exist: ninety days have 0.4 million hours.
-- The days before the first whole bucket and after the newest are counted from sample_hour.
create function api.typical_hours(window_days integer, venue_ids smallint[])
returns table (venue_id smallint, p50_ms integer, p95_ms integer, hours bigint)
language sql stable
begin atomic
  with kept as materialized (
    select
      w.from_at,
      w.to_at,
      b.kept_from,
      -- in hours, whose length does not depend on the session's time zone
      greatest(
        b.kept_from,
        (select max(u.bucket) from usual_hour u where u.bucket <= w.to_at - interval '120 hours') + interval '120 hours'
      ) as kept_to
    from (
      select
        (k.today - window_days + 1)::timestamp at time zone 'UTC' as from_at,
        time_bucket('1 hour', k.published_to) as to_at
      from api.clock k
    ) w
    cross join lateral (
      select time_bucket('5 days', w.from_at + interval '120 hours' - interval '1 microsecond') as kept_from
    ) b
  ),
  edges as (
    select k.from_at, k.kept_from as to_at from kept k
    union all
    select k.kept_to, k.to_at from kept k
  ),
  hours as (
    select c.venue_id, api.whole_ms(h.p50_us) as p50_ms, api.whole_ms(h.p95_us) as p95_ms
    from edges e
    cross join lateral (
      select h.component_id, h.p50_us, h.p95_us
      from sample_hour h
      where h.hour >= e.from_at and h.hour < e.to_at and h.hour < (select k.to_at from kept k)
        -- an array, so that the index is used by component; a join would read all components of these days
        and h.component_id = any (
          array(select r.component_id from component r where r.kind = 'rest' and r.venue_id = any (venue_ids))
        )
        and h.p50_us is not null
        and h.good >= api.p95_min_answers()
      -- each edge separately: joined freely, all ninety days may be read and filtered
      offset 0
    ) h
    join component c using (component_id)
  ),
  counts as (
    select u.venue_id, u.is_p50, u.ms, u.hours
    from usual_hour u
    where u.venue_id = any (venue_ids) and u.bucket >= (select k.kept_from from kept k)
      and u.bucket < (select k.kept_to from kept k)
    union all
    select h.venue_id, grouping(h.p50_ms) = 0, coalesce(h.p50_ms, h.p95_ms), count(*)::int
    from hours h
    group by grouping sets ((h.venue_id, h.p50_ms), (h.venue_id, h.p95_ms))
  ),
  by_venue as (
    select c.venue_id, c.is_p50, c.ms, sum(c.hours)::int as hours
    from counts c
    group by c.venue_id, c.is_p50, c.ms
  ),
  ranked as (
    select
      v.venue_id,
      v.is_p50,
      v.ms,
      (sum(sum(v.hours)::int) over (partition by v.venue_id, v.is_p50 order by v.ms))::bigint as upto,
      (sum(sum(v.hours)::int) over (partition by v.venue_id, v.is_p50))::bigint as total
    from by_venue v
    group by grouping sets ((v.venue_id, v.is_p50, v.ms), (v.is_p50, v.ms))
  )
  select
    r.venue_id,
    api.middle(
      min(r.ms) filter (where r.is_p50 and r.upto > (r.total - 1) / 2),
      min(r.ms) filter (where r.is_p50 and r.upto > r.total / 2),
      min(r.total)
    ),
    api.middle(
      min(r.ms) filter (where not r.is_p50 and r.upto > (r.total - 1) / 2),
      min(r.ms) filter (where not r.is_p50 and r.upto > r.total / 2),
      min(r.total)
    ),
    min(r.total)
  from ranked r
  group by r.venue_id;
end;
