-- What alerts are about: an incident, or one direction of a line of transfers.

-- A pause of deposits or withdrawals that is over sooner is no news: venues close wallets for minutes while they move
-- them.
create function engine.transfer_alert_after() returns interval language sql immutable return interval '10 minutes';

-- A pause ends with this when the venue no longer says anything of it, as of a network that it has dropped.
create function engine.transfer_given_up_after() returns interval language sql immutable return interval '1 day';

-- The venue of each event; the slug names its incident, or the line in the same manner. Null: what only the other kind
-- of event has.
create view engine.alert_subject as
select
  e.event_id,
  coalesce(i.slug, lower(concat_ws('-', v.venue, l.asset, l.venue_network, e.direction))) as slug,
  i as incident,
  l.asset,
  v.venue_id,
  v.venue,
  v.category,
  v.published and coalesce(a.published, true) as published
from alert_event e
left join incident i using (incident_id)
left join component c using (component_id)
left join transfer_line l using (line_id)
left join transfer_asset a using (asset)
join venue v on v.venue_id = coalesce(c.venue_id, l.venue_id);
