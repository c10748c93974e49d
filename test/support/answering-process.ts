/**
 * Gives good answers over HTTP and WebSocket in a separate process: `node answering-process.js PORT AFTER_MS ADDRESS…`.
 * Prints its ports first, as JSON.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocketServer } from "ws";

const [port, afterMs, ...addresses] = process.argv.slice(2);
const trade = JSON.stringify({ arg: { channel: "trades" }, data: [{}] });

const ports = await Promise.all(
  addresses.map(async (address) => {
    const server = createServer((_request, response) => {
      setTimeout(() => response.end('{"price":1}'), Number(afterMs));
    });
    new WebSocketServer({ server }).on("connection", (ws) => {
      ws.on("error", () => {});
      const timer = setInterval(() => ws.send(trade), 200);
      ws.once("close", () => clearInterval(timer));
    });
    server.listen(Number(port), address);
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  }),
);
console.log(JSON.stringify(ports));
