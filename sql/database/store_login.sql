-- Create or change the login $1 of kind $2, whose password has the verifier $3; $4 connections, null: the default of
-- its kind; $5 true: with a schema of its own; $6 the region of a probe. One row {connections, leftToSuperuser}:
-- statements that only a superuser may run.
select kept.connections, logins.left_to_superuser($1, $2) as "leftToSuperuser"
from logins.keep($1, $2, $3, $4, $5, $6) as kept (connections)
