import type { Socket } from "node:net";
import type { Log } from "../log.js";
import type { Backend, Request, Standing } from "./backend.js";
import { makeInbox } from "./inbox.js";
import { errorResponse, type Complaint } from "./messages.js";
import { readFirstPacket, type Startup } from "./startup.js";
import { takeStep, type Step } from "./step.js";
import type { Player, Turns } from "./turns.js";

/** A client that does not read its answers is not served on while this much waits for it. */
const unreadLimitBytes = 16 * 1024 * 1024;
/** A client that has sent more than this and waits for its turn is not read from meanwhile. */
const unservedLimitBytes = 1024 * 1024;
/** As PostgreSQL's authentication_timeout. */
const startupTimeoutMs = 60_000;
/** How long a client that is told to go may take to read why. */
const farewellMs = 1_000;

export interface Client {
  /** Ends the connection and says why. What it left open is rolled back. */
  expel(complaint: Complaint): void;
}

interface Surroundings {
  /** The client's own, unique. */
  number: number;
  backend: Backend;
  turns: Turns;
  log: Log;
  idleTransactionMs: number;
  onGone: (client: Client) => void;
}

/**
 * Serves one connection until it ends. A client that hangs up is gone at
 * once: what it sent and still waits for its turn is not done any more.
 */
export function serveClient(socket: Socket, around: Surroundings): Client {
  const { number, backend, turns, log, idleTransactionMs } = around;
  const inbox = makeInbox();
  const client: Client = { expel };
  const player: Player = { ready, play, idleTooLong };
  const startupDeadline = setTimeout(startTooLate, startupTimeoutMs);
  let startup: Startup | null = null;
  let started = false;
  let standing: Standing = "idle";
  let gone = false;

  socket.setNoDelay(true);
  socket.on("data", take);
  socket.on("drain", () => turns.wake(player));
  socket.on("end", leave);
  socket.on("close", leave);
  socket.on("error", leave);
  return client;

  function take(chunk: Buffer): void {
    if (gone) return;
    inbox.push(chunk);
    guarded(() => {
      while (!started && readStart());
    });
    if (!ready()) return;
    if (inbox.size() > unservedLimitBytes) socket.pause();
    turns.wake(player);
  }

  /** False when no whole packet has come. */
  function readStart(): boolean {
    const packet = inbox.takeUntyped();
    const first = packet && readFirstPacket(packet);
    switch (first?.kind) {
      case undefined:
        return false;
      case "encryption":
        // None: who listens on this machine's loopback could read the data directory as well.
        socket.write("N");
        return true;
      case "cancel":
        // A statement under way cannot be interrupted in this build.
        hangUp();
        return false;
      case "startup":
        clearTimeout(startupDeadline);
        inbox.expectTyped();
        startup = first.startup;
        started = true;
        return true;
    }
  }

  function ready(): boolean {
    if (gone || socket.writableLength > unreadLimitBytes) return false;
    return guarded(() => startup !== null || (started && inbox.ready()));
  }

  async function play(): Promise<"keeps" | "done"> {
    const request = nextRequest();
    if (socket.isPaused()) socket.resume();
    if (request) {
      const reply = await backend.request(request);
      standing = reply.standing;
      if (!gone) socket.write(reply.bytes);
      if (standing === "expelled") hangUp();
    }
    return standing === "idle" ? "done" : "keeps";
  }

  function nextRequest(): Request | null {
    if (!startup) return requestFor(takeStep(inbox));
    const request: Request = { kind: "open", client: number, startup };
    startup = null;
    return request;
  }

  function requestFor(step: Step | null): Request | null {
    switch (step?.kind) {
      case undefined:
        return null;
      case "pass":
        return { kind: "exchange", client: number, bytes: step.bytes };
      case "refuse":
        return { ...step, client: number };
      case "terminate":
        hangUp();
        return null;
      case "violation":
        complainOfProtocol(
          `a message of type "${step.type}" has no place here`,
        );
        return null;
    }
  }

  function guarded(check: () => boolean | void): boolean {
    try {
      return check() ?? false;
    } catch (error) {
      complainOfProtocol((error as Error).message);
      return false;
    }
  }

  function complainOfProtocol(message: string): void {
    log.warn("a client broke the protocol", { client: number, message });
    expel({ severity: "FATAL", code: "08P01", message });
  }

  function startTooLate(): void {
    complainOfProtocol(
      `a start-up packet was expected within ${startupTimeoutMs} ms`,
    );
  }

  function idleTooLong(): void {
    const message =
      standing === "transaction"
        ? `terminating connection: its transaction was idle for ${idleTransactionMs} ms, and all other clients wait for it`
        : `terminating connection: no Sync came for ${idleTransactionMs} ms, and all other clients wait for it`;
    log.warn("a client kept the database idle", { client: number, message });
    expel({ severity: "FATAL", code: "25P03", message });
  }

  function expel(complaint: Complaint): void {
    if (gone) return;
    socket.write(errorResponse(complaint));
    hangUp();
  }

  function hangUp(): void {
    socket.end();
    setTimeout(() => socket.destroy(), farewellMs).unref();
    leave();
  }

  function leave(): void {
    if (gone) return;
    gone = true;
    clearTimeout(startupDeadline);
    // Before the next one has its turn: the backend does things in the order in which they are asked.
    backend.request({ kind: "leave", client: number }).catch(() => {
      // The backend has died, and nothing is left to be undone.
    });
    turns.leave(player);
    around.onGone(client);
  }
}
