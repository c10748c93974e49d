-- As of when does everything speak? One row {generated_at}, cheap: it is asked at every request.
select generated_at from api.clock
