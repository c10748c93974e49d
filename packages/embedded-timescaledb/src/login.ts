import type { BackendRequest } from "./backend.js";
import type { ClientConnection } from "./connection.js";
import type { Inbox } from "./wire-inbox.js";
import type { RefusedClients } from "./log.js";
import {
  type SaslInitial,
  negotiateProtocolVersion,
  protocolViolation,
  readSaslInitial,
  saslChallenge,
  saslMechanism,
  saslOutcome,
} from "./wire-messages.js";
import { mechanism, type PasswordExchange, startPasswordExchange } from "./password-exchange.js";
import { readFirstPacket, type Startup } from "./startup.js";

/** How much a client may send before it has authenticated. PostgreSQL accepts start-up packets of this size. */
const unknownLimitBytes = 10_000;

export interface LoginSurroundings {
  /** The unique number of the client. */
  number: number;
  refused: RefusedClients;
  /** Challenges for unknown users derive from it. */
  decoySecret: string;
  /** How long a login may take, from the connection on. */
  loginLimitMs: number;
  onCancel: (client: number, secret: number) => void;
}

/** A client's way from its first packet to its session. */
export interface ClientLogin {
  /** Reads the messages that precede authentication. */
  read(): void;
  /** Whether the backend must do something before the login can continue. */
  needsBackend(): boolean;
  /** What the backend must do. The login is over with the request that opens the session. */
  nextRequest(): BackendRequest;
  /** Asks for the password. @param verifier the backend's answer; null if the user may not log in */
  ask(verifier: string | null): void;
  /** Whether the client's messages are for the backend. */
  isOver(): boolean;
  /** The client is gone. */
  abandon(): void;
}

/**
 * What must happen next.
 *
 * - `start` the client's start-up packet must arrive
 * - `verifier` the backend must look up the user
 * - `password` the client must prove that it knows the password
 * - `opening` the client has authenticated: the backend must open its session
 * - `over` its messages are passed to the backend
 */
type Phase = "start" | "verifier" | "password" | "opening" | "over";

/** @param secret the client gets it with its session; a cancel request must contain it */
export function startLogin(
  connection: ClientConnection,
  inbox: Inbox,
  secret: number,
  { number, refused, decoySecret, loginLimitMs, onCancel }: LoginSurroundings,
): ClientLogin {
  const deadline = setTimeout(tooLate, loginLimitMs);
  let phase: Phase = "start";
  let startup: Startup | undefined;
  let exchange: PasswordExchange | undefined;
  let wasChallenged = false;

  function read(): void {
    try {
      while (phase === "start" && readStart());
      while (!connection.isGone() && phase === "password" && readPassword());
      if (phase !== "over" && inbox.size() > unknownLimitBytes)
        throw new Error(`expected at most ${unknownLimitBytes} bytes before authentication, got ${inbox.size()}`);
    } catch (error) {
      refuse((error as Error).message);
    }
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
        connection.write(Buffer.from("N"));
        return true;
      case "cancel":
        onCancel(first.client, first.secret);
        connection.hangUp();
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
    inbox.take();
    if (message.type !== "p")
      throw new Error(`expected a message of type "p" with the proof of a password, got type "${message.type}"`);
    const body = message.bytes.subarray(5);
    if (wasChallenged) confirm(body.toString());
    else challenge(readSaslInitial(body));
    return true;
  }

  function challenge(initial: SaslInitial | null): void {
    if (initial?.mechanism !== mechanism)
      throw new Error(`expected a SASLInitialResponse of ${mechanism}, got something else`);
    wasChallenged = true;
    connection.write(saslChallenge(exchange!.challenge(initial.data)));
  }

  function confirm(proof: string): void {
    const outcome = exchange!.confirm(proof);
    if (outcome === null) {
      const { user } = startup!;
      refused.failed("logins", { client: number, user });
      const message = `password authentication failed for user "${user}"`;
      return connection.expel({ severity: "FATAL", code: "28P01", message });
    }
    phase = "opening";
    connection.write(saslOutcome(outcome));
  }

  function tooLate(): void {
    const expected = phase === "start" ? "a start-up packet" : "the proof of a password";
    if (!needsBackend()) return refuse(`expected ${expected} within ${loginLimitMs} ms, got none`);
    const message = `the embedded database was busy with others for ${loginLimitMs} ms; try again later`;
    refused.failed("logins that waited", { client: number, message });
    // cannot_connect_now
    connection.expel({ severity: "FATAL", code: "57P03", message });
  }

  function needsBackend(): boolean {
    return phase === "verifier" || phase === "opening";
  }

  function refuse(message: string): void {
    refused.failed("start-ups", { client: number, message });
    connection.expel(protocolViolation(message));
  }

  return {
    read,
    needsBackend,
    nextRequest() {
      if (phase === "verifier") return { kind: "verifier", user: startup!.user };
      clearTimeout(deadline);
      phase = "over";
      return { kind: "open", client: number, secret, startup: startup! };
    },
    ask(verifier) {
      if (connection.isGone()) return;
      const { user, newer, protocolOptions } = startup!;
      exchange = startPasswordExchange(user, verifier, decoySecret);
      phase = "password";
      if (newer || protocolOptions.length > 0) connection.write(negotiateProtocolVersion(protocolOptions));
      connection.write(saslMechanism(mechanism));
      read();
    },
    isOver: () => phase === "over",
    abandon: () => clearTimeout(deadline),
  };
}
