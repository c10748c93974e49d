-- Rights on tables (roles.sql has the roles). Listed table by table, so that a table with secrets never becomes
-- readable by omission. Of alerts, only the log of what was sent is readable; destinations and receivers' answers are
-- for core and its operators alone.
--
-- Grants only what is missing: a grant rewrites the catalogue rows of a table and all its chunks, and anything that
-- creates a chunk at that moment, a refresh or a probe's insert, would fail with "tuple concurrently updated".
do $$
declare
  missing text;
begin
  for missing in
    select format('grant %s on venuewatch.%I to %I', privilege, held, role)
    from (values
      -- vw_probe: only for venuewatch doctor on a probe's machine
      ('{vw_probe,vw_core,vw_web}', '{select}', '{region,venue,component,region_vantage,migration,definition}'),
      ('{vw_probe}', '{select}', '{probe}'),
      ('{vw_core}', '{select}', '{probe_login}'),
      ('{vw_web}', '{select}', '{
        sample,sample_minute,sample_hour,component_minute,venue_minute,component_hour,venue_hour,component_day,
        venue_day,maintenance_day,latency_day,
        venue_latency_day,usual_hour,rest_hour,stream_hour,latency_hour,
        excluded_minute,regions_published,components_published,added_up,hours_kept,typical_week,open_hour,
        shown_probe,probe,engine_clock,region_state,component_state,venue_state,
        region_venue_state,incident,typical_latency,impairment,outlier,unjudged,component_entry,
        alert_event,change_event,state_change,timeline,rules_in_force,
        feed,feed_poll,notice,notice_change,
        delivery,venue_lease,feed_identity,
        transfer_asset,transfer_network,transfer_source,transfer_line,transfer_state,transfer_span,transfer_day,
        transfer_past,transfer_window
      }')
    ) as wanted (grantees, privileges, tables)
    cross join unnest(grantees::text[]) as granted (role)
    cross join unnest(privileges::text[]) as privilege
    cross join unnest(tables::text[]) as held
    -- tables of later schema files do not exist yet
    where to_regclass(format('venuewatch.%I', held)) is not null
      and not exists (
        select
        from pg_class c
        cross join aclexplode(c.relacl) a
        where c.oid = to_regclass(format('venuewatch.%I', held))
          and a.grantee = to_regrole(granted.role)
          and a.privilege_type = upper(privilege)
      )
  loop
    execute missing;
  end loop;
end;
$$;
