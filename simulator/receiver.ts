/**
 * Receivers of alerts: real servers on 127.0.0.1 that answer, fail, hang, break off and come too late, as they are
 * told.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { startListener } from "./listener.js";

/** What a receiver does with a request once it has read it. */
export type Reaction =
  /** An answer, perhaps late. */
  { status: number; afterMs?: number; headers?: Record<string, string> } | "hang" | "reset";

export interface ReceivedAlert {
  /** Of the URL: which channel it came for. */
  path: string;
  headers: IncomingMessage["headers"];
  body: Buffer;
  /** When its first byte was here, milliseconds of the wall clock. */
  atMs: number;
  reaction: Reaction;
}

export interface Receiver {
  /** `http://127.0.0.1:port`, or https. */
  origin: string;
  /** In the order in which they came; none where they are not kept. */
  arrivals: ReceivedAlert[];
  close: () => Promise<void>;
}

export interface ReceiverOptions {
  react?: (arrival: Omit<ReceivedAlert, "reaction">) => Reaction;
  tls?: { key: string; cert: string };
  port?: number;
  /** False: nothing of what came is kept, as it would be for days. */
  keep?: boolean;
}

export async function startReceiver({
  react = () => ({ status: 200 }),
  tls,
  port = 0,
  keep = true,
}: ReceiverOptions = {}): Promise<Receiver> {
  const arrivals: ReceivedAlert[] = [];
  const answer = (request: IncomingMessage, response: ServerResponse) => void receive(request, response);
  const server = tls ? createTlsServer(tls, answer) : createServer(answer);
  const listener = await startListener(server, port);

  async function receive(request: IncomingMessage, response: ServerResponse) {
    const atMs = performance.timeOrigin + performance.now();
    const body = await wholeBody(request);
    // whoever was killed in the middle of sending has sent nothing
    if (body === null) return;
    const { url: path = "", headers } = request;
    const came = { path, headers, body, atMs };
    const reaction = react(came);
    if (keep) arrivals.push({ ...came, reaction });
    if (reaction === "hang") return;
    if (reaction === "reset") return void request.socket.resetAndDestroy();
    setTimeout(() => {
      response.writeHead(reaction.status, reaction.headers).end("heard");
    }, reaction.afterMs ?? 0);
  }

  return {
    origin: `${tls ? "https" : "http"}://127.0.0.1:${listener.port}`,
    arrivals,
    close: () => listener.close(),
  };
}

async function wholeBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    return null;
  }
  return Buffer.concat(chunks);
}
