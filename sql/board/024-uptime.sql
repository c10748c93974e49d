-- Uptimes with what they are based on, of anything over any period.

-- Number of minutes between two instants in which something was not in the registry. Separate, so that its caller can
-- be inlined.
create function api.unwatched_minutes(unwatched tstzmultirange, from_at timestamptz, to_at timestamptz) returns integer
language sql immutable parallel safe
return (
  select floor(coalesce(sum(date_part('epoch', upper(gap) - lower(gap))), 0) / 60)::int
  from unnest(unwatched * tstzmultirange(tstzrange(from_at, greatest(from_at, to_at)))) as gap
);

-- Number of minutes that should have been measured between two instants, for something that was added at watched_from
-- and is missing from the registry in `unwatched`.
create function api.scheduled_minutes(
  watched_from timestamptz, unwatched tstzmultirange, from_at timestamptz, to_at timestamptz
)
returns integer
language sql immutable parallel safe
return case
  -- the usual case
  when watched_from <= from_at and to_at - from_at = interval '24 hours' and isempty(unwatched) then 1440
  else ceil(greatest(0, date_part('epoch', to_at - greatest(from_at, watched_from))) / 60)::int
    - case
      when isempty(unwatched) then 0
      else api.unwatched_minutes(unwatched, greatest(from_at, watched_from), to_at)
    end
end;

-- Minimum share of measured minutes. Below it most of the time is unknown, and no uptime is shown. Published by
-- /v1/thresholds.
create function api.uptime_min_coverage() returns double precision language sql immutable parallel safe return 0.5;

-- A share in per cent, rounded down or up to three digits; null if the whole is 0. In integers: numeric division took
-- most of the board's time.
create function api.pct_down(part bigint, whole bigint) returns numeric
language sql immutable parallel safe
return 100000 * part / nullif(whole, 0) * 0.001;

create function api.pct_up(part bigint, whole bigint) returns numeric
language sql immutable parallel safe
return (100000 * part + whole - 1) / nullif(whole, 0) * 0.001;

-- Availability, never rounded up; null if too little was measured.
create function api.uptime_pct(measured bigint, down bigint, scheduled bigint) returns numeric
language sql immutable parallel safe
return case when measured >= scheduled * api.uptime_min_coverage() then api.pct_down(measured - down, measured) end;

-- The bounds of an uptime: as if all scheduled minutes that nobody measured had been down, and as if none had. Rounded
-- outwards, so that what happened in these minutes cannot lie outside. Null if nothing was measured.
create function api.uptime_low(measured bigint, down bigint, scheduled bigint) returns numeric
language sql immutable parallel safe
return case when measured > 0 then api.pct_down(measured - down, scheduled) end;

create function api.uptime_high(measured bigint, down bigint, scheduled bigint) returns numeric
language sql immutable parallel safe
return case when measured > 0 then api.pct_up(scheduled - down, scheduled) end;

-- An uptime with its basis: the share that was measured, and the bounds.
create type api.uptime_basis as (
  "uptimePct"        numeric,
  "measuredMinutes"  bigint,
  "scheduledMinutes" bigint,
  "coveragePct"      numeric,
  "uptimePctLow"     numeric,
  "uptimePctHigh"    numeric
);

-- Of anything and any period, from the sums over its days. Those of a fleet are the sums over its venues.
create function api.uptime_basis(measured bigint, down bigint, scheduled bigint) returns api.uptime_basis
language sql immutable parallel safe
return row(
  api.uptime_pct(measured, down, scheduled),
  coalesce(measured, 0),
  coalesce(scheduled, 0),
  api.pct_down(coalesce(measured, 0), scheduled),
  api.uptime_low(measured, down, scheduled),
  api.uptime_high(measured, down, scheduled)
)::api.uptime_basis;

-- An uptime without announced maintenance, with its basis, from the sums of all minutes and of those of maintenance;
-- null if no maintenance was announced, and it is the uptime itself.
create function api.without_maintenance(
  scheduled bigint, measured bigint, down bigint, of_scheduled bigint, of_measured bigint, of_down bigint
)
returns json
language sql stable parallel safe
return case when of_scheduled > 0 then (
  select json_build_object(
    'maintenanceMinutes', of_scheduled,
    'uptimePct', u."uptimePct",
    'measuredMinutes', u."measuredMinutes",
    'scheduledMinutes', u."scheduledMinutes",
    'coveragePct', u."coveragePct",
    'uptimePctLow', u."uptimePctLow",
    'uptimePctHigh', u."uptimePctHigh",
    'downMinutes', case when l.measured > 0 then l.down end
  )
  from (
    select
      greatest(0, coalesce(measured, 0) - of_measured) as measured,
      greatest(0, coalesce(down, 0) - of_down) as down
  ) l
  -- days and their maintenance are counted one after the other: never more measured than scheduled minutes
  cross join lateral api.uptime_basis(l.measured, l.down, greatest(scheduled - of_scheduled, l.measured)) u
) end;
