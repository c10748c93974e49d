-- Store the result of reading a venue's list.
--
-- $1 venue; $2 when it was read; $3 what went wrong with it or with an entry, or null; $4 the lines that were
-- understood: [{asset, network (as the venue spells it; null: it says it by asset alone), deposit, depositBecause,
-- withdrawal, withdrawalBecause}], or null if the list was not; $5 [{asset, because}]: assets whose entries could not
-- be understood; $6 the list's own time, or null; $7 when it may be read again; $8 end of the claim. One row {added,
-- changed, refused}, or none if somebody else has claimed the list since: a core that was stopped for minutes must not
-- store an old list over a newer one.
--
-- Only changes are written: a reading that shows nothing new updates the row of the list alone.
with reading as materialized (
  select
    s.venue_id,
    v.venue,
    $2::timestamptz as at,
    s.read_at as before_at,
    -- what was declared then is not known of the time since
    coalesce(s.read_at < $2::timestamptz - api.transfers_unknown_after(), false) as lapsed
  from transfer_source s
  join venue v using (venue_id)
  where s.venue_id = $1::smallint and s.due_at = $8::timestamptz
  for update of s
),
listed as materialized (
  -- of two entries with the same name, the first one counts
  select distinct on (l.asset, l.network) r.venue_id, r.at, l.*, n.means
  from reading r
  cross join rows from (
    jsonb_to_recordset($4::jsonb) as (
      asset text, network text, deposit text, "depositBecause" text, withdrawal text, "withdrawalBecause" text
    )
  ) with ordinality as l (asset, network, deposit, "depositBecause", withdrawal, "withdrawalBecause", place)
  left join lateral (
    select p.means
    from transfer_spelling p
    where p.subject = 'network' and p.spelt = lower(l.network) and p.venue in (r.venue, '')
    order by p.venue desc
    limit 1
  ) n on true
  order by l.asset, l.network, l.place
),
known as materialized (
  select l.*, a.published from transfer_line l join reading r using (venue_id) join transfer_asset a using (asset)
),
own as materialized (
  select l.asset, l.network, k.line_id
  from listed l
  join known k on k.asset = l.asset and k.venue_network is not distinct from l.network
),
-- A venue that spells a network otherwise from now on has not closed one and opened another.
respelt as materialized (
  select min(p.line_id) as line_id, p.asset, min(p.network) as network
  from (
    select k.line_id, l.asset, l.means, l.network
    from listed l
    join known k on k.asset = l.asset and k.network = l.means
    where not exists (select from own o where (o.asset, o.network) is not distinct from (l.asset, l.network))
      and not exists (select from own o where o.line_id = k.line_id)
  ) p
  group by p.asset, p.means
  -- with several of either, nobody knows which became which
  having count(*) = 1
),
kept_names as (
  update transfer_line k
  set venue_network = s.network, missing_since = null
  from respelt s
  where s.line_id = k.line_id
),
newcomers as materialized (
  select
    l.*,
    row_number() over (order by l.asset, l.network) + (
      select count(*)
      from known k
      where k.missing_since is null or k.missing_since > l.at - api.transfer_days() * interval '1 day'
    ) <= 500 as admitted
  from listed l
  where not exists (select from own o where (o.asset, o.network) is not distinct from (l.asset, l.network))
    and not exists (select from respelt s where (s.asset, s.network) is not distinct from (l.asset, l.network))
),
added as (
  insert into transfer_line (venue_id, asset, venue_network, network, first_seen_at)
  select n.venue_id, n.asset, n.network, n.means, n.at from newcomers n where n.admitted
  on conflict do nothing
  returning line_id, asset, venue_network
),
found as materialized (
  select o.line_id, o.asset, o.network from own o
  union all
  select s.line_id, s.asset, s.network from respelt s
  union all
  select a.line_id, a.asset, a.venue_network from added a
),
declared as materialized (
  select f.line_id, d.direction, d.declared, left(d.because, 200) as because
  from found f
  join listed l on l.asset = f.asset and l.network is not distinct from f.network
  cross join lateral (
    values ('deposit', l.deposit, l."depositBecause"), ('withdrawal', l.withdrawal, l."withdrawalBecause")
  ) as d (direction, declared, because)
  union all
  -- What a list does not have is not paused: the venue says nothing of it. That takes a list that was understood.
  select
    k.line_id,
    d.direction,
    'unknown',
    left(coalesce(u.because, case when k.published then 'no longer listed' else 'no longer read' end), 200)
  from known k
  cross join (values ('deposit'), ('withdrawal')) as d (direction)
  left join lateral (
    select x.because
    from jsonb_to_recordset($5::jsonb) as x (asset text, because text)
    where x.asset = k.asset
    limit 1
  ) u on true
  where $4::jsonb is not null and not exists (select from found f where f.line_id = k.line_id)
),
-- Not of an asset whose entry could not be understood: it may still be listed.
missing as (
  update transfer_line l
  set missing_since = m.missing_since
  from (
    select
      k.line_id,
      case when f.line_id is null then coalesce(k.missing_since, r.at) end as missing_since
    from reading r
    cross join known k
    left join found f using (line_id)
    where $4::jsonb is not null
      -- a row can be changed once in a statement
      and not exists (select from respelt s where s.line_id = k.line_id)
      and (
        f.line_id is not null
        or k.asset not in (select x.asset from jsonb_to_recordset($5::jsonb) as x (asset text))
      )
  ) m
  where l.line_id = m.line_id and l.missing_since is distinct from m.missing_since
),
next as materialized (
  select
    r.at,
    r.before_at,
    r.lapsed,
    d.line_id,
    d.direction,
    d.declared,
    d.because as said,
    b as before,
    b.line_id is null as is_new,
    g.flips,
    coalesce(
      cardinality(g.flips) > api.transfer_flips_allowed() or b.unstable and cardinality(g.flips) > 0, false
    ) as unstable
  from reading r
  cross join declared d
  left join transfer_state b using (line_id, direction)
  cross join lateral (
    select (
      array(
        select f from unnest(b.flips) f where f > r.at - api.transfer_flips_within() order by f
      )
      -- also to unknown and back, as of a network that only some of the venue's servers list
      || case when b.declared <> d.declared then array[r.at] else '{}' end
    ) as flips
  ) g
),
judged as materialized (
  select
    n.*,
    case when n.unstable then 'unknown' else n.declared end as state,
    case
      when n.unstable then format(
        'changed more than %s times within an hour, most recently to %s', api.transfer_flips_allowed(), n.declared
      )
      else n.said
    end as because
  from next n
),
decided as materialized (
  select
    j.*,
    c.goes_on,
    c.since,
    c.counted_to,
    case
      when c.goes_on then (j.before).begins and c.counted_to = (j.before).counted_to
      else not j.is_new and (j.state = 'unknown' or (j.before).known <> j.state)
    end as begins,
    case when j.state = 'unknown' then (j.before).known else j.state end as known,
    case when j.state = 'unknown' then (j.before).known_since else c.since end as known_since
  from judged j
  cross join lateral (
    select
      not j.is_new and (j.before).state = j.state as goes_on,
      -- a state that goes on keeps its start, also over a time without readings, and one in which it was unknown
      case
        when not j.is_new and (j.before).state = j.state then (j.before).since
        when (j.before).known = j.state then (j.before).known_since
        else j.at
      end as since,
      case
        when j.is_new or j.lapsed or (j.before).state <> j.state then j.at
        else greatest((j.before).counted_to, date_trunc('day', j.at, 'UTC'))
      end as counted_to
  ) c
),
-- what is over, or lies before today
ended as materialized (
  select
    d.line_id,
    d.direction,
    p.*
  from decided d
  cross join lateral (
    -- a state that only the last reading before had gets a second: without one, its beginning would be lost
    select greatest(d.before_at, (d.before).counted_to + interval '1 second') as known_to
  ) k
  cross join lateral (
    select
      (d.before).counted_to as from_at,
      case when d.lapsed then k.known_to else d.counted_to end as to_at,
      (d.before).state as state,
      (d.before).begins as begins,
      (d.before).unstable as unstable,
      (d.before).because as because
    union all
    select
      k.known_to, d.at, 'unknown', true, false,
      'the list was not read, or not understood'
    where d.lapsed
  ) p
  where not d.is_new and p.from_at < p.to_at
),
pieces as (
  insert into transfer_span (started_at, ended_at, line_id, direction, state, begins, unstable, because)
  select
    greatest(e.from_at, day.start),
    least(e.to_at, day.start + interval '1 day'),
    e.line_id,
    e.direction,
    e.state,
    e.begins and e.from_at >= day.start,
    e.unstable,
    e.because
  from ended e
  cross join lateral generate_series(
    date_trunc('day', e.from_at, 'UTC'), e.to_at - interval '1 microsecond', interval '1 day'
  ) as day (start)
  on conflict do nothing
  returning line_id, direction, started_at, ended_at, state, begins
),
-- upkeep adds up the whole window again every ten minutes
past as (
  insert into transfer_past as p (line_id, direction, open_minutes, paused_minutes, pauses)
  select
    s.line_id,
    s.direction,
    coalesce(date_part('epoch', sum(s.ended_at - s.started_at) filter (where s.state = 'open')), 0) / 60,
    coalesce(date_part('epoch', sum(s.ended_at - s.started_at) filter (where s.state = 'paused')), 0) / 60,
    count(*) filter (where s.state = 'paused' and s.begins)::int
  from pieces s
  group by s.line_id, s.direction
  on conflict (line_id, direction) do update
    set open_minutes = p.open_minutes + excluded.open_minutes,
      paused_minutes = p.paused_minutes + excluded.paused_minutes,
      pauses = p.pauses + excluded.pauses
),
states as (
  insert into transfer_state as s (
    line_id, direction, declared, state, unstable, because, since, begins, known, known_since, counted_to, flips
  )
  select
    d.line_id, d.direction, d.declared, d.state, d.unstable, d.because, d.since, coalesce(d.begins, false), d.known,
    d.known_since, d.counted_to, d.flips
  from decided d
  where d.is_new
    or d.lapsed
    or ((d.before).declared, (d.before).state, (d.before).unstable, (d.before).because, (d.before).counted_to)
      is distinct from (d.declared, d.state, d.unstable, d.because, d.counted_to)
  on conflict (line_id, direction) do update
    set declared = excluded.declared, state = excluded.state, unstable = excluded.unstable, because = excluded.because,
      since = excluded.since, begins = excluded.begins, known = excluded.known, known_since = excluded.known_since,
      counted_to = excluded.counted_to, flips = excluded.flips
),
read as (
  update transfer_source s
  set due_at = $7::timestamptz,
    unended_readings = 0,
    problem = left($3::text, 300),
    unreadable_since = case when $4::jsonb is null then coalesce(s.unreadable_since, r.at) end,
    read_at = case when $4::jsonb is null then s.read_at else greatest(s.read_at, r.at) end,
    -- Old copies with different times move as well, but not forward.
    list_at = case when $4::jsonb is null then s.list_at else greatest(s.list_at, $6::timestamptz) end,
    list_moved_at = case
      when $4::jsonb is null or $6::timestamptz <= s.list_at or $6::timestamptz is null then s.list_moved_at
      else r.at
    end
  from reading r
  where s.venue_id = r.venue_id
),
-- The time of the last reading is shown, so each reading needs a new instant, the first that shows what changed.
shown as materialized (
  select k.ticked_at, revision_after(k.ticked_at, k.revision, k.silent_after_ms, k.ticked_at) as revision
  from engine_clock k
  where exists (select from reading)
  for update of k
),
published_past_changed as (
  update engine_clock set revision = s.revision from shown s
),
-- For clients that follow changes (/v1/events). The clock's row is locked before a number is drawn, so that numbers are
-- committed in their order. A line that is new has not changed.
noted as (
  insert into change_event (at, recorded_at, kind, venue_id, transfer)
  select n.at, n.recorded_at, 'transfer', n.venue_id, n.transfer
  from (
    select
      s.ticked_at + s.revision * interval '1 millisecond' as at,
      clock_timestamp() as recorded_at,
      l.venue_id,
      json_build_object(
        'asset', l.asset, 'network', l.network, 'venueNetwork', l.venue_network, 'direction', d.direction,
        'state', d.state, 'because', d.because
      ) as transfer
    from shown s
    cross join decided d
    join known l using (line_id)
    where not d.is_new and not d.goes_on and l.published
    order by l.asset, l.venue_network, d.direction desc
  ) n
)
select
  (select count(*)::int from added) as added,
  (
    select count(*)::int
    from decided d
    join known k using (line_id)
    where not d.is_new and not d.goes_on and k.published
  ) as changed,
  (select count(*)::int from newcomers n where not n.admitted) as refused
from reading
