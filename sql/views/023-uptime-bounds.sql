-- The 95 % confidence bounds of a window's uptime. docs/methodology.md ("Bounds") explains the method;
-- `bench/uptime-bounds.ts` shows how often it is right.
--
-- What was measured is known exactly. Uncertain is how many of the unmeasured minutes were down: their share is
-- modelled by a beta distribution. Its mean comes from the measured minutes, its width from how much information these
-- hold, which is less than their number: an outage lasts for tens of minutes, so adjacent minutes say nearly the same.

create type api.bounds as (low numeric, high numeric);

-- The quantile of a gamma distribution of scale 1, for the four shares that the bounds need: 2.5, 5, 95 and 97.5 %. By
-- Wilson and Hilferty's cube of a normal variable; its upper quantiles are too small for shapes below 1, which the
-- factor corrects. For smaller shapes, by the first terms of the distribution's power series, solved in three steps.
create function api.gamma_quantile(share double precision, shape double precision) returns double precision
language plpgsql immutable parallel safe
as $$
declare
  z double precision := case share
    when 0.025 then -1.959964
    when 0.05 then -1.644854
    when 0.95 then 1.644854
    when 0.975 then 1.959964
  end;
  -- Stirling's series at shape + 3, where two of its terms are exact to six digits
  y double precision := shape + 4;
  ln_gamma double precision;
  first double precision;
begin
  if shape < (case when share < 0.5 then 4 else 0.09 end) then
    ln_gamma := (y - 0.5) * ln(y) - y + 0.918938533 + 1 / (12 * y) - 1 / (360 * y * y * y)
      - ln((shape + 1) * (shape + 2) * (shape + 3));
    -- exp() below e^-600 is an error in PostgreSQL, and no real share is that small
    first := exp(greatest((ln(share) + ln_gamma) / shape, -600));
    return first * exp(first * exp(first / (shape + 1)) / (shape + 1));
  end if;
  return shape * (1 - 1 / (9 * shape) + z / (3 * sqrt(shape))) ^ 3
    * case share when 0.95 then 1 + 0.0085 * shape ^ -1.6 when 0.975 then 1 + 0.006 * shape ^ -1.7 else 1 end;
end;
$$;

-- The quantile of a beta distribution, for the same four shares. If both parameters are large, by Paulson: the cube
-- root of a ratio of two gamma variables is that of two normal ones. Otherwise by Wise, from the gamma distribution of
-- the smaller parameter.
create function api.beta_quantile(share double precision, a double precision, b double precision)
returns double precision
language plpgsql immutable parallel safe
as $$
declare
  z double precision;
  u double precision;
  v double precision;
  ratio double precision;
begin
  if a > b then
    return 1 - api.beta_quantile(
      case share when 0.025 then 0.975 when 0.05 then 0.95 when 0.95 then 0.05 else 0.025 end, b, a
    );
  end if;
  if a < 4 then
    return 1 - exp(-least(api.gamma_quantile(share, a) / (b + (a - 1) / 2), 600));
  end if;
  z := case share when 0.025 then -1.959964 when 0.05 then -1.644854 when 0.95 then 1.644854 else 1.959964 end;
  u := 1 / (9 * a);
  v := 1 / (9 * b);
  ratio := (
    ((1 - u) * (1 - v) + z * sqrt((1 - u) ^ 2 * v + (1 - v) ^ 2 * u - z ^ 2 * u * v)) / ((1 - v) ^ 2 - z ^ 2 * v)
  ) ^ 3;
  return a * ratio / (a * ratio + b);
end;
$$;

