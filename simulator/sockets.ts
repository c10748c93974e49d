/** One venue's WebSocket side: upgrades, faults of connections, and the open sessions. */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { WebSocketServer, type WebSocket } from "ws";
import type { Client, ScriptedFault } from "./faults.js";
import { worldPath } from "./loopback.js";
import { playVenue } from "./session.js";
import { clientOf, type Stage } from "./stage.js";
import { recantedBy, saidBy } from "./venue-words.js";

export interface Sockets {
  onUpgrade: (request: IncomingMessage, socket: Socket, head: Buffer) => void;
  /** Applies faults that have begun since to the open sockets. */
  faultsChanged(): void;
  /** @param region undefined: all regions */
  open(region?: string | null): number;
}

/** An open socket. */
interface Live extends Client {
  raw: Socket;
  say: (frame: unknown) => void;
  /** The fault that has been said on it. */
  said: ScriptedFault | undefined;
}

export function serveSockets(stage: Stage): Sockets {
  const { venue, player } = stage;
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    // The session answers pings itself, because a dead socket sends no pong.
    autoPong: false,
    maxPayload: player.socket?.maxClientFrameBytes ?? 65_536,
  });
  const live = new Map<WebSocket, Live>();
  return { onUpgrade, faultsChanged, open };

  function onUpgrade(request: IncomingMessage, raw: Socket, head: Buffer) {
    // A client that disconnects during the handshake is no problem of the world.
    raw.on("error", () => raw.destroy());
    if (!isSocketPath(request.url)) return refuse(raw, 404);
    const client = clientOf(request);
    const { region } = client;
    stage.count("ws:conn", region);
    const fault = stage.faultOf("ws:conn", client);
    if (fault?.kind === "timeout") return leaveWaiting(raw);
    const waitMs = stage.latencyMs(region) + (fault?.kind === "slow" ? (fault.latencyMs ?? 3000) : 0);
    if (waitMs === 0) return decide();
    const timer = setTimeout(decide, waitMs);
    raw.once("close", () => clearTimeout(timer));

    function decide() {
      if (fault && refusal(raw, fault)) return;
      server.handleUpgrade(request, raw, head, (ws) => opened(ws, raw, client));
    }
  }

  function opened(ws: WebSocket, raw: Socket, client: Client) {
    const one: Live = { ...client, raw, say: playVenue(stage, ws, client), said: undefined };
    live.set(ws, one);
    ws.once("close", () => live.delete(ws));
    befall(ws, one);
  }

  function faultsChanged() {
    for (const [ws, one] of live) befall(ws, one);
  }

  function befall(ws: WebSocket, one: Live) {
    const { raw } = one;
    speak(one);
    const fault = stage.faultOf("ws:conn", one, ["socket-closed", "reset", "dead-socket"]);
    if (fault?.kind === "socket-closed") ws.close(fault.closeCode ?? 1012);
    else if (fault?.kind === "reset") raw.resetAndDestroy();
    // A paused socket does not even answer a closing handshake.
    else if (fault) ws.pause();
    else if (ws.isPaused) ws.resume();
  }

  function speak(one: Live) {
    const speaker = venue.socket ?? {};
    const fault = stage.faultOf("ws:conn", one, ["blocked-inside", "limited-inside", "halted"]);
    if (fault === one.said) return;
    const said = fault ? saidBy(speaker, fault) : one.said?.kind === "halted" && recantedBy(speaker, one.said.kind);
    one.said = fault;
    if (said) one.say(said);
  }

  function open(region?: string | null) {
    return [...live.values()].filter((one) => region === undefined || one.region === region).length;
  }

  function isSocketPath(path: string | undefined): boolean {
    const { url, alternatives = [], streams } = venue.socket ?? { streams: [] };
    const urls = [url, ...alternatives, ...streams.map((stream) => stream.url)];
    return urls.some((url) => url !== undefined && worldPath(url) === path);
  }
}

export function leaveWaiting(raw: Socket): void {
  // A paused socket would not notice that the client has gone.
  raw.resume();
  raw.once("end", () => raw.destroy());
}

/** Returns true when the fault has answered the upgrade. */
export function refusal(raw: Socket, fault: ScriptedFault): boolean {
  if (fault.kind === "reset") raw.resetAndDestroy();
  else if (fault.kind === "status" || fault.kind === "handshake-refused")
    refuse(raw, fault.status ?? 503, location(fault));
  else if (fault.kind === "limited") refuse(raw, 429, `Retry-After: ${Math.ceil(fault.retryAfterS ?? 30)}\r\n`);
  else return false;
  return true;
}

function location({ location }: ScriptedFault): string {
  return location ? `Location: ${location}\r\n` : "";
}

function refuse(raw: Socket, status: number, header = ""): void {
  raw.end(`HTTP/1.1 ${status} Refused\r\n${header}Connection: close\r\nContent-Length: 0\r\n\r\n`);
}
