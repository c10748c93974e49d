/** Bare TCP servers, for behaviour that no HTTP server has. */
import { once } from "node:events";
import net, { type AddressInfo } from "node:net";
import tls, { type TlsOptions } from "node:tls";
import type { Test } from "tap";

/** Ends with the test, including its connections. Returns the port on 127.0.0.1. */
export async function serveTcp(t: Test, talk: (socket: net.Socket) => void): Promise<number> {
  return listening(t, net.createServer(), "connection", talk);
}

/** @param talk is not called where the handshake fails */
export async function serveTls(t: Test, options: TlsOptions, talk: (socket: tls.TLSSocket) => void): Promise<number> {
  const server = tls.createServer(options);
  server.on("tlsClientError", () => {});
  return listening(t, server, "secureConnection", talk);
}

async function listening<S extends net.Socket>(
  t: Test,
  server: net.Server,
  event: string,
  talk: (socket: S) => void,
): Promise<number> {
  const sockets = new Set<net.Socket>();
  server.on("connection", (socket: net.Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => {});
  });
  server.on(event, (socket: S) => {
    socket.on("error", () => {});
    talk(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Answers every request with these bytes. */
export const saying = (answer: string | Buffer) => (socket: net.Socket) =>
  socket.on("data", () => socket.write(answer));
