-- Keep what a reading of a feed brought.
--
-- $1 source; $2 when it was read; $3 what went wrong, or null; $4 [{scope, listedFrom, notices: [{id, kind, title, url,
-- status, impact, startedAt, postedAt, resolvedAt, over, subjects, raw}]}], what was understood; $5 as of when the feed
-- says it is, or null; $6 when it may be asked again; $7 after how long without a reading a run is broken, seconds; $8 how
-- many notices may be new within a day.
-- One row {problem, added, changed, left_feed, refused}: the problem is ours where only what was known before shows it.
--
-- Nothing is written of notices that stand there as before: that they were seen is what the run of readings says.
with lists as materialized (
  select l.scope, l."listedFrom" as listed_from, l.notices
  from jsonb_to_recordset($4::jsonb) as l (scope text, "listedFrom" timestamptz, notices jsonb)
),
-- One notice may be taken down, and the last one may. That all of several are gone at once from a list that is said to be whole is a
-- feed gone wrong: then it is not known that they are.
emptied as (
  select l.scope, count(*) as notices
  from lists l
  join official_incident n on n.source_id = $1::smallint and n.scope = l.scope and n.left_at is null
  where l.listed_from is not null and jsonb_array_length(l.notices) = 0
  group by l.scope
  having count(*) >= 3
),
reading as materialized (
  select
    $1::smallint as source_id,
    $2::timestamptz as at,
    coalesce(
      left($3::text, 300),
      (select format('%s: expected the %s that were there before, got none', e.scope, e.notices) from emptied e order by e.scope limit 1)
    ) as problem,
    b.until_at as before_at,
    b.problem is null and b.until_at is not null as was_readable,
    b.from_at as run_from,
    -- the same outcome as before, and soon after it
    coalesce(b.until_at >= $2::timestamptz - make_interval(secs => $7::int), false) as unbroken
  from (select) one
  left join (
    select r.* from official_reading r where r.source_id = $1::smallint order by r.from_at desc limit 1
  ) b on true
),
given as materialized (
  select distinct on (l.scope, k.external_id)
    l.scope,
    k.external_id,
    n.kind,
    n.title,
    n.url,
    n.status,
    n.impact,
    -- a feed that names no time goes by when we saw it, and so does one that names no notice
    coalesce(n."startedAt", b.started_at, r.at) as started_at,
    -- what was told first holds: dates are moved in hindsight
    coalesce(b.posted_at, n."postedAt", case when b.notice_id is null and r.was_readable and r.unbroken then r.at end) as posted_at,
    n."resolvedAt" as resolved_at,
    n.over,
    coalesce((select array_agg(s.name order by s.place) from jsonb_array_elements_text(n.subjects) with ordinality s (name, place)), '{}')
      as subjects,
    n.raw,
    b.notice_id,
    b as before,
    coalesce(b.first_seen_at, r.at) as first_seen_at
  from reading r
  cross join lists l
  cross join lateral jsonb_to_recordset(l.notices) as n (
    id text, kind text, title text, url text, status text, impact text, "startedAt" timestamptz, "postedAt" timestamptz,
    "resolvedAt" timestamptz, over boolean, subjects jsonb, raw text
  )
  -- what has no name is the one that still holds, if it says the same
  left join official_incident o
    on n.id is null and o.source_id = r.source_id and o.scope = l.scope and o.left_at is null
      and o.kind = n.kind and o.status = n.status
  cross join lateral (
    select coalesce(n.id, o.external_id, n.status || '@' || to_char(r.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')) as external_id
  ) k
  left join official_incident b on b.source_id = r.source_id and b.scope = l.scope and b.external_id = k.external_id
  order by l.scope, k.external_id, n."postedAt" desc nulls last
),
judged as materialized (
  select
    g.*,
    (
      g.started_at > r.at + case g.kind when 'incident' then interval '10 minutes' else interval '400 days' end
      or coalesce(g.posted_at > r.at + interval '10 minutes', false)
      -- nothing that is asked for reaches back so far
      or g.started_at < g.first_seen_at - interval '366 days'
    ) as doubtful
  from given g
  cross join reading r
),
-- a feed that invents notices must not fill the disk: the newest come first
room as (
  select greatest(0, $8::int - count(*)) as left_today
  from official_incident n
  cross join reading r
  where n.source_id = r.source_id and n.first_seen_at > r.at - interval '1 day'
),
newcomers as materialized (
  select j.*, row_number() over (order by j.posted_at desc nulls last, j.started_at desc) <= (select left_today from room) as admitted
  from judged j
  where j.notice_id is null
),
added as (
  insert into official_incident (
    source_id, scope, external_id, kind, title, url, status, impact, started_at, posted_at, resolved_at, over, doubtful,
    subjects, raw, first_seen_at, last_seen_at
  )
  select
    r.source_id, n.scope, n.external_id, n.kind, n.title, n.url, n.status, n.impact, n.started_at, n.posted_at,
    n.resolved_at, n.over, n.doubtful, n.subjects, n.raw, r.at, r.at
  from newcomers n
  cross join reading r
  where n.admitted
  on conflict do nothing
  returning *
),
changed as (
  update official_incident n
  set
    kind = j.kind, title = j.title, url = j.url, status = j.status, impact = j.impact, started_at = j.started_at,
    posted_at = j.posted_at, resolved_at = j.resolved_at, over = j.over, doubtful = j.doubtful, subjects = j.subjects,
    raw = j.raw, last_seen_at = r.at, left_at = null, vanished = false
  from judged j
  cross join reading r
  where n.notice_id = j.notice_id
    and (
      n.left_at is not null
      or (n.kind, n.title, n.url, n.status, n.impact, n.started_at, n.posted_at, n.resolved_at, n.over, n.subjects, n.raw)
        is distinct from
        (j.kind, j.title, j.url, j.status, j.impact, j.started_at, j.posted_at, j.resolved_at, j.over, j.subjects, j.raw)
    )
  returning
    n.*,
    (n.status, n.impact, n.title, n.started_at, n.resolved_at, n.vanished)
      is distinct from
      ((j.before).status, (j.before).impact, (j.before).title, (j.before).started_at, (j.before).resolved_at, (j.before).vanished)
      as tells
),
-- What is in the feed no more. Only a reading that was understood whole can tell: what could not be read is not gone.
absent as (
  update official_incident n
  set
    left_at = r.at,
    last_seen_at = greatest(n.last_seen_at, least(r.before_at, r.at)),
    -- a feed that tells only what holds now says by its silence that it is over
    over = n.over or l.scope = 'now',
    resolved_at = case when l.scope = 'now' then r.at else n.resolved_at end,
    vanished = l.scope <> 'now' and coalesce(coalesce(n.posted_at, n.first_seen_at) >= l.listed_from, not n.over)
  from reading r
  cross join lists l
  where r.problem is null
    and n.source_id = r.source_id and n.scope = l.scope and n.left_at is null
    and not exists (select from given g where g.notice_id = n.notice_id)
  returning n.*, n.vanished or l.scope = 'now' as tells
),
told as (
  select a.notice_id, a.status, a.impact, a.title, a.started_at, a.resolved_at, a.vanished from added a
  union all
  select c.notice_id, c.status, c.impact, c.title, c.started_at, c.resolved_at, c.vanished from changed c where c.tells
  union all
  select a.notice_id, a.status, a.impact, a.title, a.started_at, a.resolved_at, a.vanished from absent a where a.tells
),
noted as (
  insert into official_change (notice_id, at, status, impact, title, started_at, resolved_at, vanished)
  select t.notice_id, r.at, t.status, t.impact, t.title, t.started_at, t.resolved_at, t.vanished
  from told t
  cross join reading r
  -- one that changes with every reading for a day is no news
  where (select count(*) from official_change c where c.notice_id = t.notice_id) < 1000
  on conflict (notice_id, at) do nothing
),
outcome as materialized (
  select
    r.*,
    case when p.problem is null then least(r.at, coalesce(l.covers_from, r.at)) end as covers_from,
    p.problem as final_problem
  from reading r
  cross join lateral (
    select coalesce(
      r.problem,
      (
        select format('more than %s new notices within a day', $8::int)
        from newcomers n where not n.admitted limit 1
      )
    ) as problem
  ) p
  left join lateral (
    -- of a list whose reach is not known, what is there now; maintenance acknowledges nothing, so it is not asked
    select max(coalesce(l.listed_from, r.at)) as covers_from from lists l where l.scope <> 'maintenances'
  ) l on true
),
run_goes_on as (
  update official_reading w
  set
    until_at = greatest(w.until_at, o.at),
    problem = o.final_problem,
    covers_from = least(w.covers_from, o.covers_from)
  from outcome o
  where w.source_id = o.source_id and w.from_at = o.run_from
    and o.unbroken and o.was_readable = (o.final_problem is null)
  returning w.source_id
),
run_begins as (
  insert into official_reading (source_id, from_at, until_at, problem, covers_from)
  select o.source_id, o.at, o.at, o.final_problem, o.covers_from
  from outcome o
  where not (o.unbroken and o.was_readable = (o.final_problem is null))
  on conflict (source_id, from_at) do nothing
),
asked as (
  update official_source s
  set due_at = $6::timestamptz, feed_at = case when o.final_problem is null then coalesce($5::timestamptz, s.feed_at) else s.feed_at end
  from outcome o
  where s.source_id = o.source_id
)
select
  (select o.final_problem from outcome o) as problem,
  (select count(*)::int from added) as added,
  (select count(*)::int from changed) as changed,
  (select count(*)::int from absent) as left_feed,
  (select count(*)::int from newcomers where not admitted) as refused
