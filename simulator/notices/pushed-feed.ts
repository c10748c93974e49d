/** A status feed that a venue pushes over a WebSocket after a subscription (Gate), good and faulty. */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { WebSocketServer, type WebSocket } from "ws";
import { slowness } from "../faulty-answers.js";
import type { ScriptedFault } from "../faults.js";
import { leaveWaiting, refusal } from "../sockets.js";

const server = new WebSocketServer({ noServer: true, clientTracking: false, maxPayload: 4096 });

/** @param content the frames of the present content, which may be false */
export function pushFrames(
  request: IncomingMessage,
  raw: Socket,
  head: Buffer,
  fault: ScriptedFault | undefined,
  content: () => unknown[],
): void {
  // A client that disconnects during the handshake is no problem of the world.
  raw.on("error", () => raw.destroy());
  if (fault?.kind === "timeout") return leaveWaiting(raw);
  if (fault && refusal(raw, fault)) return;
  server.handleUpgrade(request, raw, head, (ws) => {
    ws.on("error", () => ws.terminate());
    ws.once("message", (message: Buffer) => {
      if (asksForAnnouncements(message)) setTimeout(() => push(ws, fault, content), slowness(fault));
      else ws.close(1008);
    });
  });
}

function asksForAnnouncements(message: Buffer): boolean {
  try {
    const { event, payload } = JSON.parse(message.toString()) as { event?: unknown; payload?: unknown };
    return event === "subscribe" && Array.isArray(payload);
  } catch {
    return false;
  }
}

function push(ws: WebSocket, fault: ScriptedFault | undefined, content: () => unknown[]): void {
  if (fault?.kind === "wrong-body") return ws.send("<h1>We will be back soon</h1>");
  if (fault?.kind === "drip") return;
  if (fault?.kind === "endless") return pour(ws);
  for (const frame of content()) ws.send(JSON.stringify(frame));
}

/** Sends as fast as the client reads. */
function pour(ws: WebSocket): void {
  ws.send(JSON.stringify("0".repeat(16_384)), (error) => {
    if (!error) pour(ws);
  });
}
