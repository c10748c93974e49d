-- What the engine needs to judge edges right: slots that a venue prevented, data that stand still, and places that are one.

-- answers and streams whose own time stops, and chains' heads that do
alter type fault add value 'stale';

-- The venue prevented this slot: it had told us to wait, or its socket was down. It failed, with the fault that prevented it. Null: it was
-- measured, as everything before this column was.
alter table sample add column unserved boolean;

alter table region_state
  -- the newest sample that failed or was slow, within what the component is judged by
  add column newest_bad_at timestamptz,
  -- a fifth fails, window after window, whether or not three in a row do
  add column in_part boolean not null default false;

-- From when on all probes of a region ran on one machine, as they reported it; null: on several, or nobody knows. A row for each time
-- that this changed. It holds until the region's next row does.
create table region_vantage (
  region_id   smallint not null references region,
  -- Infinity: no tick has seen it yet. The tick that finds it gives it an instant after its own, so what a tick saw can be found again:
  -- a probe's word may be committed after the tick of a later instant.
  holds_from  timestamptz not null default 'infinity',
  reported_at timestamptz not null default clock_timestamp(),
  -- fingerprint of the machine; regions with the same one are one vantage
  machine     text,
  primary key (region_id, holds_from)
);

alter table impairment
  -- the regions of the vantage that it was recognised for; null: the region alone
  add column beside smallint[];

alter table engine_clock
  -- By how many milliseconds the published instant is after the last tick: each change of what is published of the past moves it on, so that two
  -- bodies of one instant never differ. In a long silence of the engine that is more than an integer holds.
  add column revision bigint not null default 0;
