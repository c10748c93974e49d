/**
 * The messages of the wire protocol that the host writes itself. It passes all others between client and backend
 * unchanged.
 */

const zero = Buffer.alloc(1);

/** The content of an ErrorResponse. `code` is an SQLSTATE; FATAL means that the connection ends. */
export interface Complaint {
  severity: "ERROR" | "FATAL";
  code: string;
  message: string;
  hint?: string;
}

/** A client has sent what the protocol does not allow. */
export class ProtocolViolation extends Error {}

export function protocolViolation(message: string): Complaint {
  return { severity: "FATAL", code: "08P01", message };
}

export function wrongPassword(user: string): Complaint {
  return { severity: "FATAL", code: "28P01", message: `password authentication failed for user "${user}"` };
}

export function unknownSetting(name: string): Complaint {
  return { severity: "FATAL", code: "42704", message: `unrecognized configuration parameter "${name}"` };
}

export function errorResponse(complaint: Complaint): Buffer {
  const { severity, code, message, hint } = complaint;
  const fields = [`S${severity}`, `V${severity}`, `C${code}`, `M${message}`];
  if (hint) fields.push(`H${hint}`);
  return packet("E", ...fields.map(text), zero);
}

export function authenticationOk(): Buffer {
  return packet("R", int32(0));
}

/** AuthenticationSASL, with one mechanism. */
export function saslMechanism(name: string): Buffer {
  return packet("R", int32(10), text(name), zero);
}

/** AuthenticationSASLContinue. */
export function saslChallenge(data: string): Buffer {
  return packet("R", int32(11), Buffer.from(data));
}

/** AuthenticationSASLFinal. */
export function saslOutcome(data: string): Buffer {
  return packet("R", int32(12), Buffer.from(data));
}

/** What a SASLInitialResponse contains. */
export interface SaslInitial {
  mechanism: string;
  data: string;
}

/** Null if the body is not a SASLInitialResponse. */
export function readSaslInitial(body: Buffer): SaslInitial | null {
  const end = body.indexOf(0);
  if (end < 0 || body.length < end + 5) return null;
  const length = body.readInt32BE(end + 1);
  if (length !== body.length - end - 5) return null;
  return {
    mechanism: body.toString("utf8", 0, end),
    data: body.toString("utf8", end + 5),
  };
}

/** The answer with its first ErrorResponse replaced; unchanged if it has none. */
export function withError(answer: Uint8Array<ArrayBuffer>, complaint: Complaint): Uint8Array<ArrayBuffer> {
  const bytes = Buffer.from(answer.buffer, answer.byteOffset, answer.length);
  for (let at = 0; at < bytes.length;) {
    const end = at + 1 + bytes.readInt32BE(at + 1);
    if (bytes[at] === "E".charCodeAt(0))
      return new Uint8Array(Buffer.concat([bytes.subarray(0, at), errorResponse(complaint), bytes.subarray(end)]));
    at = end;
  }
  return answer;
}

export function parameterStatus(name: string, value: string): Buffer {
  return packet("S", text(name), text(value));
}

export function backendKeyData(client: number, secret: number): Buffer {
  return packet("K", int32(client), int32(secret));
}

export function readyForQuery(): Buffer {
  return packet("Z", Buffer.from("I"));
}

/** States that no version above 3.0 is supported, and which protocol options are unknown. */
export function negotiateProtocolVersion(options: string[]): Buffer {
  return packet("v", int32(0), int32(options.length), ...options.map(text));
}

export function query(sql: string): Buffer {
  return packet("Q", text(sql));
}

/** An unnamed statement without parameter types. */
export function parse(sql: string): Buffer {
  return packet("P", zero, text(sql), Buffer.alloc(2));
}

export function sync(): Buffer {
  return packet("S");
}

export function terminate(): Buffer {
  return packet("X");
}

function packet(type: string, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body]);
}

function text(value: string): Buffer {
  return Buffer.concat([Buffer.from(value), zero]);
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}
