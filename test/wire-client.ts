/** A client that sends bytes as a test wants them, whole or in pieces, and collects what comes back. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";

export interface WireClient {
  socket: Socket;
  send(bytes: Uint8Array): void;
  /** Waits until a message of this type has come and answers everything since the last call, as type and body. */
  until(type: string): Promise<{ type: string; body: Buffer }[]>;
}

export async function connectWire(
  port: number,
  parameters: Record<string, string> = { user: "postgres" },
): Promise<WireClient> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  const client = clientOn(socket);
  client.send(startupPacket(parameters));
  return client;
}

function clientOn(socket: Socket): WireClient {
  let received = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    socket.emit("more");
  });
  socket.on("error", () => socket.emit("more"));
  socket.on("close", () => socket.emit("more"));
  return {
    socket,
    send: (bytes) => void socket.write(bytes),
    async until(type) {
      const messages = [];
      for (;;) {
        while (received.length >= 5) {
          const end = 1 + received.readInt32BE(1);
          if (received.length < end) break;
          const kind = String.fromCharCode(received[0]!);
          messages.push({ type: kind, body: received.subarray(5, end) });
          received = received.subarray(end);
          if (kind === type) return messages;
        }
        if (socket.closed) throw new Error(`closed before a message ${type}`);
        await once(socket, "more");
      }
    },
  };
}

function startupPacket(parameters: Record<string, string>): Buffer {
  const words = Object.entries(parameters).flat();
  const body = Buffer.from(words.map((word) => `${word}\0`).join("") + "\0");
  const head = Buffer.alloc(8);
  head.writeInt32BE(body.length + 8, 0);
  head.writeInt32BE(3 << 16, 4);
  return Buffer.concat([head, body]);
}

/** Bind, Describe, Execute and Close of a portal over the unnamed statement, without parameters. */
export function bind(portal: string): Buffer {
  return packet("B", `${portal}\0\0\0\0\0\0\0\0`);
}

export function execute(portal: string, rows: number): Buffer {
  const limit = Buffer.alloc(4);
  limit.writeInt32BE(rows);
  return packet("E", `${portal}\0${limit.toString("latin1")}`);
}

export function closePortal(portal: string): Buffer {
  return packet("C", `P${portal}\0`);
}

export function flush(): Buffer {
  return packet("H", "");
}

function packet(type: string, body: string): Buffer {
  const bytes = Buffer.from(`${type}\0\0\0\0${body}`, "latin1");
  bytes.writeInt32BE(body.length + 4, 1);
  return bytes;
}
