import type { Inbox, Message } from "./wire-inbox.js";
import type { Complaint } from "./wire-messages.js";
import { refusalOf } from "./refusals.js";

/** The next thing to do for a client whose session is open. */
export type ProtocolStep =
  /**
   * Complete messages for the backend, at most up to the end of an exchange. The rest of the exchange is another step.
   */
  | { kind: "pass"; bytes: Uint8Array<ArrayBuffer> }
  | { kind: "refuse"; type: "Q" | "P"; complaint: Complaint }
  | { kind: "terminate" }
  | { kind: "violation"; type: string };

/** Query, Sync, FunctionCall: the backend answers them with ReadyForQuery. */
const endsExchange = new Set(["Q", "S", "F"]);
/** Parse, Bind, Describe, Execute, Close, Flush. */
const withinExchange = new Set(["P", "B", "D", "E", "C", "H"]);
/** CopyData, CopyDone, CopyFail: PostgreSQL ignores them outside a COPY, which we refuse. */
const ofCopy = new Set(["d", "c", "f"]);

/**
 * The size of the backend's receive buffer. If a message ends exactly where the buffer ends, this build considers the
 * buffer empty and ignores the messages that follow in the same call: they get no answer, and everybody waits forever.
 * So such a message is the last one of its call.
 */
const receiveBufferBytes = 8192;

/** Takes messages from the inbox. Returns null if they require no step. */
export function takeStep(inbox: Inbox): ProtocolStep | null {
  const parts: Buffer[] = [];
  let bytes = 0;
  for (let next = inbox.peek(); next; next = inbox.peek()) {
    const special = specialStep(next);
    if (special && parts.length > 0) break;
    inbox.take();
    if (special) return special;
    if (!ofCopy.has(next.type)) {
      parts.push(next.bytes);
      bytes += next.bytes.length;
    }
    const atBufferEnd = bytes > 0 && bytes % receiveBufferBytes === 0;
    if (endsExchange.has(next.type) || atBufferEnd) break;
  }
  return parts.length > 0 ? { kind: "pass", bytes: joined(parts) } : null;
}

/** A message of an unknown type would cause a FATAL error, which would end the backend. */
function specialStep(message: Message): ProtocolStep | null {
  const { type } = message;
  if (type === "X") return { kind: "terminate" };
  const complaint = refusalOf(message);
  if (complaint) return { kind: "refuse", type: type === "Q" ? "Q" : "P", complaint };
  const known = [endsExchange, withinExchange, ofCopy];
  return known.some((types) => types.has(type)) ? null : { kind: "violation", type };
}

/** Copies into a separate buffer, because it will be transferred to another thread. */
function joined(parts: Buffer[]): Uint8Array<ArrayBuffer> {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
