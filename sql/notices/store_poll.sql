-- Store the result of reading a feed.
--
-- $1 source; $2 when it was read; $3 what went wrong, or null; $4 what was understood: [{scope, listedFrom, notices:
-- [{id, kind, title, url, status, impact, startedAt, postedAt, resolvedAt, plannedEndAt, over, subjects, raw}]}], with
-- null notices for unchanged lists; $5 the feed's own time stamp, or null; $6 when it may be read again; $7 maximum
-- number of new notices within a day, except in the first reading. One row {problem, added, changed, left_feed,
-- refused}; some problems can be seen only by comparison with what was known.
--
-- Nothing is written for unchanged notices: the run of readings records that they were seen.
with lists as materialized (
  select l.scope, l."listedFrom" as listed_from, l.notices
  from jsonb_to_recordset($4::jsonb) as l (scope text, "listedFrom" timestamptz, notices jsonb)
),
-- A single notice may be taken down, even the last one. But if several vanish at once from a list that claims to be
-- complete, the feed is broken, and we do not know that they are gone.
emptied as (
  select l.scope, count(*) as notices
  from lists l
  join notice n on n.feed_id = $1::integer and n.scope = l.scope and n.left_at is null
  where l.listed_from is not null and jsonb_array_length(l.notices) = 0
    -- if that persists for a day, it is true
    and not exists (
      select from (
        select r.* from feed_poll r where r.feed_id = $1::integer order by r.from_at desc limit 1
      ) r
      where r.problem is not null and r.from_at < $2::timestamptz - interval '1 day'
    )
  group by l.scope
  having count(*) >= 3
),
reading as materialized (
  select
    $1::integer as feed_id,
    $2::timestamptz as at,
    coalesce(
      left($3::text, 300),
      (
        select format('%s: expected the %s known notices, got none', e.scope, e.notices)
        from emptied e
        order by e.scope
        limit 1
      )
    ) as problem,
    b.until_at as before_at,
    g.first_at as first_good_at,
    g.newest_at as newest_good_at,
    b.problem is null and b.until_at is not null as was_readable,
    b.from_at as run_from,
    -- same outcome as before, and soon after it
    coalesce(b.until_at >= $2::timestamptz - api.feed_silent_after(), false) as unbroken
  from (select) one
  left join (
    select r.*
    from feed_poll r
    where r.feed_id = $1::integer and r.from_at <= $2::timestamptz
    order by r.from_at desc
    limit 1
  ) b on true
  left join (
    select min(r.from_at) as first_at, max(r.until_at) as newest_at
    from feed_poll r
    where r.feed_id = $1::integer and r.from_at <= $2::timestamptz and r.problem is null
  ) g on true
),
-- runs recorded by a clock that was ahead and has since been corrected
never_was as (
  delete from feed_poll r where r.feed_id = $1::integer and r.from_at > $2::timestamptz
),
listed as materialized (
  select distinct on (l.scope, k.external_id) l.scope, k.external_id, n.*, own.notice_id as own_id
  from reading r
  cross join lists l
  cross join lateral jsonb_to_recordset(l.notices) as n (
    id text, kind text, title text, url text, status text, impact text, "startedAt" timestamptz, "postedAt" timestamptz,
    "resolvedAt" timestamptz, "plannedEndAt" timestamptz, over boolean, subjects jsonb, raw text
  )
  -- A notice without an id is the current one, if it says the same. Looked up only for those: a join would compare all
  -- with all.
  left join lateral (
    select o.external_id
    from notice o
    where n.id is null
      and o.feed_id = r.feed_id
      and o.scope = l.scope
      and o.left_at is null
      and o.kind = n.kind
      and o.status = n.status
    limit 1
  ) o on true
  cross join lateral (
    select coalesce(
      n.id, o.external_id, n.status || '@' || to_char(r.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
    ) as external_id
  ) k
  left join notice own
    on own.feed_id = r.feed_id and own.scope = l.scope and own.external_id = k.external_id
  order by l.scope, k.external_id, n."postedAt" desc nulls last
),
-- A feed that moved to another vendor brings its history with it, under other ids and in other lists; other venues make
-- or import a notice again at the same address. Vendors give the time of an imported notice to the minute, and as its
-- start take its start or its publication.
alike as materialized (
  select l.scope, l.external_id, m.notice_id, d.seconds
  from reading r
  cross join listed l
  join notice m
    on m.feed_id = r.feed_id and m.kind = l.kind and lower(m.title) = lower(l.title)
      -- bounded, because a feed could list others each time
      and (m.before_move or m.left_at is null or m.left_at > r.at - interval '30 days')
  cross join lateral (
    select least(
      abs(extract(epoch from m.started_at - l."startedAt")), abs(extract(epoch from m.posted_at - l."startedAt"))
    ) as seconds
  ) d
  where l.own_id is null and d.seconds < 60
    and not exists (select from listed o where o.own_id = m.notice_id)
),
-- each notice continues at most one, and each is continued by at most one
continued as materialized (
  select distinct on (n.notice_id) n.scope, n.external_id, n.notice_id
  from (
    select distinct on (a.scope, a.external_id) a.*
    from alike a
    order by a.scope, a.external_id, a.seconds, a.notice_id
  ) n
  order by n.notice_id, n.seconds, n.scope, n.external_id
),
stated as (
  select
    l.scope,
    l.external_id,
    l.kind,
    l.title,
    l.url,
    l.status,
    l.impact,
    -- if the feed gives no time, or the notice has no id, use the time when we first saw it
    coalesce(l."startedAt", b.started_at, r.at) as started_at,
    -- The first stated time counts, if plausible: feeds move dates in hindsight. If the feed gives none, it was after
    -- the last reading without the notice: this reading's time would make us look early by up to the distance between
    -- readings.
    coalesce(
      case
        when b.posted_at between b.first_seen_at - interval '366 days' and b.first_seen_at + interval '10 minutes'
          then b.posted_at
      end,
      l."postedAt",
      b.posted_at,
      case when b.notice_id is null and r.was_readable and r.unbroken then r.before_at end
    ) as posted_at,
    l."resolvedAt" as resolved_at,
    l."plannedEndAt" as planned_end_at,
    l.over,
    -- What a notice was about stays part of it: venues unlink components when they resolve it, one by one or all at
    -- once, and some vendors name none at all. Bounded, because a feed could name others each time.
    (
      coalesce(b.subjects, '{}')
      || array(
        select s.name
        from unnest(api.texts(l.subjects)) with ordinality s (name, place)
        where s.name <> all (coalesce(b.subjects, '{}'))
        order by s.place
      )
    )[:100] as subjects,
    l.raw,
    b.notice_id,
    b as before,
    coalesce(b.first_seen_at, r.at) as first_seen_at
  from reading r
  cross join listed l
  left join continued c using (scope, external_id)
  left join notice b on b.notice_id = coalesce(l.own_id, c.notice_id)
),
given as materialized (
  select
    s.scope, s.external_id, s.kind, s.title, s.url, s.status, s.impact, s.started_at, s.posted_at, s.resolved_at,
    s.over, s.subjects, s.raw, s.notice_id, s.before, s.first_seen_at,
    e.planned_end_at,
    w.window_from,
    w.window_until,
    w.announced_at
  from reading r
  cross join stated s
  cross join lateral (
    select coalesce(
      api.plausible_end(s.planned_end_at, s.started_at),
      -- venues no longer give the plan of what is over
      case when s.over then api.plausible_end((s.before).planned_end_at, s.started_at) end
    ) as planned_end_at
  ) e
  cross join lateral api.announced_window(
    s.before, r.at, s.started_at, e.planned_end_at,
    s.kind = 'maintenance' and s.scope <> 'announcements' and not api.is_called_off(s.status),
    s.over and s.resolved_at is null
  ) w
),
-- A feed that invents notices must not fill the disk: the newest are admitted first. The first good reading brings a
-- whole history, and those before it parts of one.
room as (
  select greatest(
    0,
    case when r.first_good_at is null then 2000 else $7::int end - (
      select count(*)
      from notice n
      where n.feed_id = r.feed_id
        and (r.first_good_at is null or n.first_seen_at > greatest(r.first_good_at, r.at - interval '1 day'))
    )
  ) as left_today
  from reading r
),
newcomers as materialized (
  select
    j.*,
    row_number() over (order by j.posted_at desc nulls last, j.started_at desc)
      <= (select left_today from room) as admitted
  from given j
  where j.notice_id is null
),
verdict as materialized (
  select
    r.*,
    coalesce(
      r.problem,
      (select format('more than %s new notices within a day', $7::int) from newcomers n where not n.admitted limit 1)
    ) as final_problem
  from reading r
),
added as (
  insert into notice (
    feed_id, scope, external_id, kind, title, url, status, impact, started_at, posted_at, resolved_at, over,
    planned_end_at, window_from, window_until, announced_at, subjects, raw, first_seen_at, last_seen_at
  )
  select
    r.feed_id, n.scope, n.external_id, n.kind, n.title, n.url, n.status, n.impact, n.started_at, n.posted_at,
    n.resolved_at, n.over, n.planned_end_at, n.window_from, n.window_until, n.announced_at, n.subjects, n.raw, r.at,
    r.at
  from newcomers n
  cross join reading r
  where n.admitted
  on conflict do nothing
  returning *
),
changed as (
  update notice n
  set
    scope = j.scope, external_id = j.external_id, before_move = false,
    kind = j.kind, title = j.title, url = j.url, status = j.status, impact = j.impact, started_at = j.started_at,
    posted_at = j.posted_at, resolved_at = j.resolved_at, over = j.over, planned_end_at = j.planned_end_at,
    window_from = j.window_from, window_until = j.window_until, announced_at = j.announced_at, subjects = j.subjects,
    raw = j.raw, last_seen_at = r.at, left_at = null, vanished = false
  from given j
  cross join reading r
  cross join lateral (
    select
      (j.kind, j.status, j.impact, j.title, j.started_at, j.resolved_at, j.planned_end_at, j.subjects, false)
        is distinct from
        (
          (j.before).kind, (j.before).status, (j.before).impact, (j.before).title, (j.before).started_at,
          (j.before).resolved_at, (j.before).planned_end_at, (j.before).subjects, (j.before).vanished
        )
        -- an entry that changes with every reading of a day is no longer news
        and (select count(*) from notice_change c where c.notice_id = j.notice_id) < 1000
        as is_news
  ) d
  where n.notice_id = j.notice_id
    and (
      d.is_news
      or n.left_at is not null
      or n.before_move
      or (n.scope, n.external_id) <> (j.scope, j.external_id)
      -- uninformative changes are written once an hour: a feed that is regenerated at each reading would be rewritten
      -- each time
      or n.last_seen_at < r.at - interval '1 hour'
      and (
        n.kind, n.title, n.url, n.status, n.impact, n.started_at, n.posted_at, n.resolved_at, n.over, n.subjects, n.raw
      )
        is distinct from
        (
          j.kind, j.title, j.url, j.status, j.impact, j.started_at, j.posted_at, j.resolved_at, j.over, j.subjects,
          j.raw
        )
    )
  returning n.*, d.is_news
),
-- Notices that left the feed. Only a fully understood reading shows that: what could not be read is not gone.
absent as (
  update notice n
  set
    left_at = r.at,
    last_seen_at = greatest(n.last_seen_at, least(r.newest_good_at, r.at)),
    -- a feed that lists only current notices ends a notice by omitting it
    over = n.over or l.scope = 'now',
    resolved_at = case when l.scope = 'now' then r.at else n.resolved_at end,
    vanished = case l.scope
      -- work that has not begun was called off
      when 'now' then n.started_at > r.at
      else coalesce(coalesce(n.posted_at, n.first_seen_at) >= l.listed_from, not n.over)
    end
  from verdict r
  cross join lists l
  where r.final_problem is null
    -- a list without notices is unchanged
    and l.notices is not null
    and n.feed_id = r.feed_id and n.scope = l.scope and n.left_at is null
    and not exists (select from given g where g.notice_id = n.notice_id)
  returning n.*, n.vanished or l.scope = 'now' as is_news
),
news as (
  select a.notice_id, a.kind, a.status, a.impact, a.title, a.started_at, a.resolved_at, a.planned_end_at, a.subjects,
    a.vanished
  from added a
  union all
  select c.notice_id, c.kind, c.status, c.impact, c.title, c.started_at, c.resolved_at, c.planned_end_at, c.subjects,
    c.vanished
  from changed c
  where c.is_news
  union all
  select a.notice_id, a.kind, a.status, a.impact, a.title, a.started_at, a.resolved_at, a.planned_end_at, a.subjects,
    a.vanished
  from absent a
  where a.is_news
),
noted as (
  insert into notice_change (
    notice_id, at, kind, status, impact, title, started_at, resolved_at, planned_end_at, subjects, vanished
  )
  select
    t.notice_id, r.at, t.kind, t.status, t.impact, t.title, t.started_at, t.resolved_at, t.planned_end_at, t.subjects,
    t.vanished
  from news t
  cross join reading r
  on conflict (notice_id, at) do nothing
),
outcome as materialized (
  select
    v.*,
    case when v.final_problem is null then least(v.at, coalesce(l.covers_from, v.at)) end as covers_from
  from verdict v
  left join lateral (
    -- if a list's reach is unknown, it covers only the present; lists of maintenance do not count, because they never
    -- report incidents
    select max(coalesce(l.listed_from, v.at)) as covers_from
    from lists l
    where l.scope not in ('maintenances', 'announcements')
  ) l on true
),
run_goes_on as (
  update feed_poll w
  set
    -- further ahead than the distance of readings: from a wrong clock
    until_at = case when w.until_at > o.at + interval '1 minute' then o.at else greatest(w.until_at, o.at) end,
    problem = o.final_problem,
    covers_from = least(w.covers_from, o.covers_from)
  from outcome o
  where w.feed_id = o.feed_id and w.from_at = o.run_from
    and o.unbroken and o.was_readable = (o.final_problem is null)
  returning w.feed_id
),
-- a run that ended in the future by a clock that was ahead
run_is_cut as (
  update feed_poll w
  set until_at = o.at, covers_from = least(w.covers_from, o.at)
  from outcome o
  where w.feed_id = o.feed_id and w.from_at = o.run_from and w.until_at > o.at
    and not (o.unbroken and o.was_readable = (o.final_problem is null))
),
run_begins as (
  insert into feed_poll (feed_id, from_at, until_at, problem, covers_from)
  select o.feed_id, o.at, o.at, o.final_problem, o.covers_from
  from outcome o
  where not (o.unbroken and o.was_readable = (o.final_problem is null))
  on conflict (feed_id, from_at) do nothing
),
asked as (
  update feed s
  set due_at = $6::timestamptz,
    unended_readings = 0,
    feed_at = case
      when o.final_problem is not null then s.feed_at
      -- a time that is so much earlier is read only after it has persisted (claim_feed.sql)
      when $5::timestamptz < s.feed_at - interval '10 minutes' then $5::timestamptz
      else greatest(s.feed_at, $5::timestamptz)
    end
  from outcome o
  where s.feed_id = o.feed_id
),
-- the time of the last reading is shown, so each reading needs a new instant
published_past_changed as (
  update engine_clock set revision = revision_after(ticked_at, revision, silent_after_ms, ticked_at)
)
select
  (select o.final_problem from outcome o) as problem,
  (select count(*)::int from added) as added,
  (select count(*)::int from changed) as changed,
  (select count(*)::int from absent) as left_feed,
  (select count(*)::int from newcomers where not admitted) as refused
