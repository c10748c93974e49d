-- The samples of a fleet: every component from every region at its cadence, between two instants.
--
-- $1 from, $2 to (exclusive). Noise determines the size on disk, so there is as much of it as in production. Latencies
-- vary by a tenth around a level that drifts over the day, and one in a hundred is several times that. The first byte
-- comes some tenths of a millisecond before the last. Every twelfth connection is new, with phases and a certificate.
-- Heads rise with the clock. For streams, the number of frames, the longest silence and the age of the newest event
-- vary independently. One slot in five hundred is bad, and one in a thousand late.
with series as (
  select
    c.component_id,
    g.region_id,
    c.kind,
    c.component = 'ws:conn' as is_connection,
    v.chain is not null and c.kind = 'rest' as has_head,
    c.cadence_ms,
    -- the usual latency of this endpoint from this region
    20000 + (abs(hashint4(c.component_id * 16 + g.region_id)) % 200000) as usual_us,
    5 + abs(hashint4(c.component_id)) % 200 as usual_messages
  from component c
  join venue v using (venue_id)
  cross join region g
  where c.published and v.published and g.published
),
slots as (
  select
    s.*,
    t.ts,
    extract(epoch from t.ts) as epoch_s,
    row_number() over (partition by s.component_id, s.region_id order by t.ts) % 12 = 0 as fresh,
    random() as luck,
    -- normal, by Box and Muller
    sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()) as noise,
    sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()) as noise_too
  from series s
  cross join lateral generate_series(
    $1::timestamptz, $2::timestamptz - interval '1 ms', s.cadence_ms * interval '1 ms'
  ) as t (ts)
),
measured as (
  select
    s.*,
    case when s.luck < 0.002 then
      (case when s.kind = 'rest' then 'timeout' when s.is_connection then 'closed' else 'stall' end)::fault
    end as fault,
    (
      s.usual_us
      * (1 + 0.15 * sin(s.epoch_s * 2 * pi() / 86400))
      * exp(0.1 * s.noise)
      * case when s.luck > 0.99 then 1 + 4 * (s.luck - 0.99) * 100 else 1 end
    )::int as taken_us
  from slots s
)
insert into sample (
  ts, component_id, region_id, good, fault, latency_us, first_byte_us, dns_us, connect_us, tls_us, fresh,
  certificate_expires_at,
  http_status, head, clock_error_ms, clock_error_within_ms, messages, quiet_ms, event_age_ms, late_ms
)
select
  m.ts,
  m.component_id,
  m.region_id,
  m.fault is null,
  m.fault,
  -- a socket is opened once in some hours
  case
    when m.fault is null and (m.kind = 'rest' or m.is_connection and m.luck between 0.6 and 0.601) then m.taken_us
  end,
  case
    when m.fault is null and m.kind = 'rest' then m.taken_us - least(m.taken_us, 300 + (100 * abs(m.noise_too))::int)
  end,
  case when m.kind = 'rest' and m.fresh then 800 + (400 * abs(m.noise_too))::int end,
  case when m.kind = 'rest' and m.fresh then (m.taken_us * 0.3 * exp(0.05 * m.noise_too))::int end,
  case when m.kind = 'rest' and m.fresh then (m.taken_us * 0.6 * exp(0.05 * m.noise))::int end,
  case when m.kind = 'rest' then m.fresh end,
  case when m.kind = 'rest' and m.fresh then date_trunc('month', m.ts) + interval '60 days' end,
  case when m.fault is null and m.kind = 'rest' then 200 end,
  case when m.fault is null and m.has_head then (m.epoch_s / 12)::bigint + (m.luck * 2)::int end,
  case when m.fault is null and m.has_head then (3 * m.noise_too)::int end,
  case when m.fault is null and m.has_head then 40 + abs(3 * m.noise)::int end,
  case when m.kind = 'ws' and not m.is_connection then
    case when m.fault is null then greatest(1, m.usual_messages + sqrt(m.usual_messages) * m.noise)::int else 0 end
  end,
  case when m.kind = 'ws' and not m.is_connection then
    case
      when m.fault is null
        then least(m.cadence_ms * 3, m.cadence_ms / ln(2 + m.usual_messages) * exp(0.4 * m.noise_too))::int
      else 60000
    end
  end,
  case
    when m.fault is null and m.kind = 'ws' and not m.is_connection then greatest(0, 40 + 60 * exp(0.5 * m.noise))::int
  end,
  case when m.luck between 0.5 and 0.501 then 60 + (abs(m.noise) * 100)::int end
from measured m
