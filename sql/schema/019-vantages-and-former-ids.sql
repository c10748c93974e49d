-- From where each probe looks, by what names a venue was known, and which reasons of retractions stay unpublished.

alter table probe
  -- as its operator says in VANTAGE; null: nothing was said
  add column vantage_name text,
  add column vantage_place text,
  add column vantage_network text,
  -- fingerprint of its machine; null: a build that reports none
  add column machine text,
  add check ((vantage_name is null) = (vantage_place is null) and (vantage_name is null) = (vantage_network is null));

-- Ids that the venue had before, as the registry lists them. Requests and samples that name one of them are still accepted.
alter table venue add column former_ids text[] not null default '{}';

-- Reasons of retractions are public from now on. Those that operators gave before were given in confidence; the engine's own have evidence.
create table retracted_in_confidence (
  incident_id bigint primary key
);
insert into retracted_in_confidence (incident_id)
select incident_id from incident where retracted_at is not null and retraction_evidence is null;
