-- Make deliveries due that were skipped during announced maintenance, now that their incidents have outlasted it.
--
-- $1 now, or null: by this database's clock. {delivery_id} of each. Their cause becomes `open`: how long after the
-- first bad sample they are sent says nothing about how soon alerts arrive.
update delivery d
set cause = 'open', state = 'due', reason = null, due_at = n.now, ended_at = null
from engine.overrun_deliveries() o
cross join (select coalesce($1::timestamptz, clock_timestamp()) as now) n
where d.delivery_id = o.delivery_id
  and d.state = 'skipped'
returning d.delivery_id
