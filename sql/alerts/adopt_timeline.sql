-- Record the database's timeline, unless it is already recorded. {adopted}: whether alerts may be sent already.
select engine.adopt_timeline() as adopted
