-- Claims of this feed in a row whose reading did not end. An answer may end the program that reads it, and the next one
-- must not take it up at once (claim_source.sql).
alter table official_source add column unended_readings smallint not null default 0;
