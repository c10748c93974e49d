/** How one venue is played: the interface of the files in venues/. */
import type { WebSocket } from "ws";
import type { Tick } from "./market.js";

export interface VenuePlayer {
  /**
   * Bodies of good answers, by endpoint name. The answer of an endpoint without an entry is built from its proof path.
   */
  rest: Record<string, (tick: Tick) => unknown>;
  /** The venue's error body under HTTP 200. */
  errorInside: unknown;
  socket?: SocketRules;
}

export interface SocketRules {
  /** The venue sends JSON in binary frames (KuCoin). */
  binary?: boolean;
  /** A longer frame from the client closes the socket with 1009. Default 65,536. */
  maxClientFrameBytes?: number;
  /** Begins the exchange with a client that has just connected: welcome, pings, deadlines. */
  converse(session: VenueSession): Conversation;
}

export interface Conversation {
  /**
   * Handles a client frame that holds JSON. If it throws, the frame counts as one that the venue does not understand.
   */
  message(message: unknown): void;
  /** Handles a client frame that holds no JSON. Absent: the venue does not understand such frames. */
  text?(text: string): void;
}

/** One client's socket. All times are milliseconds of the venue: the world divides them by its time scale. */
export interface VenueSession {
  readonly ws: WebSocket;
  tick(): Tick;
  /** Sends a control frame: a welcome, an acknowledgement, a heartbeat. */
  say(frame: unknown): void;
  sayText(text: string): void;
  /** A protocol ping. */
  ping(): void;
  /**
   * Sends the data of a registry stream, given by its name, until the socket ends.
   *
   * @param first makes the frame that is sent at once (a snapshot); absent: the first frame comes after a usual gap
   */
  play(stream: string, data: FrameMaker, first?: FrameMaker): void;
  onPush(listener: () => void): void;
  after(ms: number, run: () => void): Timer;
  every(ms: number, run: () => void): void;
  /**
   * Records that the client broke a rule and closes the socket as the venue would. If `code` is null, no close frame is
   * sent.
   */
  drop(missed: string, code: number | null, reason?: string): void;
  /** Records that the client broke a rule that the venue does not enforce. */
  note(missed: string): void;
}

/** Makes the next frame of a stream. */
export type FrameMaker = (tick: Tick) => unknown;

export interface Timer {
  /** Restarts the timer. */
  refresh(): void;
  cancel(): void;
}

// The rules by which venues distinguish living clients from dead connections. All times are the venue's.

/** Sends protocol pings and drops a client that leaves a ping unanswered for `pongWithinMs`. */
export function pingOrDrop(session: VenueSession, everyMs: number, pongWithinMs: number): void {
  let awaited: Timer | null = null;
  session.ws.on("pong", pongCame);
  session.every(everyMs, pingNow);

  function pingNow() {
    session.ping();
    awaited ??= session.after(pongWithinMs, () => session.drop(`no pong within ${pongWithinMs} ms of a ping`, null));
  }
  function pongCame() {
    awaited?.cancel();
    awaited = null;
  }
}

/** Sends protocol pings and notes a missing pong: no document says that this venue drops such a client. */
export function pingOrNote(session: VenueSession, everyMs: number): void {
  let awaited = false;
  session.ws.on("pong", () => (awaited = false));
  session.every(everyMs, pingNow);

  function pingNow() {
    if (awaited) session.note(`no pong within ${everyMs} ms of a ping`);
    awaited = true;
    session.ping();
  }
}

/** Drops the client unless the returned function is called at least once every `withinMs`. */
export function dropAfter(
  session: VenueSession,
  withinMs: number,
  missed: string,
  code: number | null,
  reason?: string,
): () => void {
  const timer = session.after(withinMs, () => session.drop(`${missed} for ${withinMs} ms`, code, reason));
  return () => timer.refresh();
}

/** Drops a client that sends more frames within a second than the venue allows. Pings and pongs count. */
export function limitFrames(session: VenueSession, perSecond: number): void {
  let frames = 0;
  for (const event of ["message", "ping", "pong"]) session.ws.on(event, count);
  session.every(1000, () => (frames = 0));

  function count() {
    frames += 1;
    if (frames === perSecond + 1) session.drop(`more than ${perSecond} frames in a second`, 1008);
  }
}
