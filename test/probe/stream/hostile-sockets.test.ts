/** Malicious WebSocket servers: each gets the right fault, and takes bounded time and memory. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import t, { type Test } from "tap";
import type { Cause } from "../../../probe/rest/cause.js";
import { makeResolver } from "../../../probe/network/resolver.js";
import type { Flow } from "../../../probe/stream/inflow.js";
import { openSocket } from "../../../probe/stream/socket.js";
import type { Down } from "../../../probe/stream/socket-ending.js";
import { until } from "../../support/until.js";

const text = 0x81;
const firstFragment = 0x01;
const fragment = 0x00;
const ping = 0x89;
const pong = 0x8a;
const closing = 0x88;

const mebibyte = 1024 * 1024;

/**
 * Eight sockets, each with a frame of the greatest allowed length, twice: in pieces and joined; plus the attackers' own
 * memory.
 */
const mostMemory = 96 * mebibyte;

interface Attack {
  what: string;
  /** The server's action on the request; by default it upgrades. */
  answer?: (socket: Socket, request: string) => void;
  /** The server's action once the socket is open. */
  act?: (socket: Socket) => void;
  /** Absent: the socket stays open. */
  cause?: Cause;
  /** The number of messages that must arrive first. */
  hears?: number;
  /** Absent: the probe's default. */
  flow?: Flow;
}

const closed: Cause = { fault: "closed" };
const handshake: Cause = { fault: "handshake" };
const timeout: Cause = { fault: "timeout" };

