import type { IncomingMessage } from "node:http";
import { WebSocket } from "ws";
import { retryAfterMs } from "../../shared/measurement/retry-after.js";
import { withoutHidden } from "../../shared/text/hidden-text.js";
import type { Fault } from "../../shared/measurement/sample.js";
import type { Resolver } from "../network/resolver.js";
import { causeOf, causeOfRefusal, unlessOurNetwork, type Cause } from "../rest/failure-cause.js";
import type { Connection, Phase } from "../rest/connection.js";
import { isUnmeasured } from "../rest/measurement.js";

/** Why a socket did not open, or closed. */
export interface Down {
  cause: Cause;
  detail: string;
  /** The venue asked for this delay before the next attempt; 0 if it named none. */
  retryAfterMs: number;
}

export interface SocketEndingOptions {
  hostname: string;
  resolver: Resolver;
  /** Start of the connection, by `performance.now()`. */
  startMs: number;
  /** How far the connection has come. */
  phase: () => Phase;
  /** When the newest frame arrived; without one, when the socket opened; until then `startMs`. */
  heardMs: () => number;
  /** Called once when the socket ends for any reason, but not after `close()`. */
  onDown: (down: Down) => void;
}

/** The end of one socket, which has one cause and is reported once. */
export interface SocketEnding {
  /** Whether it has ended; `onDown` follows when the cause is known. */
  readonly isEnded: boolean;
  opened: (connection: Connection) => void;
  /** Ends a dead connection; `onDown` follows. */
  giveUp: (cause: Cause, detail: string) => void;
  /** Ends a connection whose peer is clearly at fault; `onDown` is called at once. */
  blame: (fault: Fault, detail: string) => void;
  /** Ends it at our own request: no callback is called after that. */
  close: () => void;
}

/** Timeout from the start of the connection to the upgrade's answer. */
const openWithinMs = 10_000;

/** Timeout of a closing handshake, started by either side. */
export const goodbyeMs = 1000;

/** The close code of a connection that ended without a close frame. */
const unsaid = 1006;

/** The known circumstances of an ending, besides its cause. */
interface Circumstances {
  /** Whether the peer closed it explicitly, or is clearly at fault. */
  isSaid?: boolean;
  error?: Error;
  waitMs?: number;
}

export function watchEnding(ws: WebSocket, options: SocketEndingOptions): SocketEnding {
  const { hostname, resolver, startMs, phase, heardMs, onDown } = options;
  const closing = new AbortController();
  let isOpen = false;
  let broken: Error | null = null;
  const openTimer = setTimeout(onOpenDeadline, openWithinMs);
  ws.on("unexpected-response", onRefusal);
  ws.on("error", (error) => {
    fail(error);
    // After a violation of the protocol there is no closing handshake.
    ws.terminate();
  });
  ws.on("close", (code, reason) => {
    if (broken) return fail(broken);
    end({ fault: "closed" }, `closed by the peer, ${code} ${reason.toString()}`, { isSaid: code !== unsaid });
  });

  const ending = {
    isEnded: false,
    opened({ socket }: Connection) {
      isOpen = true;
      clearTimeout(openTimer);
      // An open WebSocket does not emit errors of its TCP socket.
      socket.on("error", (error) => (broken = error));
    },
    giveUp: (cause: Cause, detail: string) => end(cause, detail),
    blame: (fault: Fault, detail: string) => end({ fault }, detail, { isSaid: true }),
    close() {
      closing.abort();
      shut();
    },
  };
  return ending;

  function onOpenDeadline() {
    // After a standstill of this process, timers run before the data that arrived meanwhile is read.
    setImmediate(() => {
      if (isOpen) return;
      end({ fault: phase() === "dns" ? "dns" : "timeout" }, `not open within ${openWithinMs} ms`);
    });
  }

  function onRefusal(_request: unknown, response: IncomingMessage) {
    const httpStatus = response.statusCode ?? 0;
    const waitMs = retryAfterMs(response.headers["retry-after"], Date.now());
    const cause = causeOfRefusal(httpStatus) ?? { fault: "handshake", httpStatus };
    end(cause, `the upgrade was answered with ${httpStatus}`, { isSaid: true, waitMs });
  }

  function fail(error: Error) {
    end(causeOfError(error), error.message, { error });
  }

  function causeOfError(error: Error): Cause {
    const cause = causeOf(error, phase());
    if (isUnmeasured(cause)) return cause;
    if (isOpen) return { fault: "closed" };
    const isUpgradeAnswer = phase() === "exchange" && !("code" in error);
    if (isUpgradeAnswer) return { fault: "handshake" };
    return cause.fault === "body" ? { fault: "handshake" } : cause;
  }

  function end(cause: Cause, detail: string, { isSaid = false, waitMs = 0, error }: Circumstances = {}) {
    if (ending.isEnded) return;
    shut();
    const down = { cause, detail: withoutHidden(detail), retryAfterMs: waitMs };
    if (isSaid) onDown(down);
    else void report(down, error);
  }

  /** An ending that the peer did not cause explicitly may be probe trouble. */
  async function report(down: Down, error: unknown) {
    const cause = await cleared(down.cause, error);
    if (!closing.signal.aborted) onDown({ ...down, cause });
  }

  async function cleared(cause: Cause, error: unknown): Promise<Cause> {
    if ("fault" in cause && cause.fault === "dns")
      return (await resolver.othersResolve(hostname, startMs)) ? cause : { unmeasured: "resolver" };
    const unanswered = { host: hostname, sinceMs: heardMs(), error, signal: closing.signal };
    return unlessOurNetwork(cause, unanswered, resolver);
  }

  function shut() {
    ending.isEnded = true;
    clearTimeout(openTimer);
    if (ws.readyState === WebSocket.CONNECTING) return ws.terminate();
    ws.close();
    // The peer may be gone, or never complete the closing handshake.
    setTimeout(() => ws.terminate(), goodbyeMs).unref();
  }
}
