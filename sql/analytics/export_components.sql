-- Which components there can be samples of, in the order of a dataset: $1 of a venue or null. A row is a component,
-- former ones included.
--
-- All of them: looking for those that have samples would read the samples, and to ask for one that has none costs next
-- to nothing.
select c.venue, c.component
from analytics.components c
where ($1::text is null or c.venue = $1)
order by c.venue collate "C", c.component collate "C"
