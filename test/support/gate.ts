/** A gate between a program and its database, by which tests simulate failures of networks and servers. */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import type { Test } from "tap";

export interface Gate {
  /** The database's address through the gate. */
  url: string;
  /** Cuts connections and refuses new ones. */
  shut: () => Promise<void>;
  /** New connections are refused. */
  refuse: () => void;
  /** Lets nothing through, without a signal to either side. */
  mute: () => void;
  /** Delays everything by that much. */
  slow: (delayMs: number) => void;
  /** Cuts the connection on which the next statement is sent. */
  cutAtNextStatement: () => void;
  open: () => Promise<void>;
}

/** @param databaseUrl if a function, it is called at each connection */
export async function makeGate(t: Test, databaseUrl: string | (() => string)): Promise<Gate> {
  const behind = () => new URL(typeof databaseUrl === "string" ? databaseUrl : databaseUrl());
  const sockets = new Set<Socket>();
  let mode: "open" | "mute" | "cut" = "open";
  let delayMs = 0;
  let port = 0;

  const server = createServer((client) => {
    const database = connect(Number(behind().port || 5432), behind().hostname);
    forward(client, database);
    forward(database, client);
  });

  function forward(from: Socket, to: Socket): void {
    sockets.add(from);
    from.on("data", (data) => {
      if (mode === "cut") cut();
      else if (mode === "open" && delayMs > 0) setTimeout(() => to.write(data), delayMs);
      else if (mode === "open") to.write(data);
    });
    from.on("error", () => {});
    from.on("close", () => {
      sockets.delete(from);
      to.destroy();
    });
  }

  function cut(): void {
    for (const socket of sockets) socket.destroy();
    mode = "open";
  }

  const listen = () => once(server.listen(port, "127.0.0.1"), "listening");
  const close = () =>
    new Promise<void>((resolve) => {
      cut();
      if (!server.listening) return resolve();
      server.close(() => resolve());
    });

  await listen();
  port = (server.address() as AddressInfo).port;
  t.teardown(close);
  const url = behind();
  url.hostname = "127.0.0.1";
  url.port = String(port);
  return {
    url: url.href,
    shut: close,
    refuse: () => void server.close(),
    mute: () => (mode = "mute"),
    cutAtNextStatement: () => (mode = "cut"),
    slow: (ms) => (delayMs = ms),
    async open() {
      delayMs = 0;
      // data lost meanwhile stays lost
      if (mode === "mute") cut();
      if (!server.listening) await listen();
    },
  };
}
