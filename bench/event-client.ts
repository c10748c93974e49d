/**
 * Opens that many event streams of a port, and reports when all have begun. Once each has received that many changes,
 * it reports when they arrived.
 */
import { connect, type Socket } from "node:net";
import type { Arrivals } from "./events.js";

const [port = 0, streams = 0, changes = 0] = process.argv.slice(2).map(Number);
/** Beyond this many at a time, the server's queue of new connections overflows. */
const atOnce = 100;
const arrivals: Arrivals = [];

for (let opened = 0; opened < streams; opened += atOnce)
  await Promise.all(Array.from({ length: Math.min(atOnce, streams - opened) }, open));
process.send!({ port: 0 });

function open(): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.write("GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    });
    socket.on("error", reject);
    socket.setEncoding("utf8");
    socket.on("data", (text: string) => {
      if (text.includes("event: start")) resolve(socket);
      const atMs = performance.timeOrigin + performance.now();
      for (const [, id] of text.matchAll(/id: (\d+)\nevent: venue/g)) arrivals.push([Number(id), atMs]);
      if (changes > 0 && arrivals.length === changes * streams) process.send!(arrivals);
    });
  });
}
