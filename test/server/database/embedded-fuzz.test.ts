/**
 * A hostile client with a login, and one without, talk to the embedded database at random. Whatever they send, it
 * serves the others. FUZZ_SEED repeats a run, FUZZ_S lets it take longer.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import * as wire from "@venuewatch/embedded-timescaledb/internals/wire-messages";
import { Client } from "pg";
import t, { type Test } from "tap";
import { type Embedded, startEmbedded } from "../../../server/database/embedded.js";
import { makeLog } from "../../../shared/log/log.js";
import { migratedDirectory } from "../../support/database.js";
import { guestUrl } from "../../support/guest-url.js";
import { randomFrom } from "../../support/random-samples.js";
import { connectWire, bind, closePortal, execute, flush, packet } from "../../support/wire-client.js";

const statements = [
  ...[
    "select 1",
    "",
    ";",
    "select $1::int",
    "select $1::jsonb",
    "begin",
    "rollback",
    "commit and chain",
    "savepoint a",
  ],
  ...["copy (select generate_series(1, 3000)) to stdout", "copy nothing from stdin", "listen x", "notify x, 'y'"],
  ...[
    "declare c cursor with hold for select 1",
    "fetch all from c",
    "prepare p as select 1",
    "execute p",
    "discard all",
  ],
  ...[
    "set role postgres",
    "reset session authorization",
    "set client_encoding = 'LATIN1'",
    "set my.own = 1",
    "reset all",
  ],
  ...[
    "select repeat('x', 9000) from generate_series(1, 50)",
    "create temp table t (a int)",
    "insert into t values (1)",
  ],
  ...["select 1 / 0", "select pg_sleep(0.001)", "explain analyze select 1", "values ($1::bytea, $2::numeric[])"],
];

/** Lengths at which a reader may err: around none, around PostgreSQL's buffer, and signs and sizes of integers. */
const oddLengths = [0, 3, 4, 5, 9_999, 10_000, 10_001, 2 ** 26 + 1, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1];

const types = [..."QPBDECSHFXdcfp!R\0"];

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

const seed = Number(process.env["FUZZ_SEED"] ?? Date.now() % 1_000_000);
const seconds = Number(process.env["FUZZ_S"] ?? 60);
const login = "vw_analyst";
const limit = "set statement_timeout = '300ms'";
const skip = process.env["DATABASE_URL"] ? "the embedded database only" : false;

interface Ground {
  embedded: Embedded;
  /** The address of a login that is no superuser. */
  address: string;
  /** Fails the test if the database has crashed or does not answer. */
  isSound: (sent: unknown) => Promise<boolean>;
}

async function ground(t: Test): Promise<Ground> {
  const dataDir = await migratedDirectory(t);
  const log = makeLog("database", "error");
  const embedded = await startEmbedded({ dataDir, port: 0, log, logins: [login] });
  t.teardown(() => embedded.close());
  let crash: Error | null = null;
  embedded.failed.catch((error: Error) => (crash = error));
  const owner = new Client(embedded.url);
  owner.on("error", () => {});
  await owner.connect();
  t.teardown(() => owner.end().catch(() => {}));
  return {
    embedded,
    address: await guestUrl(embedded.url, dataDir, login),
    async isSound(sent) {
      const answer = await owner.query<{ n: number }>("select count(*)::int as n from pg_class").catch((e: Error) => e);
      if (crash === null && !(answer instanceof Error) && answer.rows[0]!.n > 100) return true;
      t.fail(`the database is gone; FUZZ_SEED=${seed}`, { sent, crash, answer });
      return false;
    },
  };
}

