/** Reads `/v1/events` as a client does. */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { until } from "./until.js";

export interface ReceivedEvent {
  id: number;
  event: string;
  data: Record<string, unknown>;
}

export interface Listener {
  response: IncomingMessage;
  /** All so far. */
  events: ReceivedEvent[];
  /** The id with which it would resume; null before the first. */
  lastId: () => number | null;
  /** Resolves when this many events have come. */
  until: (count: number) => Promise<void>;
  /** Resolves when the server has ended the stream, or cut it off. */
  ended: Promise<void>;
  leave: () => void;
}

/** Connects, and resolves with the first bytes of the answer. */
export async function listenTo(port: number, path: string, lastEventId?: number | string): Promise<Listener> {
  const headers = { ...(lastEventId !== undefined && { "last-event-id": String(lastEventId) }) };
  const asked = request({ host: "127.0.0.1", port, path, agent: false, headers });
  asked.on("error", () => {}).end();
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  const events: ReceivedEvent[] = [];
  let lastId: number | null = null;
  let text = "";
  response.setEncoding("utf8");
  response.on("error", () => {});
  response.on("data", (piece: string) => {
    text += piece;
    const blocks = text.split("\n\n");
    text = blocks.pop()!;
    for (const block of blocks) {
      const fields = new Map(
        block.split("\n").map((line) => /^(\w*): ?(.*)$/.exec(line)!.slice(1) as [string, string]),
      );
      const id = fields.get("id");
      if (id !== undefined) lastId = Number(id);
      const data = fields.get("data");
      if (data === undefined) continue;
      events.push({ id: lastId!, event: fields.get("event")!, data: JSON.parse(data) as Record<string, unknown> });
    }
  });
  return {
    response,
    events,
    lastId: () => lastId,
    until: (count) => until(() => events.length >= count),
    // not `once` of node:events, which an error would reject
    ended: new Promise((resolve) => response.once("close", resolve)),
    leave: () => response.destroy(),
  };
}
