-- Makes or changes the login $1 of kind $2, whose password has the verifier $3; $4 connections, null: as many as its
-- kind has. One row {connections, leftToSuperuser}: statements that only a superuser may run.
select kept.connections, logins.left_to_superuser($1, $2) as "leftToSuperuser"
from logins.keep($1, $2, $3, $4) as kept (connections)
