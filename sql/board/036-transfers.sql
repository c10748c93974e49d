-- What venues declare about deposits and withdrawals, beside their own notices. Nothing here was measured by us, and
-- nothing of it changes a state.

-- A list that was not understood for this long says nothing of the present. Lists are read every five minutes: three
-- readings may fail, one of them after a venue has asked us to wait.
create function api.transfers_unknown_after()
returns interval language sql immutable parallel safe return interval '20 minutes';

-- More changes than this within an hour are no news but a venue that contradicts itself. With a reading every five
-- minutes, twelve changes are possible; six are a pause three times within the hour, as venues do while they move their
-- wallets.
create function api.transfer_flips_allowed() returns integer language sql immutable parallel safe return 6;

create function api.transfer_flips_within()
returns interval language sql immutable parallel safe return interval '1 hour';

-- A line that the venue's list has lacked for this long is left out: the venue has most likely dropped it.
create function api.transfers_forgotten_after()
returns interval language sql immutable parallel safe return interval '7 days';

-- Length of the window, in UTC days.
create function api.transfer_days() returns integer language sql immutable parallel safe return 90;

-- The list of each published venue that has one and has not ended, or the reason why nobody can read it, as of an
-- instant. Judged here, so that it also works when core is dead.
create function api.transfer_sources(at timestamptz)
returns table (
  venue_id smallint, venue text, name text, place smallint, kind text, because text, fresh boolean, read_at timestamptz,
  problem text
)
language sql stable
begin atomic
  select
    s.venue_id,
    v.venue,
    v.name,
    v.position,
    s.kind,
    s.because,
    f.fresh,
    -- `least` ignores nulls
    case when s.read_at is not null then least(s.read_at, transfer_sources.at) end,
    case
      when s.kind is null then null
      when s.unreadable_since is not null or f.fresh then s.problem
      else coalesce('not read since ' || api.iso(s.read_at), 'not read yet')
    end
  from transfer_source s
  join venue v using (venue_id)
  cross join lateral (
    -- six minutes: as of a feed that is read while the engine hangs (035-official.sql)
    select coalesce(
      s.read_at between transfer_sources.at - api.transfers_unknown_after()
        and transfer_sources.at + interval '6 minutes',
      false
    ) as fresh
  ) f
  where s.published and v.published and (v.ends_at <= transfer_sources.at) is not true;
end;

-- How far a notice may begin before or after a pause that is shown beside it: venues announce work on a wallet the day
-- before, and write of trouble after they have closed it.
create function api.transfer_notice_within()
returns interval language sql immutable parallel safe return interval '1 day';

-- The names by which notices call an asset or a network, as one regular expression. In this spelling or in capitals:
-- "near" and "base" are words of any notice. Of two names that begin alike, the longer one is found.
create view api.transfer_names as
select
  '\m(' || string_agg(regexp_replace(n.name, '([^[:alnum:] ])', '\\\1', 'g'), '|') || ')\M' as pattern
from (
  select a.asset as name from transfer_asset a
  union
  select unnest(array[a.name, upper(a.name)]) from transfer_asset a
  union
  select unnest(array[w.name, upper(w.name)]) from transfer_network w
) n;

-- The notices that may be about transfers: which names they say, in small letters, which of these are networks, which
-- directions, and whether they are still going on.
create view api.transfer_notice as
select
  n as notice,
  n.venue_id,
  n.started_at,
  s.names,
  array(
    select lower(t.name) from transfer_network t where lower(t.name) = any (s.names)
  ) as networks,
  w.said ~* '(deposit|receive)' as says_deposit,
  w.said ~* '(withdraw|send)' as says_withdrawal,
  not n.over and n.left_at is null and n.started_at <= k.generated_at as goes_on
from api.notice n
join notice o using (notice_id)
cross join api.clock k
cross join lateral (select n.title || ' ' || array_to_string(o.subjects, ' ') as said) w
cross join api.transfer_names p
cross join lateral (
  select array(select distinct lower(m[1]) from regexp_matches(w.said, p.pattern, 'g') m) as names
) s
where not n.doubtful
  and (o.left_at is null or n.started_at > k.generated_at - api.transfer_days() * interval '1 day')
  and w.said ~* '(deposit|withdraw|transfer|funding(?! (rate|fee))|wallet|\msends?\M|\mreceives?\M)';

-- The TransferDirection object; json_agg writes it as such.
create type api.transfer_direction as (
  state              text,
  unstable           boolean,
  since              text,
  because            text,
  "pauses90d"        integer,
  "pausedMinutes90d" bigint,
  "knownMinutes90d"  bigint,
  notice             json,
  contradicted       boolean
);

