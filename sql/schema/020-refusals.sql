-- How a venue put it that it does not serve a stream: one line of at most 200 characters, without control characters. Null: it said
-- nothing, or was not asked. record_samples.sql keeps the bound, as a check would keep this column off compressed chunks.
--
-- It stands on every sample of such a stream, so that recomputing an incident from the samples finds the same words; equal ones
-- compress to nearly nothing.
alter table sample add column refusal text;
