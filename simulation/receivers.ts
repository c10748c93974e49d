/** The receivers of a channel's alerts, which react as instructed. */
import { createServer } from "node:http";
import type { Ledger } from "./ledger.js";
import type { Machine, VirtualTime } from "./virtual-time.js";

export type Reaction = "accept" | "refuse" | "hang" | "reset";

export interface Channel {
  name: string;
  /** How the receivers react to the next alerts. */
  react: (reaction: Reaction) => void;
}

/**
 * A receiver listens on the loopback address of each machine of a core, because alerts over plain HTTP are sent to no
 * other address.
 */
export function startReceivers(
  name: string,
  port: number,
  machines: readonly Machine[],
  time: VirtualTime,
  ledger: Ledger,
): Channel {
  let reaction: Reaction = "accept";
  for (const machine of machines)
    time.startProcess(`${name} at ${machine.name}`, machine).run(() => {
      const server = createServer((request, response) => {
        const chunks: Buffer[] = [];
        request.on("data", (chunk: Buffer) => chunks.push(chunk));
        request.on("end", () => {
          if (reaction === "hang") return;
          if (reaction === "reset") return void request.socket.destroy();
          if (reaction === "accept") noteArrival(name, Buffer.concat(chunks).toString(), time.nowMs(), ledger);
          response.writeHead(reaction === "accept" ? 200 : 500).end("noted");
        });
        request.on("error", () => {});
      });
      server.listen(port, "127.0.0.1");
    });
  return { name, react: (given) => (reaction = given) };
}

function noteArrival(channel: string, body: string, atMs: number, ledger: Ledger): void {
  const alert = JSON.parse(body) as { eventId: number };
  ledger.arrivals.push({ channel, eventId: alert.eventId, content: body, atMs });
}
