/** Splits the bytes that a client has sent into the messages of the PostgreSQL wire protocol, version 3. */

import { ProtocolViolation } from "./wire-messages.js";

/** PostgreSQL accepts up to 1 GiB. We hold a message in memory twice, and our own largest are below 1 MB. */
export const messageLimitBytes = 64 * 1024 * 1024;

/**
 * PostgreSQL's limit for messages that contain no statement and no values. It considers the stream broken by a larger
 * one, which would end the database.
 */
const smallLimitBytes = 10_000;
/** Query, Parse, Bind, FunctionCall, CopyData. */
const mayBeLarge = new Set([..."QPBFd"].map((type) => type.charCodeAt(0)));

export interface Message {
  /** One letter, as the protocol names it: `Q` Query, `P` Parse, … */
  type: string;
  /** The whole message, its type and length included. */
  bytes: Buffer;
}

export interface Inbox {
  push(chunk: Buffer): void;
  /** Bytes held, complete or not. */
  size(): number;
  /**
   * Whether the next message is complete.
   *
   * @throws ProtocolViolation if its length cannot be right; so do the others
   */
  ready(): boolean;
  /** The first packets of a connection have no type letter. Null while incomplete. */
  takeUntyped(): Buffer | null;
  /** Returns the next message without taking it; null while it is incomplete. */
  peek(): Message | null;
  take(): void;
  /** From now on messages have a type letter. */
  expectTyped(): void;
}

export function makeInbox(): Inbox {
  let chunks: Buffer[] = [];
  let size = 0;
  let lengthAt = 0;

  /** Joins chunks only for a header and for a complete message: joining at each arrival would be quadratic. */
  function joined(): Buffer {
    if (chunks.length !== 1) chunks = [Buffer.concat(chunks)];
    return chunks[0]!;
  }

  function nextLength(): number | null {
    const headerBytes = lengthAt + 4;
    if (size < headerBytes) return null;
    const first = chunks[0]!;
    const header = first.length >= headerBytes ? first : joined();
    const length = header.readUInt32BE(lengthAt);
    const limit = lengthAt === 0 || mayBeLarge.has(header[0]!) ? messageLimitBytes : smallLimitBytes;
    if (length < 4 || length > limit)
      throw new ProtocolViolation(`expected a message of 4 to ${limit} bytes, got a length of ${length}`);
    return lengthAt + length;
  }

  function complete(): number | null {
    const length = nextLength();
    return length !== null && size >= length ? length : null;
  }

  function next(): Buffer | null {
    const length = complete();
    return length === null ? null : joined().subarray(0, length);
  }

  function drop(length: number): void {
    const rest = joined().subarray(length);
    chunks = rest.length > 0 ? [rest] : [];
    size = rest.length;
  }

  return {
    push(chunk) {
      chunks.push(chunk);
      size += chunk.length;
    },
    size: () => size,
    ready: () => complete() !== null,
    takeUntyped() {
      const packet = next();
      if (packet) drop(packet.length);
      return packet;
    },
    peek() {
      const bytes = next();
      return bytes && { type: String.fromCharCode(bytes[0]!), bytes };
    },
    take() {
      drop(next()!.length);
    },
    expectTyped() {
      lengthAt = 1;
    },
  };
}
