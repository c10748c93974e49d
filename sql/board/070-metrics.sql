-- Helpers of /metrics: the text format of Prometheus, version 0.0.4, and the newest complete minute.

-- Escapes a label's value, which stands between quotes.
create function api.label_value(value text) returns text
language sql immutable parallel safe
return replace(replace(replace(value, '\', '\\'), '"', '\"'), E'\n', '\n');

create function api.state_number(state state) returns integer
language sql immutable parallel safe
return case state when 'operational' then 0 when 'degraded' then 1 when 'outage' then 2 when 'unknown' then 3 end;

-- Latency of each REST endpoint in the newest complete minute, per region, with the number of answers behind the
-- percentiles.
--
-- A minute is complete fifteen seconds after its end: its last answers need some seconds to arrive, and anything later
-- is late for the engine too. From raw samples, not from sample_minute, so that the figures do not depend on when core
-- rolls it up. No row without good answers: a quick refusal must not make a venue look fast.
--
-- The minute is relative to the instant of the answer, also while an engine hangs: svc_generated_at_seconds shows how
-- old that is.
create view api.newest_minute as
select
  c.component_id,
  s.region_id,
  w.minute,
  count(*)::int as answers,
  round(percentile_cont(0.5) within group (order by s.latency_us))::int as p50_us,
  round(percentile_cont(0.95) within group (order by s.latency_us))::int as p95_us
from (
  select time_bucket('1 minute', k.generated_at - interval '15 seconds') - interval '1 minute' as minute, k.generated_at
  from api.clock k
) w
join sample s on s.ts >= w.minute and s.ts < w.minute + interval '1 minute'
join api.component c using (component_id)
where c.kind = 'rest'
  and s.good
  and s.latency_us is not null
  and api.known_by(w.generated_at, s.ts, s.received_after_s)
  -- for the planner, which excludes chunks only by now()
  and s.ts > now() - interval '10 minutes'
group by c.component_id, s.region_id, w.minute;
