-- Note the timeline that the database is on, unless it is noted. {adopted}: whether alerts may leave already.
select engine.adopt_timeline() as adopted
