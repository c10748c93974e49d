-- Which views and functions stand: {checksum, version, intact}, or no row where none were made.
select d.checksum, d.version, d.fingerprint = venuewatch.definitions_fingerprint() as intact
from venuewatch.definition d
