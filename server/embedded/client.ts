import { randomInt } from "node:crypto";
import type { Socket } from "node:net";
import type { Log } from "../../shared/log/log.js";
import type { Outage } from "../../shared/log/outage.js";
import type { Backend, RequestLimit, BackendRequest, Standing, Terms } from "./backend.js";
import { makeInbox, type Message } from "./inbox.js";
import {
  errorResponse,
  negotiateProtocolVersion,
  readSaslInitial,
  saslChallenge,
  saslMechanism,
  saslOutcome,
  type Complaint,
} from "./messages.js";
import { mechanism, type PasswordExchange, startPasswordExchange } from "./password-exchange.js";
import { readFirstPacket, type Startup } from "./startup.js";
import { takeStep, type ProtocolStep } from "./step.js";
import type { Waiter, BackendMutex } from "./backend-mutex.js";

/** While this many bytes of answers wait for a client to read them, the client is not served. */
const unreadLimitBytes = 16 * 1024 * 1024;
/** While a client waits for its turn and has sent more than this, nothing more is read from it. */
const unservedLimitBytes = 1024 * 1024;
/** How much a client may send before it has authenticated. PostgreSQL accepts start-up packets of this size. */
const unknownLimitBytes = 10_000;
/** How long an expelled client has to read the reason. */
const farewellMs = 1_000;

export interface WireClient {
  /** A cancel request must contain it, besides the client's number. */
  secret: number;
  /** Sends the reason and ends the connection. An open transaction is rolled back. */
  expel(complaint: Complaint): void;
}

interface Surroundings {
  /** The unique number of the client. */
  number: number;
  backend: Backend;
  turns: BackendMutex;
  log: Log;
  /** Counts refused clients instead of logging each: any program on the machine may try as often as it likes. */
  refused: Outage;
  /** Challenges for unknown users derive from it. */
  decoySecret: string;
  /** How long a login may take, from the connection on. */
  loginLimitMs: number;
  idleTransactionMs: number;
  /** How long the client may hold the backend at a time, unless it is a superuser. */
  turnLimitMs: number;
  onCancel: (client: number, secret: number) => void;
  onGone: () => void;
}

/**
 * What must happen next for a client.
 *
 * - `start` its start-up packet must arrive
 * - `verifier` the backend must look up the user
 * - `password` the client must prove that it knows the password
 * - `opening` the client has authenticated: the backend must open its session
 * - `served` its messages are passed to the backend
 */
type Phase = "start" | "verifier" | "password" | "opening" | "served";

