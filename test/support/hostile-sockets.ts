/** Malicious WebSocket servers, and the fault of each in a measurement of the probe. */
import { createHash } from "node:crypto";
import type { Socket } from "node:net";
import { mebibyte } from "../../shared/config/byte-units.js";
import type { Cause } from "../../probe/measure/causes.js";
import type { Flow } from "../../probe/measure/stream/inflow.js";

export const text = 0x81;
export const firstFragment = 0x01;
const fragment = 0x00;
export const lastFragment = 0x80;
export const ping = 0x89;
const pong = 0x8a;
const closing = 0x88;

export interface Attack {
  what: string;
  /** The server's action on the request; by default it upgrades. */
  answer?: Answer;
  /** The server's action once the socket is open. */
  act?: (socket: Socket) => unknown;
  cause: Cause;
  /** Absent: the probe's default. */
  flow?: Flow;
}

const closed: Cause = { fault: "closed" };

export const writing = (bytes: Buffer) => (socket: Socket) => socket.write(bytes);
const flooding = (bytes: Buffer | (() => Buffer)) => (socket: Socket) => flood(socket, bytes);

const manyPings = repeated(frame(ping, "x".repeat(125)));
const manyFragments = Buffer.concat([
  frame(firstFragment, ""),
  repeated(frame(fragment, ""), 4000),
  frame(lastFragment, "{}"),
]);
const goodbye = frame(closing, Buffer.from([3, 232]));

/** What a server does on an open socket that the probe must then close. */
const misdeeds: Record<string, (socket: Socket) => unknown> = {
  "declares a frame of 8 MB": writing(head(text, 8 * mebibyte)),
  "declares a frame longer than any number": writing(Buffer.from([text, 127, ...Array<number>(8).fill(255)])),
  "sends a frame of 300 MB": (socket) => {
    socket.write(head(text, 300_000_000));
    flood(socket, Buffer.alloc(65_536, " "), 300_000_000);
  },
  "sends 300 MB in fragments of 16 KB": (socket) => {
    socket.write(frame(firstFragment, "["));
    flood(socket, frame(fragment, " ".repeat(16_384)), 300_000_000);
  },
  "sends fragments without end": (socket) => {
    socket.write(frame(firstFragment, "["));
    flood(socket, repeated(frame(fragment, "")));
  },
  "sends frames of valid data faster than any venue": flooding(repeated(frame(text, `{"a":1}`))),
  "sends large frames faster than any venue": flooding(frame(text, `["${"x".repeat(mebibyte)}"]`)),
  "sends frames of ever new keys": flooding(framesOf((n) => `"x${n}":1`, "{}")),
  "sends frames of ever new texts in lists": flooding(framesOf((n) => `"x${n}"`, "[]")),
  "sends pings without end": flooding(manyPings),
  "sends pings without end and reads no pong": (socket) => {
    socket.pause();
    flood(socket, manyPings);
  },
  "sends pongs without end": flooding(repeated(frame(pong, ""))),
  "sends a text that is no UTF-8": writing(frame(text, Buffer.from([0x22, 0xc3, 0x28, 0x22]))),
  "sends compressed frames that were not agreed on": writing(frame(text | 0x40, Buffer.alloc(1000))),
  "sends masked frames": writing(Buffer.from([text, 0x82, 1, 2, 3, 4, 0x7a, 0x7f])),
  "sends an unknown opcode": writing(frame(0x83, "")),
  "begins a message within a message": writing(Buffer.concat([frame(firstFragment, "{"), frame(text, "{}")])),
  "sends a control frame in pieces": writing(frame(0x09, "x")),
  "says goodbye a hundred thousand times": (socket) => flood(socket, repeated(goodbye), 400_000),
  "says goodbye and stays": writing(goodbye),
  "says goodbye and goes on sending": (socket) => {
    socket.write(goodbye);
    flood(socket, repeated(frame(text, "{}")), 300_000_000);
  },
  "gives a reason of a thousand letters": writing(
    Buffer.concat([Buffer.from([closing, 126, 3, 232]), Buffer.alloc(1000, "x")]),
  ),
  "closes by a code that none may send": writing(frame(closing, Buffer.from([3, 238]))),
  "resets once the socket is open": (socket) => socket.resetAndDestroy(),
  "resets in the midst of a frame": (socket) => {
    socket.write(head(text, 1000));
    setTimeout(() => socket.resetAndDestroy(), 50);
  },
};

type Answer = (socket: Socket, request: string) => unknown;

const pours =
  (piece: string): Answer =>
  (socket) =>
    flood(socket, repeated(Buffer.from(piece)));