-- Every line as of an instant, in the order of the board, as the Transfer object has it: deposits and withdrawals side
-- by side, with the window's figures. A state that was not confirmed for too long is unknown since the last reading
-- that did. What is over is added up already (transfer_past), and what is in no span yet is known until the newest
-- reading.
--
-- Beside a state that is not open stands the venue's own notice that began near its change or goes on; beside one that
-- is open, a notice that goes on and says otherwise. Neither is believed more than the other. A notice counts if it
-- names the asset or the network, and the direction or neither of them. If it names networks, other networks of the
-- asset are not meant.
--
-- plpgsql, because its plan is cached: planning this each time would take longer than the rest. Without nested loops,
-- because the planner takes each absent filter for one that leaves a few rows, and would look up 900 states one by one:
-- that was a third of the time.
create function api.transfers_of(at timestamptz, of_venue text, of_asset text, paused_only boolean)
returns table (
  venue text, name text, asset text, network text, "networkName" text, "venueNetwork" text,
  deposit api.transfer_direction, withdrawal api.transfer_direction, "readAt" text
)
language plpgsql stable
set plan_cache_mode = force_generic_plan
set enable_nestloop = off
as $$
#variable_conflict use_column
begin
  return query
    with sources as materialized (
      select s.*, api.iso(s.read_at) as "readAt" from api.transfer_sources(transfers_of.at) s where s.kind is not null
    ),
    notices as materialized (
      select * from api.transfer_notice
    ),
    directions as materialized (
      select
        t.line_id,
        t.direction,
        l.venue_id,
        r.fresh and t.state = 'paused' as paused,
        case when r.fresh then t.state else 'unknown' end as state,
        r.fresh and t.unstable as unstable,
        case when r.fresh then t.because else r.problem end as because,
        least(case when r.fresh then t.since else greatest(t.since, r.read_at) end, transfers_of.at) as since,
        coalesce(p.open_minutes, 0) + case t.state when 'open' then u.minutes else 0 end as open_minutes,
        coalesce(p.paused_minutes, 0) + case t.state when 'paused' then u.minutes else 0 end as paused_minutes,
        coalesce(p.pauses, 0) + case when t.state = 'paused' and t.begins then 1 else 0 end as pauses
      from transfer_line l
      join transfer_state t using (line_id)
      join sources r using (venue_id)
      left join transfer_past p using (line_id, direction)
      cross join lateral (
        select greatest(date_part('epoch', r.read_at - t.counted_to), 0) / 60 as minutes
      ) u
      where (of_venue is null or r.venue = of_venue)
        and (of_asset is null or l.asset = of_asset)
        and (l.missing_since is null or l.missing_since > transfers_of.at - api.transfers_forgotten_after())
    ),
    beside as materialized (
      select distinct on (d.line_id, d.direction) d.line_id, d.direction, api.notice_body(n.notice, null) as notice
      from notices n
      join directions d
        on d.venue_id = n.venue_id
        and (
          n.goes_on
          or d.state <> 'open'
          and n.started_at between d.since - api.transfer_notice_within() and d.since + api.transfer_notice_within()
        )
        and (
          case d.direction when 'deposit' then n.says_deposit else n.says_withdrawal end
          or not (n.says_deposit or n.says_withdrawal)
        )
      join transfer_line l using (line_id)
      join transfer_asset a using (asset)
      left join transfer_network w using (network)
      where array[lower(a.asset), lower(a.name), lower(w.name)] && n.names
        and (
          w.network is null
          or lower(w.name) = any (n.names)
          or n.networks <@ array[lower(a.asset), lower(a.name)]
        )
      order by d.line_id, d.direction, abs(extract(epoch from n.started_at - d.since)), n.started_at
    ),
    bodies as (
      select
        d.line_id,
        d.direction,
        d.paused,
        row(
          d.state, d.unstable, api.iso(d.since), d.because, d.pauses, whole.paused_minutes, whole.known_minutes,
          b.notice, d.state = 'open' and b.notice is not null
        )::api.transfer_direction as body
      from directions d
      left join beside b using (line_id, direction)
      cross join lateral (
        -- a sum of fractions may be a hair less than the minute that they make
        select
          floor(d.paused_minutes + 1e-6)::bigint as paused_minutes,
          floor(d.open_minutes + d.paused_minutes + 1e-6)::bigint as known_minutes
      ) whole
    ),
    -- not a join of the two directions: the planner expects one row of each, and would compare all with all
    lines as (
      select
        b.line_id,
        bool_or(b.paused) as paused,
        (array_agg(b.body) filter (where b.direction = 'deposit'))[1] as deposit,
        (array_agg(b.body) filter (where b.direction = 'withdrawal'))[1] as withdrawal
      from bodies b
      group by b.line_id
    )
    select
      r.venue, r.name, l.asset, n.network, n.name, l.venue_network, b.deposit, b.withdrawal, r."readAt"
    from lines b
    join transfer_line l using (line_id)
    join transfer_asset a using (asset)
    join sources r using (venue_id)
    left join transfer_network n on n.network = l.network and n.published
    where a.published and (not paused_only or b.paused)
    order by r.place, a.position, n.network nulls last, l.venue_network nulls first;
