-- In a scratch schema: copy the samples of some components ($1 ids) that are later than $2 and not later than $3.
insert into sample
select s.*
from venuewatch.sample s
where s.component_id = any ($1::int[]) and s.ts > $2 and s.ts <= $3
