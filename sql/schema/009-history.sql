-- Whether all that is decided so far is a history, written at once before the service begins, as the demo's is. Its
-- decisions are old, but no engine is silent: the service is starting. The first tick with which a core follows the
-- present ends it (engine.tick).
alter table engine_clock add column is_history boolean not null default false;