/** What a server answers to the request, by the fault. */
const answers: Record<"closed" | "timeout" | "handshake", Record<string, Answer>> = {
  closed: {
    "resets before it answers": (socket) => socket.resetAndDestroy(),
    "resets in the midst of its answer": (socket, request) => {
      socket.write(upgrade(request).subarray(0, 40));
      setTimeout(() => socket.resetAndDestroy(), 50);
    },
  },
  timeout: {
    "accepts, and never answers": () => {},
    "answers drop by drop": (socket, request) => {
      const bytes = upgrade(request);
      let at = 0;
      const timer = setInterval(() => {
        socket.write(bytes.subarray(at, (at += 1)));
        if (at === bytes.length - 1) clearInterval(timer);
      }, 100);
      socket.once("close", () => clearInterval(timer));
    },
  },
  handshake: {
    "agrees on a compression that was not offered": (socket, request) =>
      socket.write(upgrade(request, "Sec-WebSocket-Extensions: permessage-deflate\r\n")),
    "answers with headers without end": (socket) => {
      socket.write("HTTP/1.1 101 Switching Protocols\r\n");
      flood(socket, Buffer.from(`x-more: ${"x".repeat(1000)}\r\n`), 50_000_000);
    },
    "answers with one header without end": (socket) => {
      socket.write("HTTP/1.1 101 Switching Protocols\r\nx: ");
      flood(socket, Buffer.alloc(65_536, "x"), 50_000_000);
    },
    "sends early hints without end": pours("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
    "sends 100 Continue without end": pours("HTTP/1.1 100 Continue\r\n\r\n"),
    "sends empty lines without end": pours("\r\n"),
    "answers with a wrong accept key": (socket) => socket.write(upgrade("sec-websocket-key: abc\r\n")),
    "speaks another protocol": (socket) => socket.end("220 smtp.example.com ESMTP\r\n"),
  },
};

export const attacks: Attack[] = [
  ...Object.entries(misdeeds).map(([what, act]) => ({ what, act, cause: closed })),
  ...Object.entries(answers).flatMap(([fault, those]) =>
    Object.entries(those).map(([what, answer]) => ({ what, answer, cause: { fault } as Cause })),
  ),
  {
    what: "leads elsewhere",
    answer: (socket) => socket.end("HTTP/1.1 301 Moved\r\nLocation: ws://127.0.0.1:1/\r\n\r\n"),
    cause: { fault: "handshake", httpStatus: 301 },
  },
  {
    what: "sends messages of four thousand empty fragments each",
    act: flooding(manyFragments),
    cause: closed,
    // Two million fragments a second are allowed, more than a busy machine can read.
    flow: {
      frames: { burst: 100_000, perSecond: 20_000 },
      chunks: { burst: 100_000, perSecond: 20_000 },
      bytes: { burst: mebibyte, perSecond: mebibyte / 16 },
      parts: { burst: 600_000, perSecond: 200_000 },
    },
  },
];

function flood(socket: Socket, bytes: Buffer | (() => Buffer), until = Infinity) {
  const next = typeof bytes === "function" ? bytes : () => bytes;
  let left = until;
  more();

  function more() {
    while (left > 0 && !socket.destroyed) {
      const piece = next();
      left -= piece.length;
      if (!socket.write(piece)) return socket.once("drain", more);
    }
  }
}

/** Frames of JSON with 20,000 items each, none of which is like another. */
function framesOf(item: (n: number) => string, [opening, closing]: string): () => Buffer {
  let n = 0;
  return () => frame(text, opening + Array.from({ length: 20_000 }, () => item(n++)).join() + closing);
}

/** Enough for writes of about 64 KB. */
function repeated(bytes: Buffer, times = Math.ceil(65_536 / bytes.length)): Buffer {
  return Buffer.concat(Array.from({ length: times }, () => bytes));
}

export function frame(first: number, payload: string | Buffer): Buffer {
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

export function upgrade(request: string, more = ""): Buffer {
  const key = /sec-websocket-key: (\S+)/i.exec(request)![1]!;
  const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
  return Buffer.from(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n${more}\r\n`,
  );
}

/** What the server of an attack does on a connection. */
export function talkOf({ answer, act }: Pick<Attack, "answer" | "act">): (socket: Socket) => void {
  return (socket) => {
    socket.once("data", (data: Buffer) => {
      const request = data.toString("latin1");
      if (answer) return answer(socket, request);
      socket.write(upgrade(request));
      // The server ignores incoming data.
      socket.resume();
      act?.(socket);
    });
  };
}
