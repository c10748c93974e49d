-- The views and functions that exist: {checksum, version, intact}, or no row if none were created.
select d.checksum, d.version, d.fingerprint = venuewatch.definitions_fingerprint() as intact
from venuewatch.definition d
