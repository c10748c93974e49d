import { randomInt } from "node:crypto";
import type { Socket } from "node:net";
import type { BackendRequest, Standing } from "./backend.js";
import type { Waiter, BackendMutex } from "./backend-mutex.js";
import { makeConnection } from "./connection.js";
import { makeInbox } from "./wire-inbox.js";
import type { EmbeddedLog } from "./log.js";
import { type LoginSurroundings, startLogin } from "./login.js";
import { type Complaint, ProtocolViolation, protocolViolation } from "./wire-messages.js";
import { takeStep, type ProtocolStep } from "./protocol-step.js";
import { makeTurnLimit } from "./turn-limit.js";

/** While a client waits for its turn and has sent more than this, nothing more is read from it. */
const unservedLimitBytes = 1024 * 1024;

export interface WireClient {
  /** A cancel request must contain it, besides the client's number. */
  secret: number;
  /** Sends the reason and ends the connection. An open transaction is rolled back. */
  expel(complaint: Complaint): void;
  /** Bytes in memory that the client has sent and that wait for its turn, and answers that it has not read. */
  heldBytes(): number;
  /** How many steps of its login it has taken. */
  loginSteps(): number;
}

interface ClientSurroundings extends LoginSurroundings {
  turns: BackendMutex;
  log: EmbeddedLog;
  idleTransactionMs: number;
  /** How long the client may hold the backend at a time, unless it is a superuser. */
  turnLimitMs: number;
  turnLimitHint: string | undefined;
  /** Much is held for the client. */
  onHeld: () => void;
  onGone: () => void;
}

/**
 * Serves one connection until it ends. If the client disconnects, its messages that wait for a turn are dropped. Errors
 * in what it sends end this connection alone; a rejection of the waiter's `play` means that the backend has died.
 */
// eslint-disable-next-line max-lines-per-function -- its steps share the state of one connection
export function serveClient(socket: Socket, around: ClientSurroundings): WireClient {
  const { number, backend, turns, log, idleTransactionMs } = around;
  const secret = randomInt(2 ** 31);
  const inbox = makeInbox();
  const connection = makeConnection(socket, leave);
  const login = startLogin(connection, inbox, secret, around);
  const turn = makeTurnLimit(around.turnLimitMs, around.turnLimitHint);
  const waiter: Waiter = { ready, comesFirst, play, idleMs, idleTooLong };
  let standing: Standing = "idle";

  socket.on("data", take);
  socket.on("drain", () => turns.wake(waiter));
  return { secret, expel: connection.expel, heldBytes, loginSteps: login.steps };

  function heldBytes(): number {
    return inbox.size() + connection.unreadBytes();
  }

  function noteHeld(): void {
    if (heldBytes() > unservedLimitBytes) around.onHeld();
  }

  function take(chunk: Buffer): void {
    if (connection.isGone()) return;
    inbox.push(chunk);
    noteHeld();
    orEnd(() => login.read());
    if (!ready()) return;
    if (inbox.size() > unservedLimitBytes) socket.pause();
    turns.wake(waiter);
  }

  function ready(): boolean {
    if (connection.isGone() || connection.isClogged()) return false;
    return login.isOver() ? hasMessage() : login.needsBackend();
  }

  function comesFirst(): boolean {
    return login.isOver() ? turn.isSuperusers() : login.comesFirst();
  }

  function hasMessage(): boolean {
    return orEnd(() => inbox.ready()) ?? false;
  }

  async function play(): Promise<"keeps" | "done"> {
    const request = orEnd(() => (login.isOver() ? requestFor(takeStep(inbox)) : login.nextRequest()));
    if (socket.isPaused()) socket.resume();
    if (request) await serve(request);
    return standing === "idle" ? "done" : "keeps";
  }

  async function serve(request: BackendRequest): Promise<void> {
    turn.begin();
    const reply = await backend.request(request, turn.ofRequest());
    standing = reply.standing;
    if (reply.terms) turn.setTerms(reply.terms);
    connection.write(reply.bytes);
    noteHeld();
    if (reply.logins) orEnd(() => login.ask(reply.logins!));
    if (reply.complaint) noteExpelled(request, reply.complaint);
    if (standing === "expelled") connection.hangUp();
    if (standing === "idle") turn.end();
    else if (turn.leftMs() <= 0) turnTooLong();
  }

  function noteExpelled(request: BackendRequest, { message }: Complaint): void {
    const fields = { client: number, message };
    if (request.kind === "open") around.refused.failed("start-ups", fields);
    else log.warn("a client was disconnected", fields);
  }

  function requestFor(step: ProtocolStep | null): BackendRequest | null {
    switch (step?.kind) {
      case undefined:
        return null;
      case "pass":
        return { kind: "exchange", client: number, bytes: step.bytes };
      case "refuse":
        return { ...step, client: number };
      case "terminate":
        connection.hangUp();
        return null;
    }
  }

  function orEnd<T>(readInput: () => T): T | null {
    try {
      return readInput();
    } catch (error) {
      endFor(error as Error);
      return null;
    }
  }

  function endFor(error: Error): void {
    const { message } = error;
    if (!(error instanceof ProtocolViolation))
      log.error("a client's input was not understood", { client: number, error });
    else if (login.isOver()) log.warn("a client violated the protocol", { client: number, message });
    else around.refused.failed("start-ups", { client: number, message });
    connection.expel(protocolViolation(message));
  }

  function idleMs(): number {
    return Math.min(idleTransactionMs, Math.max(0, turn.leftMs()));
  }

  function idleTooLong(): void {
    if (turn.leftMs() <= 0) return turnTooLong();
    const what = standing === "transaction" ? "its transaction was idle" : "no Sync came";
    const message = `terminating connection: ${what} for ${idleTransactionMs} ms, and all other clients wait for it`;
    log.warn("a client held the database while it was idle", { client: number, message });
    connection.expel({ severity: "FATAL", code: "25P03", message });
  }

  function turnTooLong(): void {
    const complaint = turn.exceeded();
    log.warn("a client held the database for too long", { client: number, message: complaint.message });
    connection.expel(complaint);
  }

  function leave(): void {
    login.abandon();
    // The backend executes requests in order, so this precedes the next client's turn.
    backend.request({ kind: "leave", client: number }).catch(() => {
      // The backend has died, so there is nothing to roll back.
    });
    turns.leave(waiter);
    around.onGone();
  }
}
