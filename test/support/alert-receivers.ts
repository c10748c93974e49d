/** Receivers of alerts on this machine, and posters that reach them. */
import { once } from "node:events";
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import https from "node:https";
import type { AddressInfo, Server, Socket } from "node:net";
import type { Test } from "tap";
import type { WebhookRequest } from "../../server/core/alerts/formats/webhook-request.js";
import { makePoster, type Poster, type PosterOptions } from "../../server/core/alerts/post.js";
import type { DeliveryOutcome } from "../../server/core/alerts/retry-rules.js";
import { makeAuthority, type Identity } from "./certificates.js";
import { serveTcp } from "./tcp-server.js";

export const authority = makeAuthority();
export const hostName = "hooks.test";
export const identity = authority.vouchFor({ names: [hostName, "other.test"] });

/** Must never appear in any output. */
export const secret = "KS3CR3TK";

/** All test names resolve to this machine. */
const here = () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]);

export function posterFor(t: Test, more: Partial<PosterOptions> = {}): Poster {
  const poster = makePoster({ allowLoopback: true, ca: authority.cert, lookup: here, ...more });
  t.teardown(() => poster.close());
  return poster;
}

export function requestTo(url: string, text = `{"key":"${secret}"}`): WebhookRequest {
  return {
    url: new URL(url),
    headers: { "content-type": "application/json", "x-signature": secret },
    body: Buffer.from(text),
  };
}

/** Posts to a secret path, and checks that the outcome does not reveal it. */
export async function post(t: Test, poster: Poster, origin: string): Promise<DeliveryOutcome> {
  const outcome = await poster.post(requestTo(`${origin}/hook/${secret}?token=${secret}`));
  t.notMatch(JSON.stringify(outcome), secret, "the outcome reveals no secret");
  t.notMatch(outcome.error ?? "", /[\r\n]/, "an error is one line");
  t.equal(outcome.error === null, outcome.result === "delivered");
  return outcome;
}

export async function listening(t: Test, server: Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return String((server.address() as AddressInfo).port);
}

export type Respond = (request: IncomingMessage, response: ServerResponse) => void;

/** @returns the server's origin */
export async function serve(t: Test, respond: Respond): Promise<string> {
  return `http://127.0.0.1:${await listening(t, http.createServer(respond))}`;
}

export async function serveSecurely(t: Test, respond: Respond, as: Identity = identity): Promise<string> {
  return `https://${hostName}:${await listening(t, https.createServer(as, respond))}`;
}

/** A TCP server without HTTP. */
export async function serveRaw(t: Test, onSocket: (socket: Socket) => void) {
  return `http://127.0.0.1:${await serveTcp(t, onSocket)}`;
}

export const good = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

export async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) body += chunk as string;
  return body;
}
