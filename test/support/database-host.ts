/**
 * Finds the host of the tests' embedded databases: one process for a whole run of tests, or one for a file that is run
 * alone.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { packagedFile } from "../../shared/config/package.js";

/** The variable by which a run passes its host's port to its tests. */
export const hostVariable = "TEST_DATABASE_HOST";

let port: Promise<string> | undefined;

/** Opens the database in a directory, which may be empty, until the caller stops it. */
export async function hostEmbedded(directory: string) {
  port ??= Promise.resolve(process.env[hostVariable] ?? startHost());
  const socket = connect(Number(await port), "127.0.0.1");
  const closed = once(socket, "close");
  const line = once(createInterface(socket), "line") as Promise<[string]>;
  socket.write(`${directory}\n`);
  const first = await Promise.race([line, closed]);
  if (typeof first[0] !== "string") throw new Error("the embedded database did not start; its message is above");
  return {
    url: first[0],
    stop: async () => {
      socket.end();
      await closed;
    },
  };
}

/** Starts a host that ends with this process and does not keep it running. Resolves with its port. */
export async function startHost(): Promise<string> {
  const host = spawn(process.execPath, [packagedFile("dist/test/support/database-host-process.js")], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const line = once(createInterface(host.stdout), "line") as Promise<[string]>;
  const first = await Promise.race([line, once(host, "exit")]);
  if (typeof first[0] !== "string") throw new Error("the host of databases did not start; its message is above");
  host.unref();
  for (const pipe of [host.stdin, host.stdout]) (pipe as Socket).unref();
  return first[0];
}
