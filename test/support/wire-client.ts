/** A client that sends the bytes that a test wants, whole or in pieces, and collects the answers. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { finalMessage } from "./scram-client.js";

export interface WireClient {
  socket: Socket;
  send(bytes: Uint8Array): void;
  /** Waits for a message of this type, and returns all messages since the last call, as type and body. */
  until(type: string): Promise<{ type: string; body: Buffer }[]>;
}

/** Logs in with the address's user and password when the server asks, unless it is silent. */
export async function connectWire(
  address: string,
  isSilent = false,
  settings: Record<string, string> = {},
): Promise<WireClient> {
  const { port, username, password } = new URL(address);
  const socket = connect(Number(port), "127.0.0.1");
  await once(socket, "connect");
  const client = clientOn(socket, isSilent ? () => [] : makeLogin(password));
  client.send(startupPacket({ user: username, ...settings }));
  return client;
}

type Login = (chunk: Buffer) => Buffer[];

function clientOn(socket: Socket, login: Login): WireClient {
  let received = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    for (const answer of login(chunk)) socket.write(answer);
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

/** The client's side of SCRAM-SHA-256: answers the server's messages. */
function makeLogin(password: string): Login {
  const bare = "n=,r=nonce";
  let pending = Buffer.alloc(0);
  return (chunk) => {
    pending = Buffer.concat([pending, chunk]);
    const answers: Buffer[] = [];
    while (pending.length >= 5) {
      const end = 1 + pending.readInt32BE(1);
      if (pending.length < end) break;
      const [type, body] = [pending[0], pending.subarray(5, end)];
      pending = pending.subarray(end);
      if (type !== "R".charCodeAt(0)) continue;
      if (body.readInt32BE() === 10) answers.push(saslInitial(`n,,${bare}`));
      if (body.readInt32BE() === 11)
        answers.push(packet("p", finalMessage(password, bare, body.toString("latin1", 4))));
    }
    return answers;
  };
}

function saslInitial(data: string): Buffer {
  return packet("p", `SCRAM-SHA-256\0${int32(data.length)}${data}`);
}

function startupPacket(parameters: Record<string, string>): Buffer {
  const words = Object.entries(parameters).flat();
  const body = Buffer.from(words.map((word) => `${word}\0`).join("") + "\0");
  return Buffer.concat([Buffer.from(int32(body.length + 8) + int32(3 << 16), "latin1"), body]);
}

/** Bind, Describe, Execute and Close of a portal over the unnamed statement, without parameters. */
export function bind(portal: string): Buffer {
  return packet("B", `${portal}\0\0\0\0\0\0\0\0`);
}

export function execute(portal: string, rows: number): Buffer {
  return packet("E", `${portal}\0${int32(rows)}`);
}

export function closePortal(portal: string): Buffer {
  return packet("C", `P${portal}\0`);
}

export function flush(): Buffer {
  return packet("H", "");
}

export function packet(type: string, body: string): Buffer {
  return Buffer.from(`${type}${int32(body.length + 4)}${body}`, "latin1");
}

function int32(value: number): string {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes.toString("latin1");
}
