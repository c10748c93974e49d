-- Record that a part has been moved up to a time. $1 part, $2 the recorded time (null: none), $3 the new time. No row
-- if the recorded time differs: another move is running.
insert into moving.done as d (part, until_at)
select $1, $3
-- explicit, because null equals nothing
where $2::timestamptz is not null or not exists (select from moving.done where part = $1)
on conflict (part) do update set until_at = excluded.until_at where d.until_at = $2::timestamptz
returning until_at
