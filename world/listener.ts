/**
 * One venue's listener on 127.0.0.1. It can be closed, so that connections are really refused, and reopened on the same
 * port.
 */
import { once } from "node:events";
import type { Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

export interface Listener {
  port: number;
  /** Closing takes effect at once. Resolves when the listener is in the wanted state. */
  setOpen(open: boolean): Promise<void>;
  close(): Promise<void>;
}

/** @param port 0: any free port */
export async function startListener(server: Server, port: number): Promise<Listener> {
  const sockets = new Set<Socket>();
  server.on("connection", remember);
  await listen(port);
  port = (server.address() as AddressInfo).port;
  let wantedOpen = true;
  let opening: Promise<void> | null = null;
  return { port, setOpen, close };

  function remember(socket: Socket) {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  }

  async function listen(at: number) {
    server.listen(at, "127.0.0.1");
    await once(server, "listening");
  }

  async function setOpen(open: boolean) {
    wantedOpen = open;
    if (!open) return shut();
    opening ??= reopen().finally(() => (opening = null));
    await opening;
  }

  /**
   * While the listener was closed, the system may have given its port to another socket of this machine. This waits
   * until the port is free again.
   */
  async function reopen() {
    while (wantedOpen && !server.listening) {
      try {
        await listen(port);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
        await delay(100);
      }
    }
    if (!wantedOpen) shut();
  }

  function shut() {
    if (server.listening) server.close();
    for (const socket of sockets) socket.destroy();
  }

  async function close() {
    await setOpen(false);
    await opening;
  }
}

// Sends complete answers of the world's servers.

export function sendJson(response: ServerResponse, status: number, body: unknown) {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
  });
  response.end(text);
}

export function sendHtml(response: ServerResponse, status: number, text: string) {
  response.writeHead(status, { "content-type": "text/html" });
  response.end(`<!doctype html><title>venue</title>${text}`);
}
