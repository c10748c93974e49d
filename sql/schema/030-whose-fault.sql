-- Whose fault it may be: a network cannot cause each kind of failure.

alter table region_state
  -- at least half of what was bad within its window has a cause that the region's own network can have
  add column may_be_ours boolean not null default false,
  -- its newest sample is a bad answer, which shows that the way works; not a refusal that stands while the probe pauses
  add column answers_badly boolean not null default false;
