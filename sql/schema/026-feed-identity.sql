-- From what the ids in feeds are made. A reader knows an entry by its id alone, so the id must differ from those of
-- every other installation and never change: neither with BASE_URL, nor when the service moves to another database.
create table feed_identity (
  -- there is one row
  one_row  boolean primary key default true check (one_row),
  identity uuid not null default gen_random_uuid(),
  -- as of when a feed without entries is
  made_at  timestamptz not null default now()
);

insert into feed_identity default values;
