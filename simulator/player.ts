/** How one venue is played: what the world asks of a file in venues/. */
import type { WebSocket } from "ws";
import type { Tick } from "./market.js";

export interface VenuePlayer {
  /** Bodies of good answers, by endpoint name. An endpoint that is missing here is answered from its proof path. */
  rest: Record<string, (tick: Tick) => unknown>;
  /** What this venue says under HTTP 200 when it refuses. */
  errorInside: unknown;
  socket?: SocketRules;
}

export interface SocketRules {
  /** JSON travels in binary frames (KuCoin). */
  binary?: boolean;
  /** A longer frame of the client closes the socket with 1009. Default 65,536. */
  maxClientFrameBytes?: number;
  /** Begins to talk to a client that has just connected: welcome, pings, deadlines. */
  converse(session: VenueSession): Conversation;
}

export interface Conversation {
  /** A frame of the client that holds JSON. What it throws counts as a message that the venue does not understand. */
  message(message: unknown): void;
  /** A frame that does not. Absent: such frames are not understood. */
  text?(text: string): void;
}

/** One client's socket. All milliseconds are the venue's: the world divides them by its time scale. */
export interface VenueSession {
  readonly ws: WebSocket;
  tick(): Tick;
  /** Sends a control frame: a welcome, an acknowledgement, a heartbeat. */
  say(frame: unknown): void;
  sayText(text: string): void;
  /** A protocol ping. */
  ping(): void;
  /**
   * Pushes data of a stream of the registry, by its name, until the socket ends.
   *
   * @param first what is sent at once (a snapshot); absent: the first frame comes when it comes
   */
  play(stream: string, data: FrameMaker, first?: FrameMaker): void;
  onPush(listener: () => void): void;
  after(ms: number, run: () => void): Timer;
  every(ms: number, run: () => void): void;
  /**
   * Records that the client broke a rule, and closes the socket as the venue would; `code` null: without a closing
   * frame.
   */
  drop(missed: string, code: number | null, reason?: string): void;
  /** Records that the client broke a rule that the venue does not enforce. */
  note(missed: string): void;
}

/** Makes the next frame of a stream. */
export type FrameMaker = (tick: Tick) => unknown;

export interface Timer {
  /** Starts anew. */
  refresh(): void;
  cancel(): void;
}
