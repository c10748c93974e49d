-- Whether the engine is alive, by the database's own clock. {ticked_at, fresh, ahead}; ticked_at is null before the
-- first tick.
select ticked_at, engine_fresh as fresh, coalesce(ticked_at > now(), false) as ahead from api.clock