void t.test("random frames end nobody but their sender", { skip }, async (t) => {
  t.comment(`FUZZ_SEED=${seed}`);
  const random = randomFrom(seed);
  const { embedded, address, isSound } = await ground(t);
  let conversations = 0;
  for (const end = Date.now() + seconds * 1_000; Date.now() < end; conversations++) {
    const sent = random() < 0.25 ? [hostileStart(random)] : hostileConversation(random);
    const socket = await opened(embedded.port, sent.length === 1 && random() < 0.3 ? null : address);
    for (const piece of sent) socket.write(piece);
    // some leave at once, others let the database answer
    if (random() < 0.7) await answered(socket);
    socket.destroy();
    if (conversations % 5 === 0 && !(await isSound(sent.map((piece) => piece.toString("latin1").slice(0, 200)))))
      return;
  }
  t.comment(`${conversations} conversations`);
  t.ok(conversations > seconds, "the database answered quickly all the time");
});

void t.test("calls of all functions with odd values end nobody", { skip }, async (t) => {
  t.comment(`FUZZ_SEED=${seed}`);
  const random = randomFrom(seed);
  const { address, isSound } = await ground(t);
  let client = await connected(address);
  let isGone = false;
  const functions = await callableFunctions(client);
  await client.query(limit);
  t.ok(functions.length > 2_500, "the functions were found");
  let calls = 0;
  for (const end = Date.now() + seconds * 1_000; Date.now() < end; calls++) {
    client.once("end", () => (isGone = true));
    const call = hostileCall(pick(random, functions), random);
    // an error is the usual answer; a turn that was too long ends the connection
    await client.query(call).catch(() => {});
    client.removeAllListeners("end");
    if (!isGone && calls % 50 > 0) continue;
    if (!(await isSound(call.slice(0, 500)))) return;
    if (!isGone) continue;
    client = await connected(address);
    await client.query(limit);
    isGone = false;
  }
  await client.end();
  t.comment(`${calls} calls of ${functions.length} functions`);
  t.ok(calls > 10 * seconds, "most calls were answered");
});

async function connected(address: string): Promise<Client> {
  const client = new Client(address);
  client.on("error", () => {});
  await client.connect();
  return client;
}

/** Waits for a moment only: the database does not answer half a message. */
async function answered(socket: Socket): Promise<void> {
  const signal = AbortSignal.timeout(300);
  if (!socket.closed)
    await Promise.race([once(socket, "data", { signal }), once(socket, "close", { signal })]).catch(() => {});
}

/** @param address null: without a login */
async function opened(port: number, address: string | null): Promise<Socket> {
  if (address !== null) {
    const client = await connectWire(address);
    await client.until("Z");
    return client.socket;
  }
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket;
}

interface Callable {
  /** With its schema, quoted. */
  name: string;
  argumentTypes: string[];
}

/** The functions that the client's user may execute. Types that only PostgreSQL's own code can make are left out. */
async function callableFunctions(client: Client): Promise<Callable[]> {
  const { rows } = await client.query<{ name: string; types: string[] }>(`
    select quote_ident(nspname) || '.' || quote_ident(proname) as name,
      array(select format_type(one, null) from unnest(proargtypes) with ordinality a (one, n) order by n) as types
    from pg_proc join pg_namespace on pg_namespace.oid = pronamespace
    where prokind <> 'p' and has_function_privilege(pg_proc.oid, 'execute') and has_schema_privilege(pronamespace, 'usage')
    order by pg_proc.oid`);
  return rows.map(({ name, types }) => ({ name, argumentTypes: types }));
}

function hostileCall({ name, argumentTypes }: Callable, random: () => number): string {
  const given = argumentTypes.map((type) => hostileValue(stand[type] ?? type, random));
  return `select ${name}(${given.join(", ")}) limit 3`;
}

function hostileValue(type: string, random: () => number): string {
  const values = type.endsWith("[]") ? arrays : (edges[type] ?? ["0", ""]);
  if (type === "internal" || random() < 0.15) return `null::${type}`;
  return `'${pick(random, values).replaceAll("'", "''")}'::${type}`;
}

type Random = () => number;

