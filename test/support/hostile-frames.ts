/** Random conversations of a hostile client with the embedded database, in the wire protocol and beside it. */
import * as wire from "@venuewatch/embedded-timescaledb/internals/wire-messages";
import { bind, closePortal, execute, flush, packet } from "./wire-client.js";

type Random = () => number;

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

/** The bytes that a client sends after its login, in pieces as they are written to the socket. */
export function hostileConversation(random: Random): Buffer[] {
  const messages = Array.from({ length: 1 + below(random, 7) }, () => hostileMessage(random));
  const whole = Buffer.concat(messages);
  return random() < 0.5 ? [whole] : pieces(whole, random);
}

/** What it sends instead of a login. */
export function hostileStart(random: Random): Buffer {
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

export function pick<T>(random: Random, from: readonly T[]): T {
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
