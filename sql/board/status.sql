-- The live board.
--
-- $1 category or null; $2 all categories; $3 the default cadence in milliseconds. One row {generated_at, body}.
select b.generated_at, b.body
from api.board($1, $2, $3) b