-- The bounds of a window, in per cent: the lower one rounded down, the upper one rounded up, both to three digits. From
-- sums over its days.
--
-- The squares describe how the measured minutes are distributed: m minutes in one half hour add m² to the first, spread
-- over m half hours only m. Days without measurements are included in `scheduled`. Nothing measured: null. Everything
-- measured: both bounds are the uptime itself.
--
-- The correlation of being down between two minutes is assumed to be 0.75 within a half hour, 0.38 within three hours,
-- 0.07 within a day, and 0 across days. The constants below are the differences of these. Few statements, because each
-- takes as long as its sums.
create function api.uptime_bounds(
  scheduled          bigint, -- minutes
  measured           bigint,
  down               bigint,
  half_hour_squares  bigint, -- of the measured minutes of each half hour, added up
  three_hour_squares bigint, -- of those of each three hours, from midnight on
  day_squares        bigint, -- of those of each day
  day_products       bigint, -- scheduled times measured minutes of each day
  scheduled_squares  bigint  -- of the scheduled minutes of each day
) returns api.bounds
language plpgsql immutable parallel safe
as $$
declare
  n double precision;
  m double precision;
  share double precision;
  -- the effective number of independent minutes: of the venue, and of the unmeasured minutes
  of_venue double precision;
  of_rest double precision;
  a double precision;
  least_down double precision := 0;
  most_down double precision := 1;
begin
  if measured >= scheduled then
    return row(api.uptime_pct(measured, down), api.uptime_pct(measured, down))::api.bounds;
  end if;
  if measured is null or measured = 0 then
    return null;
  end if;
  n := scheduled;
  m := measured;
  share := down / m;
  of_venue := m * m / (0.25 * m + 0.37 * half_hour_squares + 0.31 * three_hour_squares + 0.07 * day_squares);
  of_rest := (n - m) * (n - m) / (
    0.25 * n * (n - m) / m
    + 0.37 * greatest(half_hour_squares * n * n / (m * m) - least(30, n) * n, 0)
    + 0.31 * greatest(three_hour_squares * n * n / (m * m) - least(180, n) * n, 0)
    + 0.07 * greatest(day_squares * n * n / (m * m) - 2 * day_products * n / m + scheduled_squares, 0)
  );
  -- add a third of a minute that was down and a third of one that was up, which favours neither
  a := (of_rest + 2 / 3.0) * (greatest(of_venue, of_rest) * share + 1 / 3.0) / (greatest(of_venue, of_rest) + 2 / 3.0);
  -- if nothing was down, or everything, only one bound can be wrong
  if down > 0 then
    least_down := least(
      api.beta_quantile(case when down = measured then 0.05 else 0.025 end, a, of_rest + 2 / 3.0 - a), share
    );
  end if;
  if down < measured then
    most_down := greatest(
      api.beta_quantile(case when down = 0 then 0.95 else 0.975 end, a, of_rest + 2 / 3.0 - a), share
    );
  end if;
  -- minutes are whole
  return row(
    floor(100000 * (measured - down + floor((n - m) * (1 - most_down)))::numeric / scheduled) * 0.001,
    ceil(100000 * (measured - down + ceil((n - m) * (1 - least_down)))::numeric / scheduled) * 0.001
  )::api.bounds;
end;
$$;

-- The bounds of a fleet, from those of its venues, which are independent: their distances from the venues' uptimes add
-- up as squares. `uptime_pct` is the published uptime of all measured minutes together, and lies between the two. The
-- sums cover the venues with measurements; u is a venue's uptime in per cent, not truncated. A venue that was measured
-- completely adds nothing to the last two.
create function api.fleet_bounds(
  uptime_pct numeric,
  scheduled  bigint,           -- sum(scheduled)
  up         double precision, -- sum(scheduled * u)
  below      double precision, -- sum((scheduled * (u - low)) ^ 2)
  above      double precision  -- sum((scheduled * (high - u)) ^ 2)
) returns api.bounds
language sql immutable parallel safe
return case
  when scheduled > 0 and below + above = 0 then row(uptime_pct, uptime_pct)::api.bounds
  when scheduled > 0 then row(
    greatest(least(floor(1000 * (up - sqrt(below)) / scheduled)::numeric * 0.001, uptime_pct), 0),
    least(greatest(ceil(1000 * (up + sqrt(above)) / scheduled)::numeric * 0.001, uptime_pct), 100)
  )::api.bounds
end;
