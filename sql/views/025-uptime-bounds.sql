-- Between which two figures does the uptime of a window lie, with a confidence of 95 %? docs/methodology.md ("Bounds")
-- has the method in words, and `bench/uptime-bounds.ts` shows how often it is right.
--
-- What was measured is known exactly. Uncertain is how many of the minutes that nobody measured were down: their share
-- is taken to have a beta distribution. Its mean comes from the measured minutes, its width from how much these say,
-- which is less than their number: an outage lasts for tens of minutes, so a minute beside another one says little new.

create type api.bounds as (low numeric, high numeric);

-- The quantile of a gamma distribution of scale 1, for the four shares that bounds need: 2.5, 5, 95 and 97.5 %. Wilson
-- and Hilferty's cube of a normal variable; its upper quantiles are too small below a shape of 1, by as much as the
-- factor puts right. For smaller shapes the first terms of the distribution's power series, solved in three steps.
create function api.gamma_quantile(share double precision, shape double precision) returns double precision
language plpgsql immutable parallel safe
as $$
declare
  z double precision := case share when 0.025 then -1.959964 when 0.05 then -1.644854 when 0.95 then 1.644854 when 0.975 then 1.959964 end;
  -- Stirling's series, three above the shape, where two of its terms are exact to six digits
  y double precision := shape + 4;
  ln_gamma double precision;
  first double precision;
begin
  if shape < (case when share < 0.5 then 4 else 0.09 end) then
    ln_gamma := (y - 0.5) * ln(y) - y + 0.918938533 + 1 / (12 * y) - 1 / (360 * y * y * y)
      - ln((shape + 1) * (shape + 2) * (shape + 3));
    -- smaller than e to the -600 is an error in PostgreSQL, and no share of any minutes
    first := exp(greatest((ln(share) + ln_gamma) / shape, -600));
    return first * exp(first * exp(first / (shape + 1)) / (shape + 1));
  end if;
  return shape * (1 - 1 / (9 * shape) + z / (3 * sqrt(shape))) ^ 3
    * case share when 0.95 then 1 + 0.0085 * shape ^ -1.6 when 0.975 then 1 + 0.006 * shape ^ -1.7 else 1 end;
end;
$$;

-- The quantile of a beta distribution, for the same four shares. Where both parameters are large, by Paulson: the cube
-- root of a ratio of two gamma variables is that of two normal ones. Else by Wise, from the gamma distribution of the
-- smaller parameter.
create function api.beta_quantile(share double precision, a double precision, b double precision) returns double precision
language plpgsql immutable parallel safe
as $$
declare
  z double precision;
  u double precision;
  v double precision;
  ratio double precision;
begin
  if a > b then
    return 1 - api.beta_quantile(case share when 0.025 then 0.975 when 0.05 then 0.95 when 0.95 then 0.05 else 0.025 end, b, a);
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

-- The bounds of a window, in per cent: the low one cut down, the high one cut up, both to three digits. From sums over
-- its days.
--
-- The squares tell how the measured minutes lie: m minutes in one half hour add m² to the first, scattered over m half
-- hours only m. Days that nobody measured are in what is scheduled. Nothing measured: null. Everything measured: both
-- are the uptime itself.
--
-- How alike two minutes are, the correlation of being down, is taken to be 0.75 in one half hour, 0.38 in one span of
-- three hours, 0.07 in one day, and none in two days. The numbers below are the differences of these. Few statements,
-- for each of them takes as long as its sums.
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
  -- as many independent minutes would say as much: of the venue, and of the minutes that were not measured
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
  -- a third of a minute that was down and a third of one that was up are added to what is known, which favours neither
  a := (of_rest + 2 / 3.0) * (greatest(of_venue, of_rest) * share + 1 / 3.0) / (greatest(of_venue, of_rest) + 2 / 3.0);
  -- where nothing was down, or everything, there is one bound to be wrong about
  if down > 0 then
    least_down := least(api.beta_quantile(case when down = measured then 0.05 else 0.025 end, a, of_rest + 2 / 3.0 - a), share);
  end if;
  if down < measured then
    most_down := greatest(api.beta_quantile(case when down = 0 then 0.95 else 0.975 end, a, of_rest + 2 / 3.0 - a), share);
  end if;
  -- minutes are whole
  return row(
    floor(100000 * (measured - down + floor((n - m) * (1 - most_down)))::numeric / scheduled) * 0.001,
    ceil(100000 * (measured - down + ceil((n - m) * (1 - least_down)))::numeric / scheduled) * 0.001
  )::api.bounds;
end;
$$;

-- The bounds of a fleet, from those of its venues, of which one says nothing of another: their distances from the
-- venues' uptimes add up as squares. `uptime_pct` is that of all measured minutes together, which is published and lies
-- between the two. The sums are over the venues of which anything was measured; u is a venue's uptime in per cent, not
-- cut. A venue that was measured whole adds nothing to the last two.
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
