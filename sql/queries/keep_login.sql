-- Makes or changes the login $1 of kind $2, whose password has the verifier $3; $4 connections, null: as many as its kind has.
-- One row {connections}.
select logins.keep($1, $2, $3, $4) as connections
