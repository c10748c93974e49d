-- Makes or changes the login $1 of kind $2, whose password has the verifier $3; $4 connections, null: as many as its kind has.
-- One row {connections, refused}; refused are the settings that only a superuser could have set.
select
  coalesce($4::integer, logins.connections_of($2)) as connections,
  logins.keep($1, $2, $3, $4) as refused
