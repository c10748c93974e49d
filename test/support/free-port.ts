import { once } from "node:events";
import { createServer } from "node:net";

/** Returns a port that a program can listen on, also after a restart: below those that systems give to clients. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 22_000 + Math.floor(Math.random() * 10_000);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  server.listen(port);
  try {
    await once(server, "listening");
  } catch {
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
}
