/**
 * One venue's door on 127.0.0.1. It can be shut, so that connecting is really refused, and opened on the same port
 * again.
 */
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

export interface Listener {
  port: number;
  /** Takes effect at once when shutting; resolves when the door is as wanted. */
  setOpen(open: boolean): Promise<void>;
  close(): Promise<void>;
}

/** @param port 0: any that is free */
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
   * While the door was shut, another socket of this machine may have been given its port: then wait until that is gone.
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
