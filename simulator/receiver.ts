/**
 * Receivers of alerts: real servers on 127.0.0.1 that answer, fail, hang, disconnect or answer too late, as instructed.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { startListener } from "./listener.js";

/** How a receiver reacts to a request after reading it. */
export type Reaction =
  /** An answer, with or without delay. */
  { status: number; afterMs?: number; headers?: Record<string, string> } | "hang" | "reset";

export interface ReceivedAlert {
  /** The URL's path, which says for which channel the alert came. */
  path: string;
  headers: IncomingMessage["headers"];
  body: Buffer;
  /** When its first byte arrived, milliseconds of the wall clock. */
  atMs: number;
  reaction: Reaction;
}

export interface Receiver {
  /** `http://127.0.0.1:port`, or https. */
  origin: string;
  /** The alerts in order of arrival; empty where `keep` is false. */
  arrivals: ReceivedAlert[];
  close: () => Promise<void>;
}

export interface ReceiverOptions {
  react?: (arrival: Omit<ReceivedAlert, "reaction">) => Reaction;
  tls?: { key: string; cert: string };
  port?: number;
  /** False: store no arrivals, since a receiver that runs for days would store too many. */
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
    // a sender that was killed in mid-request has sent nothing
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
