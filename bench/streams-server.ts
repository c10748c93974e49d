/**
 * Runs in a separate process. Sends the same frames repeatedly to each client that connects and subscribes, as fast as
 * the client reads or at a fixed rate.
 */
import { createServer, type AddressInfo } from "node:net";
import { createHash } from "node:crypto";
import type { Socket } from "node:net";

/** Bytes per write: as in a burst, many frames arrive in one chunk. */
const writeBytes = 256 * 1024;

/** The first byte of a closing handshake. The server closes at once, since the next client is timed. */
const goodbye = 0x88;

const opcodes = { text: 0x81, binary: 0x82 };

/** What a venue sends: the messages before the data, once, and the data. */
export interface Said {
  /** The name of the stream that the data belong to. */
  stream: string;
  notices: string[];
  frames: string[];
  isBinary: boolean;
  /** Null: as fast as the client reads. */
  perSecond: number | null;
}

let notices: Buffer;
let frames: Buffer[];
let burst: Buffer;
let perSecond: number | null;

const server = createServer((socket) => {
  socket.on("error", () => socket.destroy());
  socket.once("data", (request: Buffer) => {
    socket.write(upgradeOf(request.toString("latin1")));
    // The first message of the client is its subscription.
    socket.once("data", () => {
      socket.on("data", (said: Buffer) => {
        if (saysGoodbye(said)) socket.destroy();
      });
      socket.once("close", () => process.send!("closed"));
      socket.write(notices);
      if (perSecond === null) flood(socket);
      else pace(socket, perSecond);
    });
  });
});
process.once("message", (said: Said) => {
  const opcode = said.isBinary ? opcodes.binary : opcodes.text;
  const frameOf = (text: string) => frame(opcode, text);
  notices = Buffer.concat(said.notices.map(frameOf));
  frames = said.frames.map(frameOf);
  burst = burstOf(frames);
  perSecond = said.perSecond;
  server.listen(0, "127.0.0.1", () => {
    process.send!((server.address() as AddressInfo).port);
  });
});
process.once("disconnect", () => process.exit());

/** Looks for a close frame. The chunk may hold other short frames before it: a subscription, a ping. */
function saysGoodbye(said: Buffer): boolean {
  for (let at = 0; at + 2 <= said.length;) {
    if (said[at] === goodbye) return true;
    const short = said[at + 1]! & 127;
    const isLong = short === 126;
    const length = isLong ? said.readUInt16BE(at + 2) : short;
    // header and mask
    at += (isLong ? 8 : 6) + length;
  }
  return false;
}

function flood(socket: Socket) {
  if (socket.destroyed) return;
  while (socket.write(burst));
  socket.once("drain", () => flood(socket));
}

/** Sends one frame at a time; a late timer is followed by the missed frames. */
function pace(socket: Socket, perSecond: number) {
  const startMs = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    const due = ((performance.now() - startMs) / 1000) * perSecond;
    for (; sent < due; sent += 1) socket.write(frames[sent % frames.length]!);
  }, 1);
  socket.once("close", () => clearInterval(timer));
}

function burstOf(frames: Buffer[]): Buffer {
  const parts: Buffer[] = [];
  let bytes = 0;
  for (let i = 0; bytes < writeBytes; i += 1) {
    const part = frames[i % frames.length]!;
    parts.push(part);
    bytes += part.length;
  }
  return Buffer.concat(parts);
}

function frame(opcode: number, text: string): Buffer {
  const payload = Buffer.from(text);
  const head =
    payload.length < 126
      ? Buffer.from([opcode, payload.length])
      : Buffer.from([opcode, 126, payload.length >> 8, payload.length & 255]);
  return Buffer.concat([head, payload]);
}

function upgradeOf(request: string): string {
  const key = /sec-websocket-key: (\S+)/i.exec(request)![1]!;
  const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
  return `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`;
}
