-- The columns of a view for analysts, as `export` describes them to readers of its files: $1 the view. A row is a
-- column: its name, the name of its type, the words of an enum, and its comment.
--
-- An enum is text to readers, who do not have our types.
select
  a.attname::text as name,
  case when t.typtype = 'e' then 'text' else t.typname::text end as type,
  case
    when t.typtype = 'e' then array(
      select e.enumlabel::text from pg_enum e where e.enumtypid = t.oid order by e.enumsortorder
    )
  end as words,
  col_description(a.attrelid, a.attnum) as description
from pg_attribute a
join pg_type t on t.oid = a.atttypid
where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped
order by a.attnum
