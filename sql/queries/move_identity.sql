-- Identifies the database: no two were migrated at the same microseconds.
select md5(string_agg(name || checksum || applied_at::text, ',' order by name)) as identity from migration
