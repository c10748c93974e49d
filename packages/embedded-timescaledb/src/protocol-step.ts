import type { Inbox, Message } from "./wire-inbox.js";
import { type Complaint, ProtocolViolation } from "./wire-messages.js";

/** The next thing to do for a client whose session is open. */
export type ProtocolStep =
  /**
   * Complete messages for the backend, at most up to the end of an exchange. The rest of the exchange is another step.
   */
  { kind: "pass"; bytes: Uint8Array<ArrayBuffer> } | { kind: "refuse"; complaint: Complaint } | { kind: "terminate" };

/** Query, Sync, FunctionCall: the backend answers them with ReadyForQuery. */
const endsExchange = new Set(["Q", "S", "F"]);
/** Parse, Bind, Describe, Execute, Close, Flush. */
const withinExchange = new Set(["P", "B", "D", "E", "C", "H"]);
/** CopyData, CopyDone, CopyFail: PostgreSQL ignores them outside a COPY, which we refuse. */
const ofCopy = new Set(["d", "c", "f"]);

/** A Parse message that begins with anything but an empty name. */
const namedStatement: Complaint = {
  severity: "ERROR",
  code: "0A000",
  message:
    "named prepared statements are not supported by the embedded database: its clients share one session, so they would share the names",
  hint: "Turn prepared statements off in the client, as with a transaction pooler.",
};

/**
 * Takes messages from the inbox. Returns null if they require no step.
 *
 * @throws ProtocolViolation
 */
export function takeStep(inbox: Inbox): ProtocolStep | null {
  const parts: Buffer[] = [];
  for (let next = inbox.peek(); next; next = inbox.peek()) {
    const special = specialStep(next);
    if (special && parts.length > 0) break;
    inbox.take();
    if (special) return special;
    if (!ofCopy.has(next.type)) parts.push(next.bytes);
    if (endsExchange.has(next.type)) break;
  }
  return parts.length > 0 ? { kind: "pass", bytes: joined(parts) } : null;
}

function specialStep({ type, bytes }: Message): ProtocolStep | null {
  if (type === "X") return { kind: "terminate" };
  if (type === "P" && bytes.length > 5 && bytes[5] !== 0) return { kind: "refuse", complaint: namedStatement };
  // PostgreSQL would end with a FATAL error, which ends the database
  if (![endsExchange, withinExchange, ofCopy].some((types) => types.has(type)))
    throw new ProtocolViolation(`unexpected message of type "${type}"`);
  return null;
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
