-- What a reader of an incident's evidence asks besides: from where was looked, and is the threshold of a silent stream measured?

-- What all probes of the region said of where they are, from the same instant on as their machine; null: nothing, or not the same.
alter table region_vantage
  add column name text,
  add column place text,
  add column network text;

-- What stall_after_ms stands on, as the registry says. Null where that is, and until the registry is read again after this.
alter table component add column stall_basis text;