end;
$$;

-- Up to so many of the newest pauses of a venue within the window, those that last first, as JSON. A time without
-- readings within a pause does not end it.
create function api.transfer_pauses(at timestamptz, of_venue text, most integer) returns json
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
begin
  return (
    with states as materialized (
      select l.line_id, s.direction, s.state, s.since, s.begins, s.counted_to, s.because
      from transfer_line l
      join transfer_state s using (line_id)
      join transfer_asset a using (asset)
      join venue v using (venue_id)
      where v.venue = of_venue and a.published
    ),
    pieces as (
      select x.line_id, x.direction, x.started_at, x.started_at as since, x.ended_at, x.state, x.begins, x.because
      from transfer_span x
      join states using (line_id, direction)
      where x.started_at > transfer_pauses.at - api.transfer_days() * interval '1 day'
      union all
      -- its beginning may lie before the window
      select t.line_id, t.direction, t.counted_to, t.since, null, t.state, t.begins, t.because
      from states t
    ),
    numbered as (
      select
        p.*,
        count(*) filter (where p.begins and p.state <> 'unknown') over (
          partition by p.line_id, p.direction
          order by p.started_at
        ) as number
      from pieces p
    ),
    pauses as (
      select
        n.line_id,
        n.direction,
        min(n.since) as started_at,
        case when bool_and(n.ended_at is not null) then max(n.ended_at) end as ended_at,
        (array_agg(n.because order by n.started_at))[1] as because
      from numbered n
      where n.state = 'paused'
      group by n.line_id, n.direction, n.number
      order by bool_and(n.ended_at is not null), min(n.since) desc, n.line_id, n.direction
      limit most
    )
    select coalesce(
      json_agg(
        json_build_object(
          'asset', l.asset,
          'network', l.network,
          'venueNetwork', l.venue_network,
          'direction', p.direction,
          'startedAt', api.iso(p.started_at),
          'endedAt', api.iso(p.ended_at),
          'because', p.because
        )
        order by p.ended_at is not null, p.started_at desc, p.line_id, p.direction
      ),
      '[]'
    )
    from pauses p
    join transfer_line l using (line_id)
  );
end;
$$;

-- The body of /v1/transfers, or of one venue's: of this asset, only lines of which a direction is paused, and so many
-- of the venue's newest pauses. `sources` are TransferSource objects: a list may be missing. No row if the database
-- does not have the venue. plpgsql, as above.
create function api.transfers_body(of_venue text, of_asset text, paused_only boolean, most_pauses integer)
returns table (generated_at timestamptz, body text)
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
    select
      k.generated_at,
      json_build_object(
        'generatedAt', api.iso(k.generated_at),
        'stale', false,
        'ageSeconds', null,
        'decidedAt', null,
        'windowFrom', api.iso(greatest(w.from_day, k.generated_at - api.transfer_days() * interval '1 day')),
        'withdrawalsPaused', t.withdrawals_paused,
        'depositsPaused', t.deposits_paused,
        'transfers', t.lines,
        'sources', s.bodies,
        'pauses', case
          when most_pauses = 0 then '[]'
          else api.transfer_pauses(k.generated_at, of_venue, most_pauses)
        end
      )::text as body
    from api.clock k
    cross join transfer_window w
    cross join lateral (
      select
        count(*) filter (where (r.withdrawal).state = 'paused')::int as withdrawals_paused,
        count(*) filter (where (r.deposit).state = 'paused')::int as deposits_paused,
        coalesce(json_agg(r), '[]') as lines
      from api.transfers_of(k.generated_at, of_venue, of_asset, paused_only) r
    ) t
    cross join lateral (
      select
        coalesce(
          json_agg(
            json_build_object(
              'venue', r.venue,
              'name', r.name,
              'state', case when r.kind is null then 'unsaid' when r.fresh then 'readable' else 'unreadable' end,
              'because', coalesce(r.because, r.problem),
              'readAt', api.iso(r.read_at)
            )
            order by r.place
          ),
          '[]'
        ) as bodies
      from api.transfer_sources(k.generated_at) r
      where of_venue is null or r.venue = of_venue
    ) s
    where of_venue is null or exists (select from api.venue v where v.venue = of_venue);
end;
$$;
