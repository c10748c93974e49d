import type { Backend, BackendRequest } from "./backend.js";
import type { ClientConnection } from "./connection.js";
import type { Inbox } from "./wire-inbox.js";
import type { RefusedClients } from "./log.js";
import type { Login } from "./session.js";
import {
  type Complaint,
  ProtocolViolation,
  type SaslInitial,
  negotiateProtocolVersion,
  protocolViolation,
  readSaslInitial,
  saslChallenge,
  saslMechanism,
  saslOutcome,
  wrongPassword,
} from "./wire-messages.js";
import { mechanism, type PasswordExchange, startPasswordExchange } from "./password-exchange.js";
import { readFirstPacket, type Startup } from "./startup.js";

/** How much a client may send before it has authenticated. PostgreSQL accepts start-up packets of this size. */
const unknownLimitBytes = 10_000;

export interface LoginSurroundings {
  /** The unique number of the client. */
  number: number;
  backend: Backend;
  refused: RefusedClients;
  /** Challenges for unknown users derive from it. */
  decoySecret: string;
  /** How long a login may take, from the connection on. */
  loginLimitMs: number;
  onCancel: (client: number, secret: number) => void;
  /** The client has proved its password. Returns why it is refused all the same; null if it may have a session. */
  onProved: (client: number, isSuperuser: boolean) => Complaint | null;
}

/** A client's way from its first packet to its session. */
export interface ClientLogin {
  /**
   * Reads the messages that precede authentication.
   *
   * @throws ProtocolViolation
   */
  read(): void;
  /** Whether the backend must do something before the login can continue. */
  needsBackend(): boolean;
  /** Whether the backend should do it before it serves others. */
  comesFirst(): boolean;
  /** What the backend must do; null: nothing. The login is over with the request that opens the session. */
  nextRequest(): BackendRequest | null;
  /** Asks for the password. @param logins the backend's answer */
  ask(logins: Map<string, Login>): void;
  /** How many steps the client has taken: its start-up packet, the choice of SCRAM. */
  steps: () => number;
  /** Whether the client's messages are for the backend. */
  isOver(): boolean;
  /** The client is gone. */
  abandon(): void;
}

/**
 * What must happen next.
 *
 * - `start` the client's start-up packet must arrive
 * - `logins` the backend must read who may log in
 * - `password` the client must prove that it knows the password
 * - `opening` the client has authenticated: the backend must open its session
 * - `over` its messages are passed to the backend
 */
type Phase = "start" | "logins" | "password" | "opening" | "over";

/**
 * @param secret the client gets it with its session; a cancel request must contain it
 */
// eslint-disable-next-line max-lines-per-function -- its steps share the state of one login
export function startLogin(
  connection: ClientConnection,
  inbox: Inbox,
  secret: number,
  { number, backend, refused, decoySecret, loginLimitMs, onCancel, onProved }: LoginSurroundings,
): ClientLogin {
  const deadline = setTimeout(tooLate, loginLimitMs);
  let phase: Phase = "start";
  let startup: Startup | undefined;
  /** Undefined for a user that may not log in. */
  let login: Login | undefined;
  let exchange: PasswordExchange | undefined;
  let wasChallenged = false;
  let encryptionRequests = 0;

  function read(): void {
    while (phase === "start" && readStart());
    while (!connection.isGone() && phase === "password" && readPassword());
    if (phase !== "over" && inbox.size() > unknownLimitBytes)
      throw new ProtocolViolation(
        `expected at most ${unknownLimitBytes} bytes before authentication, got ${inbox.size()}`,
      );
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
        // directory. The password is not transmitted. A client that does not read these answers could fill our memory.
        encryptionRequests += 1;
        if (encryptionRequests > 2)
          throw new ProtocolViolation("expected a start-up packet, got requests for encryption");
        connection.write(Buffer.from("N"));
        return true;
      case "cancel":
        onCancel(first.client, first.secret);
        connection.hangUp();
        return false;
      case "startup":
        inbox.expectTyped();
        startup = first.startup;
        phase = "logins";
        askIfKnown();
        return true;
    }
  }

  /** False while the message is incomplete. */
  function readPassword(): boolean {
    const message = inbox.peek();
    if (!message) return false;
    inbox.take();
    if (message.type !== "p")
      throw new ProtocolViolation(
        `expected a message of type "p" with the proof of a password, got type "${message.type}"`,
      );
    const body = message.bytes.subarray(5);
    if (wasChallenged) confirm(body.toString());
    else challenge(readSaslInitial(body));
    return true;
  }

  function challenge(initial: SaslInitial | null): void {
    if (initial?.mechanism !== mechanism)
      throw new ProtocolViolation(`expected a SASLInitialResponse of ${mechanism}, got something else`);
    wasChallenged = true;
    connection.write(saslChallenge(exchange!.challenge(initial.data)));
  }

  function confirm(proof: string): void {
    const outcome = exchange!.confirm(proof);
    if (outcome === null) {
      const { user } = startup!;
      refused.failed("logins", { client: number, user });
      return connection.expel(wrongPassword(user));
    }
    const refusal = onProved(number, login!.isSuperuser);
    if (refusal) return connection.expel(refusal);
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
    return phase === "logins" || phase === "opening";
  }

  function refuse(message: string): void {
    refused.failed("start-ups", { client: number, message });
    connection.expel(protocolViolation(message));
  }

  /** Start-ups cost the backend nothing while the logins do not change. */
  function askIfKnown(): void {
    const logins = backend.knownLogins();
    if (logins) ask(logins);
  }

  function ask(logins: Map<string, Login>): void {
    if (connection.isGone()) return;
    const { user, newer, protocolOptions } = startup!;
    login = logins.get(user);
    exchange = startPasswordExchange(user, login?.verifier ?? null, decoySecret);
    phase = "password";
    if (newer || protocolOptions.length > 0) connection.write(negotiateProtocolVersion(protocolOptions));
    connection.write(saslMechanism(mechanism));
    read();
  }

  return {
    read,
    needsBackend,
    comesFirst: () => phase === "logins" || login!.isSuperuser,
    nextRequest() {
      // another client may have read them meanwhile
      if (phase === "logins") askIfKnown();
      if (phase === "logins") return { kind: "logins" };
      if (phase !== "opening") return null;
      clearTimeout(deadline);
      phase = "over";
      return { kind: "open", client: number, secret, startup: startup!, verifier: login!.verifier };
    },
    ask,
    steps: () => (phase === "start" ? 0 : wasChallenged ? 2 : 1),
    isOver: () => phase === "over",
    abandon: () => clearTimeout(deadline),
  };
}
