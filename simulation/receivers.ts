/** The receivers of a channel's alerts, which react as instructed. */
import { createServer } from "node:http";
import type { Ledger } from "./ledger.js";
import type { Machine, VirtualTime } from "./virtual-time.js";

export type Reaction = "accept" | "refuse" | "hang" | "reset";

/** Which alerts a channel gets. */
export interface ChannelFilter {
  floor: "degraded" | "outage";
  /** Null: of all venues. */
  venues: readonly string[] | null;
}

export interface Channel extends ChannelFilter {
  name: string;
  /** How the receivers react to the next alerts. */
  react: (reaction: Reaction) => void;
}

/**
 * A receiver listens on the loopback address of each machine of a core, because alerts over plain HTTP are sent to no
 * other address.
 */
export function startReceivers(
  { name, filter, port }: { name: string; filter: ChannelFilter; port: number },
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
          const content = Buffer.concat(chunks).toString();
          const { eventId } = JSON.parse(content) as { eventId: number };
          ledger.arrivals.push({
            channel: name,
            eventId,
            content,
            isAccepted: reaction === "accept",
            atMs: time.nowMs(),
          });
          if (reaction === "hang") return;
          if (reaction === "reset") return void request.socket.destroy();
          response.writeHead(reaction === "accept" ? 200 : 500).end("noted");
        });
        request.on("error", () => {});
      });
      server.listen(port, "127.0.0.1");
    });
  return { name, ...filter, react: (given) => (reaction = given) };
}