/** Serves one connection until it ends. If the client disconnects, its messages that wait for a turn are dropped. */
export function serveClient(socket: Socket, around: Surroundings): WireClient {
  const { number, backend, turns, log, refused } = around;
  const { idleTransactionMs, turnLimitMs, loginLimitMs } = around;
  const inbox = makeInbox();
  const secret = randomInt(2 ** 31);
  const player: Waiter = { ready, play, idleMs, idleTooLong };
  const loginDeadline = setTimeout(loginTooLate, loginLimitMs);
  let phase: Phase = "start";
  let startup: Startup | undefined;
  let exchange: PasswordExchange | undefined;
  let wasChallenged = false;
  let terms: Terms = { isSuperuser: true, statementTimeoutMs: 0 };
  /** Null between turns. */
  let turnBegunMs: number | null = null;
  let standing: Standing = "idle";
  let gone = false;

  socket.setNoDelay(true);
  socket.on("data", take);
  socket.on("drain", () => turns.wake(player));
  socket.on("end", leave);
  socket.on("close", leave);
  socket.on("error", leave);
  return { secret, expel };

  function take(chunk: Buffer): void {
    if (gone) return;
    inbox.push(chunk);
    guarded(readUnknown);
    if (!ready()) return;
    if (inbox.size() > unservedLimitBytes) socket.pause();
    turns.wake(player);
  }

  /** Reads the messages that precede authentication. */
  function readUnknown(): void {
    while (phase === "start" && readStart());
    while (!gone && phase === "password" && readPassword());
    if (phase !== "served" && inbox.size() > unknownLimitBytes)
      throw new Error(`expected at most ${unknownLimitBytes} bytes before authentication, got ${inbox.size()}`);
  }

  /** False while the packet is incomplete. */
  function readStart(): boolean {
    const packet = inbox.takeUntyped();
    const first = packet && readFirstPacket(packet);
    switch (first?.kind) {
      case undefined:
        return false;
      case "encryption":
        // No encryption: on loopback only a superuser of the machine can listen in, who can also read the data
        // directory. The password is not transmitted.
        socket.write("N");
        return true;
      case "cancel":
        around.onCancel(first.client, first.secret);
        hangUp();
        return false;
      case "startup":
        inbox.expectTyped();
        startup = first.startup;
        phase = "verifier";
        return true;
    }
  }

  /** False while the message is incomplete. */
  function readPassword(): boolean {
    const message = inbox.peek();
    if (!message) return false;
    const answer = answerTo(message);
    inbox.take();
    if (answer) socket.write(answer);
    return true;
  }

  /** Null if the client is disconnected instead. */
  function answerTo({ type, bytes }: Message): Buffer | null {
    if (type !== "p")
      throw new Error(`expected a message of type "p" with the proof of a password, got type "${type}"`);
    const body = bytes.subarray(5);
    if (wasChallenged) return confirmation(body.toString());
    const initial = readSaslInitial(body);
    if (initial?.mechanism !== mechanism)
      throw new Error(`expected a SASLInitialResponse of ${mechanism}, got something else`);
    wasChallenged = true;
    return saslChallenge(exchange!.challenge(initial.data));
  }

  function confirmation(proof: string): Buffer | null {
    const outcome = exchange!.confirm(proof);
    if (outcome === null) {
      const { user } = startup!;
      refused.failed("logins", { client: number, user });
      expel({
        severity: "FATAL",
        code: "28P01",
        message: `password authentication failed for user "${user}"`,
      });
      return null;
    }
    phase = "opening";
    return saslOutcome(outcome);
  }

  function ready(): boolean {
    if (gone || socket.writableLength > unreadLimitBytes) return false;
    if (phase === "verifier" || phase === "opening") return true;
    return guarded(() => phase === "served" && inbox.ready());
  }

  async function play(): Promise<"keeps" | "done"> {
    const request = nextRequest();
    if (socket.isPaused()) socket.resume();
    if (request) await serve(request);
    return standing === "idle" ? "done" : "keeps";
  }

  async function serve(request: BackendRequest): Promise<void> {
    turnBegunMs ??= performance.now();
    const reply = await backend.request(request, limit());
    standing = reply.standing;
    terms = reply.terms ?? terms;
    if (!gone) socket.write(reply.bytes);
    if (request.kind === "verifier") askPassword(reply.verifier ?? null);
    if (reply.complaint) noteExpelled(request, reply.complaint);
    if (standing === "expelled") hangUp();
    if (standing === "idle") turnBegunMs = null;
    else if (turnLeftMs() <= 0) turnTooLong();
  }

  function noteExpelled(request: BackendRequest, { message }: Complaint): void {
    const fields = { client: number, message };
    if (request.kind === "open") refused.failed("start-ups", fields);
    else log.warn("a client was disconnected", fields);
  }

  function nextRequest(): BackendRequest | null {
    if (phase === "served") return requestFor(takeStep(inbox));
    if (phase === "verifier") return { kind: "verifier", user: startup!.user };
    clearTimeout(loginDeadline);
    phase = "served";
    return { kind: "open", client: number, secret, startup: startup! };
  }

  function askPassword(verifier: string | null): void {
    if (gone) return;
    const { user, newer, protocolOptions } = startup!;
    exchange = startPasswordExchange(user, verifier, around.decoySecret);
    phase = "password";
    if (newer || protocolOptions.length > 0) socket.write(negotiateProtocolVersion(protocolOptions));
    socket.write(saslMechanism(mechanism));
    guarded(readUnknown);
  }

  /** The limit of the next exchange; undefined: the backend's own. */
  function limit(): RequestLimit | undefined {
    const { statementTimeoutMs } = terms;
    const leftMs = Math.max(1, turnLeftMs());
    if (statementTimeoutMs > 0 && statementTimeoutMs < leftMs)
      return {
        ms: statementTimeoutMs,
        complaint: terms.isSuperuser ? ownersTimeout : statementTimeout,
      };
    if (leftMs < Infinity) return { ms: leftMs, complaint: turnTimeout(turnLimitMs) };
    return undefined;
  }

  function turnLeftMs(): number {
    if (terms.isSuperuser || turnBegunMs === null) return Infinity;
    return turnBegunMs + turnLimitMs - performance.now();
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
        hangUp();
        return null;
      case "violation":
        complainOfProtocol(`unexpected message of type "${step.type}"`);
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
    if (phase === "served") log.warn("a client violated the protocol", { client: number, message });
    else refused.failed("start-ups", { client: number, message });
    expel({ severity: "FATAL", code: "08P01", message });
  }

  function loginTooLate(): void {
    if (phase === "verifier" || phase === "opening") return databaseTooBusy();
    const expected = phase === "start" ? "a start-up packet" : "the proof of a password";
    complainOfProtocol(`expected ${expected} within ${loginLimitMs} ms, got none`);
  }

  function databaseTooBusy(): void {
    const message = `the embedded database was busy with others for ${loginLimitMs} ms; try again later`;
    refused.failed("logins that waited", { client: number, message });
    // cannot_connect_now
    expel({ severity: "FATAL", code: "57P03", message });
  }

  function idleMs(): number {
    return Math.min(idleTransactionMs, Math.max(0, turnLeftMs()));
  }

  function idleTooLong(): void {
    if (turnLeftMs() <= 0) return turnTooLong();
    const message =
      standing === "transaction"
        ? `terminating connection: its transaction was idle for ${idleTransactionMs} ms, and all other clients wait for it`
        : `terminating connection: no Sync came for ${idleTransactionMs} ms, and all other clients wait for it`;
    log.warn("a client held the database while it was idle", { client: number, message });
    expel({ severity: "FATAL", code: "25P03", message });
  }

  function turnTooLong(): void {
    const message = `terminating connection: its transaction took longer than ${turnLimitMs} ms, and all other clients wait for it`;
    log.warn("a client held the database for too long", { client: number, message });
    // the code of transaction_timeout, which PostgreSQL has since 17
    expel({ severity: "FATAL", code: "25P04", message, hint: smaller });
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
    clearTimeout(loginDeadline);
    // The backend executes requests in order, so this precedes the next client's turn.
    backend.request({ kind: "leave", client: number }).catch(() => {
      // The backend has died, so there is nothing to roll back.
    });
    turns.leave(player);
    around.onGone();
  }
}

const statementTimeout: Complaint = {
  severity: "ERROR",
  code: "57014",
  message: "canceling statement due to statement timeout",
};

const ownersTimeout: Complaint = {
  ...statementTimeout,
  hint: "Set statement_timeout to allow more, ten minutes at most; all other clients wait meanwhile.",
};

const smaller = "Query a shorter period or a single venue; a TimescaleDB server has no such limit.";

function turnTimeout(limitMs: number): Complaint {
  return {
    severity: "ERROR",
    code: "57014",
    message: `canceling statement: it held the embedded database for ${limitMs} ms, and all other clients wait for it`,
    hint: smaller,
  };
}
