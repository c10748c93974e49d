/** One venue's WebSocket side: upgrades, faults of connections, and the open sessions. */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { type RawData, type WebSocket, WebSocketServer } from "ws";
import type { Client, FaultKind, ScriptedFault } from "./faults.js";
import { worldPath } from "./loopback-registry.js";
import type { Conversation, FrameMaker, Timer, VenueSession } from "./player.js";
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

// One client's socket at one venue: control frames, data at the registry's rate, and deadlines on the venue's clock.

const compressors = { gzip: gzipSync, deflate: deflateSync, "deflate-raw": deflateRawSync };

/** A client that does not read receives nothing more until it does. */
const maxBufferedBytes = 1_048_576;

/**
 * Runs the venue's player with the client until the socket ends.
 *
 * @returns says a frame that the player does not know of
 */
function playVenue(stage: Stage, ws: WebSocket, client: Client): (frame: unknown) => void {
  const { region } = client;
  const { market, timeScale, venue, player } = stage;
  const rules = player.socket;
  const compression = venue.socket?.compression;
  if (!rules) throw new Error(`the world has no socket player for ${venue.id}`);
  const { after, every, later, stop } = makeVenueTimers(timeScale);
  const pushListeners: (() => void)[] = [];
  const playing = new Set<string>();
  const ageMs = stage.latencyMs(region);
  const session: VenueSession = {
    ws,
    tick: () => market.tick(ageMs),
    say: (frame) => send(JSON.stringify(frame), rules.binary ?? compression !== undefined),
    sayText: (text) => send(text, false),
    ping: () => isDead() || ws.ping(),
    play,
    onPush: (listener) => pushListeners.push(listener),
    after,
    every,
    drop,
    note: (missed) => stage.violated(missed, region, false),
  };
  ws.on("ping", (payload) => isDead() || ws.pong(payload));
  ws.on("error", onError);
  ws.on("close", stop);
  limitLifetime();
  const conversation = rules.converse(session);
  ws.on("message", (data) => receive(conversation, textOf(data)));
  return (frame) => session.say(frame);

  function receive(conversation: Conversation, frame: string) {
    try {
      if (frame.startsWith("{") || frame.startsWith("[")) conversation.message(JSON.parse(frame));
      else if (conversation.text) conversation.text(frame);
      else throw new Error("expected JSON");
    } catch (error) {
      const { message } = error as Error;
      session.note(`sent a frame that the venue does not understand, ${frame}: ${message}`);
    }
  }

  function play(name: string, data: FrameMaker, first?: FrameMaker) {
    if (playing.has(name)) return;
    playing.add(name);
    stage.count(`ws:${name}`, region);
    let place = session.tick().id;
    if (first) push(name, first, place);
    const gapMs = gapOf(name, stage);
    next();

    function next() {
      return later(gapMs * (0.5 + Math.random()), () => {
        place += 1;
        push(name, data, place);
        next();
      });
    }
  }

  function push(name: string, make: FrameMaker, place: number) {
    const silencing: FaultKind[] = venue.chain === null ? ["silent"] : ["silent", "chain-stands"];
    if (stage.faultOf(`ws:${name}`, client, silencing)) return;
    if (ws.bufferedAmount > maxBufferedBytes) return;
    const isLost = place % 2 === 0;
    if (isLost && stage.faultOf(`ws:${name}`, client, ["lost-frames"])) return;
    const frozen = stage.faultOf(`ws:${name}`, client, ["frozen"]);
    const tick = stage.freeze(frozen, stage.now(), () => session.tick());
    session.say(make({ ...tick, place }));
    for (const listener of pushListeners) listener();
  }

  function send(text: string, binary: boolean) {
    if (ws.readyState !== ws.OPEN || isDead()) return;
    ws.send(!binary ? text : compression ? compressors[compression](text) : Buffer.from(text), { binary });
  }

  function isDead() {
    return stage.faultOf("ws:conn", client, ["dead-socket"]) !== undefined;
  }

  function drop(missed: string, code: number | null, reason?: string) {
    // The client is not to blame for what it missed while this side was dead.
    if (isDead()) return;
    stage.violated(missed, region, true);
    if (code === null) ws.terminate();
    else ws.close(code, reason);
    stop();
  }

  function onError(error: Error & { code?: string }) {
    if (error.code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH")
      stage.violated("sent a frame that is too long", region, true);
  }

  function limitLifetime() {
    const lifetimeMs = venue.socket?.maxConnectionMs;
    if (lifetimeMs) after(lifetimeMs, () => drop(`a connection older than ${lifetimeMs} ms`, 1000));
  }
}

/**
 * Mean gap between two frames of a stream. However low the cap, the gap stays well below the silence that would count
 * as a stall or a dead connection.
 */
function gapOf(name: string, { venue, messagesPerMinuteCap }: Stage): number {
  const stream = venue.socket?.streams.find((one) => one.name === name);
  if (!stream) return 1000;
  return Math.min(
    60_000 / Math.min(stream.typicalPerMinute, messagesPerMinuteCap),
    stream.stall.afterMs / 4,
    (venue.socket?.keepAlive.deadAfterMs ?? Infinity) / 4,
  );
}

function textOf(data: RawData): string {
  return (data as Buffer).toString("utf8");
}

// Timers of one client's socket, which end with it. All times are milliseconds of the venue.

/**
 * The longest time that setTimeout accepts. The world ignores rules of a venue that would apply later than in 24 days.
 */
const longestTimerMs = 2 ** 31 - 1;

export interface VenueTimers {
  /** Runs it when the frames that have arrived by then have been read, so that it can judge the client. */
  after: (ms: number, run: () => void) => Timer;
  every: (ms: number, run: () => void) => void;
  /** Runs it at its time, for what this side sends. */
  later: (ms: number, run: () => void) => NodeJS.Timeout;
  stop: () => void;
}

function makeVenueTimers(timeScale: number): VenueTimers {
  const timers = new Set<NodeJS.Timeout>();
  let isStopped = false;
  return { after, every, later, stop };

  function after(ms: number, run: () => void): Timer {
    let judging: NodeJS.Immediate | undefined;
    // read what has arrived by now first: this machine may have been busy, rather than the client late
    const timer = later(ms, () => {
      judging = setImmediate(() => {
        if (!isStopped) run();
      });
    });
    return { refresh, cancel };

    function refresh() {
      clearImmediate(judging);
      timers.add(timer);
      timer.refresh();
    }

    function cancel() {
      clearImmediate(judging);
      clearTimeout(timer);
      timers.delete(timer);
    }
  }

  function every(ms: number, run: () => void) {
    timers.add(setInterval(run, ms / timeScale));
  }

  function later(ms: number, run: () => void) {
    const timer = setTimeout(
      () => {
        timers.delete(timer);
        run();
      },
      Math.min(ms / timeScale, longestTimerMs),
    );
    timers.add(timer);
    return timer;
  }

  function stop() {
    isStopped = true;
    for (const timer of timers) clearTimeout(timer);
    timers.clear();
  }
}
