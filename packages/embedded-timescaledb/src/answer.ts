/** The bytes with which PostgreSQL answers: complete messages, and no more rows than a client may get at once. */

import type { Complaint } from "./wire-messages.js";

export interface BoundedAnswer {
  bytes: Uint8Array<ArrayBuffer>;
  /** Whether rows were left out. */
  isCut: boolean;
}

export interface AnswerBuffer {
  take(chunk: Uint8Array): void;
  answer(): BoundedAnswer;
}

const [dataRow, copyData, commandComplete, error, ready] = [..."DdCEZ"].map((type) => type.charCodeAt(0));

/** Most answers fit, so that none needs memory of its own. A thread collects one answer at a time. */
const scratch = Buffer.allocUnsafe(64 * 1024);

/**
 * @param limitBytes rows that end beyond this many bytes are left out
 * @param onFull called once, when the first row is left out
 */
export function makeAnswerBuffer(limitBytes: number, onFull: () => void): AnswerBuffer {
  let bytes = scratch;
  let size = 0;
  /** Where the message begins that is still incomplete. */
  let last = 0;
  /** How many of the next bytes belong to a row that is left out. */
  let skipped = 0;
  let isCut = false;

  function append(chunk: Uint8Array): void {
    if (size + chunk.length > bytes.length) {
      const larger = Buffer.allocUnsafe(2 * (size + chunk.length));
      bytes.copy(larger, 0, 0, size);
      bytes = larger;
    }
    bytes.set(chunk, size);
    size += chunk.length;
  }

  function leaveOut(end: number): void {
    skipped = Math.max(0, end - size);
    bytes.copyWithin(last, Math.min(end, size), size);
    size = last + Math.max(0, size - end);
    if (!isCut) onFull();
    isCut = true;
  }

  return {
    take(chunk) {
      const rest = chunk.subarray(Math.min(skipped, chunk.length));
      skipped -= chunk.length - rest.length;
      append(rest);
      while (size - last >= 5) {
        const end = last + 1 + bytes.readUInt32BE(last + 1);
        const isRow = bytes[last] === dataRow || bytes[last] === copyData;
        if (isRow && end > limitBytes) leaveOut(end);
        else if (end <= size) last = end;
        else break;
      }
    },
    answer: () => ({ bytes: new Uint8Array(bytes.subarray(0, size)), isCut }),
  };
}

export interface Summary {
  /** The first error. */
  error: Complaint | null;
  /** The tags of completed commands, such as `SET`. */
  tags: Set<string>;
  /** The state of the transaction by the answer's last message; null if that is not ReadyForQuery. */
  status: string | null;
}

export function summaryOf(answer: Uint8Array<ArrayBuffer>): Summary {
  const summary: Summary = { error: null, tags: new Set(), status: null };
  const bytes = Buffer.from(answer.buffer, answer.byteOffset, answer.length);
  eachMessage(bytes, (type, from, end) => {
    summary.status = type === ready ? bytes.toString("latin1", from, end) : null;
    if (type === commandComplete) summary.tags.add(bytes.toString("latin1", from, end - 1));
    if (type === error) summary.error ??= readError(bytes.subarray(from, end));
  });
  return summary;
}

/** The fields of each DataRow. */
export function rowsOf(answer: Uint8Array<ArrayBuffer>): (string | null)[][] {
  const rows: (string | null)[][] = [];
  const bytes = Buffer.from(answer.buffer, answer.byteOffset, answer.length);
  eachMessage(bytes, (type, from, end) => {
    if (type === dataRow) rows.push(readRow(bytes.subarray(from, end)));
  });
  return rows;
}

/** Without an object for each message: an answer may have millions of rows. */
function eachMessage(bytes: Buffer, take: (type: number, from: number, end: number) => void): void {
  for (let at = 0; at < bytes.length;) {
    const end = at + 1 + bytes.readUInt32BE(at + 1);
    take(bytes[at]!, at + 5, end);
    at = end;
  }
}

function readError(body: Buffer): Complaint {
  const fields = new Map<string, string>();
  for (const field of body.toString().split("\0")) fields.set(field.slice(0, 1), field.slice(1));
  const hint = fields.get("H");
  return {
    severity: fields.get("V") === "FATAL" ? "FATAL" : "ERROR",
    ...{ code: fields.get("C") ?? "XX000", message: fields.get("M") ?? "" },
    ...(hint !== undefined && { hint }),
  };
}

function readRow(body: Buffer): (string | null)[] {
  const fields: (string | null)[] = [];
  for (let at = 2; at < body.length;) {
    const length = body.readInt32BE(at);
    at += 4;
    fields.push(length < 0 ? null : body.toString("utf8", at, at + length));
    at += Math.max(0, length);
  }
  return fields;
}
