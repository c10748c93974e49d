import { once } from "node:events";
import { createServer } from "node:net";

/**
 * A port that a program may be told to listen on, and to take again when it is restarted. It lies below the range that
 * systems hand out to clients (32768 on Linux), so that none of them is given it in the meantime.
 */
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
