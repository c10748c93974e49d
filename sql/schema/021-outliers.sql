-- What the engine keeps to judge a region that stands alone: for a moment, for long, or by its own fault.

alter table region_state
  -- slot of the first sample of the bad run, as far back as the component is judged; null: the newest sample is not bad
  add column run_from timestamptz,
  -- first instant at which it was bad no more; null: it was not since the series began
  add column bad_until timestamptz;

alter table component_state
  -- since when it is not bad, be it operational or unknown; null: it is
  add column not_bad_since timestamptz;

update component_state set not_bad_since = since where state not in ('degraded', 'outage');

alter table impairment
  -- It ended since other regions saw the same: it was no trouble of the region's own. Of those that ended before this column was, nobody knows.
  add column seen_elsewhere boolean not null default false;

-- Regions that have long seen a component bad, and no quorum with them: they have no vote on it. Kept like impairments.
create table outlier (
  component_id integer not null references component,
  region_id    smallint not null references region,
  started_at   timestamptz not null,
  -- null: it still is one
  ended_at     timestamptz,
  primary key (component_id, region_id, started_at)
);

-- every tick asks who is one; over the years most were
create index on outlier (coalesce(ended_at, 'infinity'));