/** The bytes that a client sends after its login, in pieces as they are written to the socket. */
function hostileConversation(random: Random): Buffer[] {
  const messages = Array.from({ length: 1 + below(random, 7) }, () => hostileMessage(random));
  const whole = Buffer.concat(messages);
  return random() < 0.5 ? [whole] : pieces(whole, random);
}

/** What it sends instead of a login. */
function hostileStart(random: Random): Buffer {
  const code = pick(random, [3 << 16, (3 << 16) + 9, 2 << 16, 80877102, 80877103, 80877104, below(random, 2 ** 31)]);
  const words = pick(random, [
    ...[
      "",
      "user\0guest\0\0",
      "user\0guest\0options\0-c a\0\0",
      "user\0\0database\0\0\0",
      "user\0x\0replication\0on\0\0",
    ],
    `user\0${"x".repeat(9_900)}\0\0`,
    "user\0guest\0_pq_.x\0y\0__proto__\0z\0\0",
  ]);
  const body = Buffer.concat([int32(code), Buffer.from(words)]);
  const packetOf = Buffer.concat([int32(random() < 0.8 ? body.length + 4 : pick(random, oddLengths)), body]);
  return Buffer.concat([...Array<Buffer>(1 + below(random, 3)).fill(packetOf), hostileMessage(random)]);
}

function hostileMessage(random: Random): Buffer {
  const kind = random();
  if (kind < 0.45) return exchange(random);
  if (kind < 0.6) return packet(pick(random, types), bytesOf(below(random, 40), random).toString("latin1"));
  if (kind < 0.7) return packet(pick(random, types), "\0".repeat(8_180 + below(random, 2_000)));
  if (kind < 0.8) return damaged(exchange(random), random);
  if (kind < 0.9) return functionCall(random);
  return Buffer.concat([Buffer.from(pick(random, types), "latin1"), int32(pick(random, oddLengths))]);
}

function exchange(random: Random): Buffer {
  const text = pick(random, statements);
  if (random() < 0.4) return wire.query(text);
  const steps = [
    wire.parse(text),
    values(random),
    execute("", below(random, 3)),
    closePortal(""),
    flush(),
    wire.sync(),
  ];
  return Buffer.concat(steps.filter(() => random() < 0.9));
}

/** Bind with random formats and values. */
function values(random: Random): Buffer {
  if (random() < 0.3) return bind("");
  const formats = Array.from({ length: below(random, 3) }, () => int16(below(random, 3)));
  const given = Array.from({ length: below(random, 3) }, () => {
    const value = bytesOf(pick(random, [0, 1, 4, 8, 20]), random);
    return random() < 0.2 ? int32(2 ** 32 - 1) : Buffer.concat([int32(value.length), value]);
  });
  const body = [Buffer.alloc(2), int16(formats.length), ...formats, int16(given.length), ...given, int16(0)];
  return packet("B", Buffer.concat(body).toString("latin1"));
}

function functionCall(random: Random): Buffer {
  const argument = Buffer.concat([int32(4), bytesOf(4, random)]);
  const body = [int32(below(random, 7_000)), int16(0), int16(1), argument, int16(below(random, 2))];
  return packet("F", Buffer.concat(body).toString("latin1"));
}

function damaged(bytes: Buffer, random: Random): Buffer {
  const changed = Buffer.from(bytes);
  for (let i = 0; i <= below(random, 3) && changed.length > 0; i++)
    changed[below(random, changed.length)] = below(random, 256);
  return random() < 0.5 ? changed : changed.subarray(0, below(random, changed.length + 1));
}

function pieces(bytes: Buffer, random: Random): Buffer[] {
  const cut = below(random, bytes.length + 1);
  return [bytes.subarray(0, cut), bytes.subarray(cut)];
}

function pick<T>(random: Random, from: readonly T[]): T {
  return from[below(random, from.length)]!;
}

function below(random: Random, limit: number): number {
  return Math.floor(random() * limit);
}

function bytesOf(length: number, random: Random): Buffer {
  return Buffer.from(Array.from({ length }, () => below(random, 256)));
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}