const attacks: Attack[] = [
  { what: "declares a frame of 500 MB", act: (socket) => socket.write(head(text, 500_000_000)), cause: closed },
  {
    what: "declares a frame longer than any number",
    act: (socket) => socket.write(Buffer.from([text, 127, ...Array<number>(8).fill(255)])),
    cause: closed,
  },
  {
    what: "sends a frame of 300 MB",
    act: (socket) => {
      socket.write(head(text, 300_000_000));
      flood(socket, Buffer.alloc(65_536, " "), 300_000_000);
    },
    cause: closed,
  },
  {
    what: "sends 300 MB in fragments of 16 KB",
    act: (socket) => {
      socket.write(frame(firstFragment, "["));
      flood(socket, frame(fragment, " ".repeat(16_384)), 300_000_000);
    },
    cause: closed,
  },
  {
    what: "sends fragments without end",
    act: (socket) => {
      socket.write(frame(firstFragment, "["));
      flood(socket, repeated(frame(fragment, "")));
    },
    cause: closed,
  },
  {
    what: "sends messages of four thousand empty fragments each",
    act: (socket) => {
      const one = [frame(firstFragment, ""), frame(0x80, "{}")];
      const empty = repeated(frame(fragment, ""), 4000);
      flood(socket, Buffer.concat([one[0]!, empty, one[1]!]));
    },
    cause: closed,
    // Two million fragments a second are allowed, more than a busy machine can read.
    flow: { frames: { burst: 100_000, perSecond: 20_000 }, bytes: { burst: mebibyte, perSecond: mebibyte / 16 } },
  },
  {
    what: "sends frames of valid data faster than any venue",
    act: (socket) => flood(socket, repeated(frame(text, `{"a":1}`))),
    cause: closed,
  },
  {
    what: "sends large frames faster than any venue",
    act: (socket) => flood(socket, frame(text, `["${"x".repeat(mebibyte)}"]`)),
    cause: closed,
  },
  {
    what: "sends pings without end",
    act: (socket) => flood(socket, repeated(frame(ping, "x".repeat(125)))),
    cause: closed,
  },
  {
    what: "sends pings without end and reads no pong",
    act: (socket) => {
      socket.pause();
      flood(socket, repeated(frame(ping, "x".repeat(125))));
    },
    cause: closed,
  },
  { what: "sends pongs without end", act: (socket) => flood(socket, repeated(frame(pong, ""))), cause: closed },
  {
    what: "sends a text that is no UTF-8",
    act: (socket) => socket.write(frame(text, Buffer.from([0x22, 0xc3, 0x28, 0x22]))),
    cause: closed,
  },
  {
    what: "sends compressed frames that were not agreed on",
    act: (socket) => socket.write(frame(text | 0x40, Buffer.alloc(1000))),
    cause: closed,
  },
  {
    what: "agrees on a compression that was not offered",
    answer: (socket, request) => socket.write(upgrade(request, "Sec-WebSocket-Extensions: permessage-deflate\r\n")),
    cause: handshake,
  },
  {
    what: "sends masked frames",
    act: (socket) => socket.write(Buffer.from([text, 0x82, 1, 2, 3, 4, 0x7a, 0x7f])),
    cause: closed,
  },
  { what: "sends an unknown opcode", act: (socket) => socket.write(frame(0x83, "")), cause: closed },
  {
    what: "sends a ping within a message",
    act: (socket) => socket.write(Buffer.concat([frame(firstFragment, "{"), frame(ping, "x"), frame(0x80, "}")])),
    hears: 1,
  },
  {
    what: "begins a message within a message",
    act: (socket) => socket.write(Buffer.concat([frame(firstFragment, "{"), frame(text, "{}")])),
    cause: closed,
  },
  { what: "sends a control frame in pieces", act: (socket) => socket.write(frame(0x09, "x")), cause: closed },
  {
    what: "says goodbye a hundred thousand times",
    act: (socket) => flood(socket, repeated(frame(closing, Buffer.from([3, 232]))), 400_000),
    cause: closed,
  },
  {
    what: "says goodbye and stays",
    act: (socket) => socket.write(frame(closing, Buffer.from([3, 232]))),
    cause: closed,
  },
  {
    what: "says goodbye and goes on sending",
    act: (socket) => {
      socket.write(frame(closing, Buffer.from([3, 232])));
      flood(socket, repeated(frame(text, "{}")), 300_000_000);
    },
    cause: closed,
  },
  {
    what: "gives a reason of a thousand letters",
    act: (socket) => socket.write(Buffer.concat([Buffer.from([closing, 126, 3, 232]), Buffer.alloc(1000, "x")])),
    cause: closed,
  },
  {
    what: "closes by a code that none may send",
    act: (socket) => socket.write(frame(closing, Buffer.from([3, 238]))),
    cause: closed,
  },
  { what: "resets before it answers", answer: (socket) => socket.resetAndDestroy(), cause: closed },
  {
    what: "resets in the midst of its answer",
    answer(socket, request) {
      socket.write(upgrade(request).subarray(0, 40));
      setTimeout(() => socket.resetAndDestroy(), 50);
    },
    cause: closed,
  },
  { what: "resets once the socket is open", act: (socket) => socket.resetAndDestroy(), cause: closed },
  {
    what: "resets in the midst of a frame",
    act(socket) {
      socket.write(head(text, 1000));
      setTimeout(() => socket.resetAndDestroy(), 50);
    },
    cause: closed,
  },
  { what: "accepts, and never answers", answer: () => {}, cause: timeout },
  {
    what: "answers drop by drop",
    answer(socket, request) {
      const bytes = upgrade(request);
      let at = 0;
      const timer = setInterval(() => {
        socket.write(bytes.subarray(at, (at += 1)));
        if (at === bytes.length - 1) clearInterval(timer);
      }, 100);
      socket.once("close", () => clearInterval(timer));
    },
    cause: timeout,
  },
  {
    what: "answers with headers without end",
    answer(socket) {
      socket.write("HTTP/1.1 101 Switching Protocols\r\n");
      flood(socket, Buffer.from(`x-more: ${"x".repeat(1000)}\r\n`), 50_000_000);
    },
    cause: handshake,
  },
  {
    what: "answers with one header without end",
    answer(socket) {
      socket.write("HTTP/1.1 101 Switching Protocols\r\nx: ");
      flood(socket, Buffer.alloc(65_536, "x"), 50_000_000);
    },
    cause: handshake,
  },
  {
    what: "answers with a wrong accept key",
    answer: (socket) => socket.write(upgrade("sec-websocket-key: abc\r\n")),
    cause: handshake,
  },
  {
    what: "leads elsewhere",
    answer: (socket) => socket.end("HTTP/1.1 301 Moved\r\nLocation: ws://127.0.0.1:1/\r\n\r\n"),
    cause: { fault: "handshake", httpStatus: 301 },
  },
  {
    what: "speaks another protocol",
    answer: (socket) => socket.end("220 smtp.example.com ESMTP\r\n"),
    cause: handshake,
  },
];

