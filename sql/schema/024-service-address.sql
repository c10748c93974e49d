-- Where readers find the service, as core was started with it. Alerts link to it, also those that an operator sends from a shell
-- whose own settings say nothing of it, or something else.
create table service_address (
  -- there is one row
  one_row  boolean primary key default true check (one_row),
  -- BASE_URL and SITE_URL, without a slash at the end
  base_url text not null,
  site_url text not null,
  set_at   timestamptz not null
);
