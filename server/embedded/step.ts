import type { Inbox, Message } from "./inbox.js";
import type { Complaint } from "./messages.js";
import { refusalOf } from "./refusals.js";

/** What to do next for a client that has started. */
export type ProtocolStep =
  /** Whole messages for the backend, up to the end of an exchange at most. The rest of it is another step. */
  | { kind: "pass"; bytes: Uint8Array<ArrayBuffer> }
  | { kind: "refuse"; type: "Q" | "P"; complaint: Complaint }
  | { kind: "terminate" }
  | { kind: "violation"; type: string };

/** Query, Sync, FunctionCall: the backend answers them with ReadyForQuery. */
const endsExchange = new Set(["Q", "S", "F"]);
/** Parse, Bind, Describe, Execute, Close, Flush. */
const withinExchange = new Set(["P", "B", "D", "E", "C", "H"]);
/** CopyData, CopyDone, CopyFail: outside of a COPY, which we refuse, PostgreSQL ignores them. */
const ofCopy = new Set(["d", "c", "f"]);

/**
 * The backend reads as much at a time. When a message ends just where its buffer does, this build takes the buffer for
 * empty and what follows in the same call for nothing: no answer comes to it, and everybody waits for ever. So such a
 * message is the last of its call.
 */
const receiveBufferBytes = 8192;

/** Takes messages from the inbox; null when nothing came of them. */
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

/** A message of unknown type is a FATAL error to the backend, and that would be its death. */
function specialStep(message: Message): ProtocolStep | null {
  const { type } = message;
  if (type === "X") return { kind: "terminate" };
  const complaint = refusalOf(message);
  if (complaint) return { kind: "refuse", type: type === "Q" ? "Q" : "P", complaint };
  const known = [endsExchange, withinExchange, ofCopy];
  return known.some((types) => types.has(type)) ? null : { kind: "violation", type };
}

/** In memory of its own, because it will be handed over to another thread. */
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
