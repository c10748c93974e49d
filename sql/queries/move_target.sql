-- What the target database contains: whether it has our schema, and whether a move has started here. {isOurs, isMarked}
select
  to_regclass('venuewatch.migration') is not null as "isOurs",
  to_regclass('moving.state') is not null as "isMarked"
