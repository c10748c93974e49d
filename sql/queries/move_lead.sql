-- Let nobody lead here while the move goes on. $1 the highest fence that the other database has given out: terms go on
-- from there, and a core that led there is none here.
insert into leader (office, holder, fence, expires_at) values ('engine', 'venuewatch move', $1, 'infinity')
