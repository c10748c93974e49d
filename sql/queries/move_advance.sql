-- Note that a part is here up to a time. $1 part, $2 up to when it was (null: nothing of it), $3 up to when it is.
-- No row where it was not so: another move is at work.
insert into moving.done as d (part, until_at)
select $1, $3
-- said outright, since null equals nothing
where $2::timestamptz is not null or not exists (select from moving.done where part = $1)
on conflict (part) do update set until_at = excluded.until_at where d.until_at = $2::timestamptz
returning until_at
