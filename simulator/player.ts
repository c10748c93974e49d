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
