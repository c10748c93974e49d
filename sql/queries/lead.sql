-- Take or keep an office for a while (kept-plans/030-lead.sql). $1 office, $2 holder, $3 how long in milliseconds, $4
-- `over` as it was answered last.
select fence, over from engine.lead($1, $2, $3, $4)
