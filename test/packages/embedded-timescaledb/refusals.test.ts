import t from "tap";
import { query } from "@venuewatch/embedded-timescaledb/internals/wire-messages";
import { refusalOf } from "@venuewatch/embedded-timescaledb/internals/refusals";

function refused(sql: string): boolean {
  return refusalOf({ type: "Q", bytes: query(sql) }) !== null;
}

for (const sql of [
  "copy t from stdin",
  "COPY public.t (a, b) FROM STDIN WITH (FORMAT csv)",
  "select 1; copy t from stdin",
  "/* a /* nested */ comment */ -- and one more\n copy t from stdin",
  'copy "odd ""name" from stdin',
  "select 'it''s'; copy t from stdin",
  "select $$;$$, $tag$ ' $tag$; copy t from stdin",
  "select E'\\''; copy t from stdin",
  "listen news",
])
  t.ok(refused(sql), `refused: ${sql}`);

for (const sql of [
  "copy t to stdout",
  "select 'copy t from stdin'",
  "select $$; copy t from stdin$$",
  "/* copy t from stdin */ select 1",
  "-- stdin\nselect 1",
  'select "from" as stdin from copy',
  "select E'\\'; copy t from stdin'",
  "insert into t values ('listen')",
  "select listen from stdin",
])
  t.notOk(refused(sql), `passed: ${sql}`);
