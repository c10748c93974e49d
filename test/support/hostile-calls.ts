/** Calls of every function that a login may execute, with values at the edges of the types of its arguments. */
import type { Client } from "pg";
import { pick } from "./hostile-frames.js";

export interface Callable {
  /** With its schema, quoted. */
  name: string;
  argumentTypes: string[];
}

/** Edges by type; every type has null besides. */
const edges: Record<string, string[]> = {
  smallint: ["0", "-1", "32767", "-32768"],
  integer: ["0", "-1", "1", "2147483647", "-2147483648"],
  bigint: ["0", "-1", "9223372036854775807", "-9223372036854775808"],
  numeric: ["0", "NaN", "Infinity", "-1e1000", "1e-1000"],
  real: ["0", "NaN", "-Infinity", "3e38"],
  "double precision": ["0", "NaN", "Infinity", "-1e308", "5e-324"],
  text: ["", "x", "%s%n", "((((", "[[[[", "\\", "a.b.c.d", "x".repeat(20_000)],
  bytea: ["", "\\x00", `\\x${"ff".repeat(9_000)}`],
  boolean: ["true", "false"],
  date: ["infinity", "-infinity", "4714-11-24 BC", "5874897-12-31"],
  "timestamp without time zone": ["infinity", "4714-11-24 BC", "294276-12-31"],
  "timestamp with time zone": ["infinity", "-infinity", "294276-12-31"],
  interval: ["0", "178000000 years", "-178000000 years", "infinity"],
  json: ["null", "{}", "[]", '"x"', `${"[".repeat(3_000)}${"]".repeat(3_000)}`],
  jsonb: ["null", "{}", "[[]]", '{"a": 1e1000}'],
  jsonpath: ["$", "$.**", "$[last - 9999999]"],
  oid: ["0", "1", "4294967295", "1259"],
  regclass: ["0", "pg_class", "4294967295"],
  name: ["", "x", "y".repeat(63)],
  '"char"': ["", "x"],
  inet: ["0.0.0.0/0", "::/0", "255.255.255.255/32"],
  bit: ["", "1", "0".repeat(9_000)],
  "bit varying": ["", "1", "0".repeat(9_000)],
  tsvector: ["", "'a':1"],
  tsquery: ["", "a & !b"],
  point: ["(0,0)", "(NaN,1e308)"],
  polygon: ["((0,0),(0,0))", `(${Array(500).fill("(1e308,-1e308)").join(",")})`],
  path: ["[(0,0)]", "((1e308,1),(2,NaN))"],
  circle: ["<(0,0),0>", "<(1e308,1e308),1e308>"],
  xml: ["", "<a/>", "<a>".repeat(200)],
  uuid: ["00000000-0000-0000-0000-000000000000"],
  pg_lsn: ["0/0", "FFFFFFFF/FFFFFFFF"],
  xid: ["0", "3", "4294967295"],
  tid: ["(0,0)", "(4294967295,65535)"],
  int4range: ["empty", "(,)", "[2147483646,2147483647)"],
  anyrange: ["empty"],
};
/** Arrays of any type. */
const arrays = ["{}", "{NULL}", "[2147483646:2147483646]={NULL}"];
/** What stands for a type that any other may replace. */
const stand: Record<string, string> = {
  anyelement: "integer",
  anynonarray: "integer",
  anycompatible: "integer",
  anycompatiblenonarray: "integer",
  '"any"': "integer",
  anyarray: "integer[]",
  anycompatiblearray: "integer[]",
  anyrange: "int4range",
  anymultirange: "int4multirange",
  anycompatiblerange: "int4range",
  anycompatiblemultirange: "int4multirange",
};

/** The functions that the client's user may execute. Types that only PostgreSQL's own code can make are left out. */
export async function callableFunctions(client: Client): Promise<Callable[]> {
  const { rows } = await client.query<{ name: string; types: string[] }>(`
    select quote_ident(nspname) || '.' || quote_ident(proname) as name,
      array(select format_type(one, null) from unnest(proargtypes) with ordinality a (one, n) order by n) as types
    from pg_proc join pg_namespace on pg_namespace.oid = pronamespace
    where prokind <> 'p' and has_function_privilege(pg_proc.oid, 'execute') and has_schema_privilege(pronamespace, 'usage')
    order by pg_proc.oid`);
  return rows.map(({ name, types }) => ({ name, argumentTypes: types }));
}

export function hostileCall({ name, argumentTypes }: Callable, random: () => number): string {
  const given = argumentTypes.map((type) => hostileValue(stand[type] ?? type, random));
  return `select ${name}(${given.join(", ")}) limit 3`;
}

function hostileValue(type: string, random: () => number): string {
  const values = type.endsWith("[]") ? arrays : (edges[type] ?? ["0", ""]);
  if (type === "internal" || random() < 0.15) return `null::${type}`;
  return `'${pick(random, values).replaceAll("'", "''")}'::${type}`;
}