await t.test("a quiet socket works, for comparison", async (t) => {
  const { heard } = await attacked(t, { what: "speaks once", act: (socket) => socket.write(frame(text, "{}")) });
  await until(() => heard() === 1);
});
const memoryBefore = memoryNow();
let memoryMost = 0;
const memoryTimer = setInterval(() => {
  memoryMost = Math.max(memoryMost, memoryNow());
}, 10);

await t.test("each attack gets its fault", (t) => {
  t.jobs = 8;
  for (const attack of attacks)
    void t.test(`a server that ${attack.what}`, async (t) => {
      const { downs, heard } = await attacked(t, attack);
      if (attack.cause) {
        await until(() => downs.length > 0, 30_000);
        t.same(downs[0]!.cause, attack.cause, downs[0]!.detail);
      } else {
        await until(() => heard() >= attack.hears!);
        t.same(downs, []);
      }
      // The socket reports its end only once, whatever the server does next.
      await new Promise((passed) => setTimeout(passed, 50));
      t.ok(downs.length <= 1);
    });
  t.end();
});

void t.test("eight attacks at a time take little memory", (t) => {
  clearInterval(memoryTimer);
  const took = memoryMost - memoryBefore;
  t.ok(took < mostMemory, `${(took / mebibyte).toFixed(0)} MiB more`);
  t.end();
});

async function attacked(t: Test, { answer, act, flow }: Attack) {
  const server = createServer((socket) => {
    t.teardown(() => socket.destroy());
    socket.on("error", () => socket.destroy());
    socket.once("data", (request: Buffer) => {
      const asked = request.toString("latin1");
      if (answer) return answer(socket, asked);
      socket.write(upgrade(asked));
      // The server ignores incoming data.
      socket.resume();
      act?.(socket);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => server.close());
  const downs: Down[] = [];
  let heard = 0;
  const socket = openSocket({
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    userAgent: "test",
    resolver: makeResolver([]),
    ...(flow && { flow }),
    onOpen: () => {},
    onHeard: () => {},
    onMessage: () => (heard += 1),
    onDown: (down) => downs.push(down),
  });
  t.teardown(() => socket.close());
  if (!answer) await until(() => socket.opened !== null || downs.length > 0);
  return { downs, heard: () => heard };
}

function memoryNow(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function flood(socket: Socket, bytes: Buffer, until = Infinity) {
  let left = until;
  more();

  function more() {
    while (left > 0 && !socket.destroyed) {
      left -= bytes.length;
      if (!socket.write(bytes)) return socket.once("drain", more);
    }
  }
}

/** Enough for writes of about 64 KB. */
function repeated(bytes: Buffer, times = Math.ceil(65_536 / bytes.length)): Buffer {
  return Buffer.concat(Array.from({ length: times }, () => bytes));
}

function frame(first: number, payload: string | Buffer): Buffer {
  const bytes = Buffer.from(payload);
  return Buffer.concat([head(first, bytes.length), bytes]);
}

function head(first: number, length: number): Buffer {
  if (length < 126) return Buffer.from([first, length]);
  const long = Buffer.alloc(10);
  long[0] = first;
  long[1] = 127;
  long.writeBigUInt64BE(BigInt(length), 2);
  return long;
}

function upgrade(request: string, more = ""): Buffer {
  const key = /sec-websocket-key: (\S+)/i.exec(request)![1]!;
  const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
  return Buffer.from(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n${more}\r\n`,
  );
}
