-- Take or renew a lease (005-leadership.sql). $1 office, $2 holder, $3 duration in milliseconds, $4 `over`
-- of the previous answer.
select fence, over from engine.lead($1, $2, $3, $4)
