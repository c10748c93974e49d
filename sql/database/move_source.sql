-- What `move` asks of the source database, before and after reading. {state, busy, rawFrom}
--
-- state     changes with anything that a running service writes
-- busy      the programs that are still running, in words
-- rawFrom   start of the kept raw samples, null without any: roll-ups before it have no source
select
  md5(
    row(
      (select c.ticked_at from engine_clock c),
      (select max(l.fence) from leader l where l.office not like 'refresh of %'),
      (select max(s.ts) from sample s),
      (select max(p.seen_at) from probe p),
      (select max(i.incident_id) from incident i),
      (select max(e.event_id) from alert_event e),
      (select max(a.attempt_id) from delivery_attempt a),
      (select max(c.channel_id) from channel c),
      (select max(r.until_at) from feed_poll r)
    )::text
  ) as state,
  array(
    select format('a core leads (%s)', l.holder)
    from leader l
    where l.office not like 'refresh of %' and l.expires_at > now()
    union all
    select format('a probe of %s measures', g.region)
    from probe p
    join region g using (region_id)
    where p.alive_until > now()
    union all
    select distinct format('%s is connected', a.application_name)
    from pg_stat_activity a
    where a.datname = current_database()
      and a.pid <> pg_backend_pid()
      and a.application_name ~ '^venuewatch (core|probe)'
  ) as busy,
  (
    select min(ch.range_start)
    from timescaledb_information.chunks ch
    where (ch.hypertable_schema, ch.hypertable_name) = ('venuewatch', 'sample')
  ) as "rawFrom"
