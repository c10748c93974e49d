-- Whether there is a history. One row {isThere}.
select exists (select from sample) as "isThere"
