-- What /metrics stands on: the text format of Prometheus, version 0.0.4, and the newest whole minute.

-- A label's value, between the quotes.
create function api.label_value(value text) returns text
language sql immutable parallel safe
return replace(replace(replace(value, '\', '\\'), '"', '\"'), E'\n', '\n');

create function api.state_number(state state) returns integer
language sql immutable parallel safe
return case state when 'operational' then 0 when 'degraded' then 1 when 'outage' then 2 when 'unknown' then 3 end;

-- How long did each REST endpoint take in the most recent complete minute, seen from each region, and of how many
-- answers are its percentiles?
--
-- A minute is complete fifteen seconds after its end: its last answers are on their way for some seconds, and what
-- comes later than that is late to the engine too. From raw samples and not from sample_minute, so that what is shown
-- does not depend on how soon core rolls it up. No row where nothing good was measured: a quick refusal must not make a
-- venue look fast.
--
-- The minute is that of the instant that everything shows, also while an engine hangs: svc_generated_at_seconds says
-- how old that is.
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
  -- for the planner, which leaves out chunks by now() alone
  and s.ts > now() - interval '10 minutes'
group by c.component_id, s.region_id, w.minute;
