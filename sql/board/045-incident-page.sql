-- The vantage of a region at an instant, as reported by all of its probes by then: {name, place, network}. Null where
-- they disagreed or reported nothing.
create function api.vantage_then(of_region text, at timestamptz) returns jsonb
language sql stable
return coalesce(
  (
    select jsonb_build_object('name', v.name, 'place', v.place, 'network', v.network)
    from region_vantage v
    join region g using (region_id)
    where g.region = of_region and v.holds_from <= at
    order by v.holds_from desc
    limit 1
  ),
  '{"name": null, "place": null, "network": null}'
);

-- A vote as a page shows it: the stored vote, plus the number of answers behind its median, and no median with too few
-- answers. The stored vote keeps its median, because a recomputed decision is compared with it byte by byte.
create function api.shown_vote(kept jsonb, kind text) returns jsonb
language sql stable
begin atomic
  select kept || jsonb_build_object(
    'answers', a.answers,
    'p50Ms', case when a.answers >= api.p50_min_answers() then kept -> 'p50Ms' end
  )
  from (
    -- a socket's opening time is not an answer
    select case when kind = 'rest' then (kept ->> 'samples')::int - (kept ->> 'bad')::int else 0 end as answers
  ) a;
end;

-- The votes of a decision as a page shows them, counted or not, each with its region's vantage at that time.
create function api.shown_votes(kept jsonb, kind text, at timestamptz) returns jsonb
language sql stable
begin atomic
  select kept || jsonb_build_object(
    'votes', (
      select coalesce(
        jsonb_agg(
          api.shown_vote(v.vote, kind)
            || jsonb_build_object('vantage', api.vantage_then(v.vote ->> 'region', at))
          order by v.place
        ),
        '[]'
      )
      from jsonb_array_elements(kept -> 'votes') with ordinality as v (vote, place)
    ),
    'notCounted', (
      select coalesce(
        jsonb_agg(n.one || jsonb_build_object('vantage', api.vantage_then(n.one ->> 'region', at)) order by n.place),
        '[]'
      )
      from jsonb_array_elements(kept -> 'notCounted') with ordinality as n (one, place)
    )
  );
end;

-- An incident's evidence as its page shows it. Parts without votes, such as the reason for closing, are unchanged.
create function api.shown_evidence(
  kept jsonb, kind text, opened_at timestamptz, escalated_at timestamptz, closed_at timestamptz
) returns jsonb
language sql stable
begin atomic
  select jsonb_object_agg(
    e.part,
    case
      when jsonb_typeof(e.noted -> 'votes') = 'array'
        then api.shown_votes(
          e.noted,
          kind,
          case e.part when 'opening' then opened_at when 'escalation' then escalated_at else closed_at end
        )
      else e.noted
    end
  )
  from jsonb_each(kept) as e (part, noted);
end;

-- One page of the incident history, newest first: of the UTC days of a window, today included, as everywhere. Each
-- filter is null or set; `before_id` breaks the tie if several started at `before`. One function, so that JSON and CSV
-- have the same rows.
create function api.incident_page(
  only_venue text, only_category text, only_status text, window_days integer, max_rows integer,
  before timestamptz, before_id bigint
)
returns table (venue_id smallint, started_at timestamptz, incident_id bigint, body json)
language sql stable
begin atomic
  select i.venue_id, i.started_at, i.incident_id, i.body
  from api.incident i
  where (only_venue is null or i.venue = only_venue)
    and (only_category is null or i.category = only_category)
    -- written so that the index of open incidents is used
    and (only_status <> 'open' or i.closed_at is null)
    and (only_status <> 'closed' or i.closed_at is not null)
    -- a scalar, not a joined row: then the newest are read in index order, and only one page of them
    and i.started_at >= (select (k.today - window_days + 1)::timestamp at time zone 'UTC' from api.clock k)
    and (
      before is null
      or i.started_at < before
      -- two incidents may start at one instant: the id breaks the tie
      or (i.started_at = before and i.incident_id < before_id)
    )
  order by i.started_at desc, i.incident_id desc
  limit max_rows;
end;
