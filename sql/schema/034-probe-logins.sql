-- The region for which a login of a probe delivers samples (upkeep.require_region).
create table probe_login (
  login  name primary key,
  -- one that the registry does not have yet may follow
  region text not null
);
