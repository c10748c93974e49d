-- Block leadership in this database during the move. $1 the highest fence of the other database: fences continue from
-- there, so a core that led there does not lead here.
insert into leader (office, holder, fence, expires_at) values ('engine', 'venuewatch move', $1, 'infinity')
