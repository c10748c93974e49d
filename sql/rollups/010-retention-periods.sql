-- Every window and period of upkeep: roll-ups are refreshed, then compressed, then expired data is dropped. Core calls
-- the procedures of this folder on both kinds of database, one at a time, in this order. There are no background
-- policies: the embedded database has no workers to run them, and the order prevents a refresh from erasing what raw
-- samples no longer back.
--
-- THE DANGER: a refresh recomputes its whole window from the level below. If raw samples were dropped, it finds none
-- and silently erases the roll-up. So three numbers belong together: samples older than 7 days are refused on arrival
-- (probe/010-record-samples.sql); a routine refresh reaches back half a day further, so that it finds samples that were
-- just accepted even if core was away for hours; and raw samples are kept for 8 days, half a day more than any refresh
-- looks for.

create function upkeep.refused_after() returns interval language sql immutable return interval '7 days';
create function upkeep.late_window() returns interval language sql immutable return interval '7 days 12 hours';
create function upkeep.raw_kept() returns interval language sql immutable return interval '8 days';
create function upkeep.minutes_kept() returns interval language sql immutable return interval '100 days';
-- A probe without a heartbeat for this long is gone for good, and its row is of no more use.
create function upkeep.probes_kept() returns interval language sql immutable return interval '1 day';
create function upkeep.states_kept() returns interval language sql immutable return interval '400 days';
create function upkeep.alerts_kept() returns interval language sql immutable return interval '90 days';

-- Maximum duration of a refresh. A refresh that reaches back to data that may expire within this time registers in
-- table `leader`, and nothing is dropped meanwhile; if it crashes, its registration expires after this time.
create function upkeep.longest_refresh() returns interval language sql immutable return interval '1 hour';
-- Held while registering, and while dropping: whichever comes second sees the first.
create function upkeep.retention_lock() returns bigint language sql immutable return 7338142;

-- Chunks are compressed when nearly all late samples have arrived: a late insert into a compressed chunk works, but
-- costs ten times as much. On a server a chunk is a day, and compressing it blocks late inserts for two seconds.
create function upkeep.compressed_after() returns interval language sql immutable return interval '2 hours';
-- On the embedded database a chunk of samples is an hour: each uncompressed one takes 17 MB more disk.
create function upkeep.samples_compressed_after() returns interval language sql immutable
return case when is_embedded() then interval '1 hour' else upkeep.compressed_after() end;

-- How long older versions of recomputed figures are kept: longer than an engine may hang before it counts as silent.
create function upkeep.versions_kept() returns interval language sql immutable return interval '15 minutes';

-- Delay after which an ended hour is kept: its last samples arrive up to a deadline late, and until then it is read
-- raw.
create function upkeep.kept_after() returns interval language sql immutable return interval '2 minutes';

-- Delay after which hours and days are added up from minutes: until then their newest minutes are still rolled up every
-- few seconds.
create function upkeep.added_up_after() returns interval language sql immutable return interval '5 minutes';
