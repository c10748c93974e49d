-- One venue in detail.
--
-- $1 venue; $2 range: 24h or 7d; $3 region of the latency chart, the endpoints and the streams. One row {generated_at,
-- body}, or none if the venue is not published.
select p.generated_at, p.body
from api.venue_page($1, $2, $3) p
