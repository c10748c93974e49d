/**
 * What strangers may send: venues, their feeds, receivers of alerts, and what answers at the address of a service. Each
 * reader limits bytes, and also the number of everything that has a cost for each piece: a byte that arrives alone
 * costs as much memory and time as hundreds that arrive together.
 */
import type { Socket } from "node:net";
import { kibibyte, mebibyte } from "../config/byte-units.js";

/** Bytes of a status line with its headers. A normal answer has one or two kibibytes. */
export const maxHeadBytes = 16 * kibibyte;

/** More interim answers (such as 100 and 103) before the final one are a flood. */
export const maxInterim = 8;

/**
 * Chunks in which a body arrives, on the wire and after decompression. A chunk of a large body has two kibibytes or
 * more, and the largest body has sixteen mebibytes.
 */
export const maxChunks = 8 * kibibyte;

/** Bytes of a body, after decompression. */
export const maxBodyBytes = {
  /** A venue's answer to a measurement. */
  measured: mebibyte,
  /** A document of a feed. */
  feed: 2 * mebibyte,
  /** A list of everything that a venue transfers: the largest had five mebibytes in 2026. */
  transfers: 16 * mebibyte,
  /** An answer of a service that runs venuewatch. */
  service: 4 * mebibyte,
};

/** Bytes of everything that arrives on the connection of a receiver, whose body is not needed. */
export const maxReceiptBytes = 64 * kibibyte;

/**
 * Bytes that may arrive on a connection for one answer. Besides the body, this covers everything that no parser limits,
 * and that would keep the only thread busy until the deadline: interim answers, line ends before the first one, blanks
 * before a header's value, zeros before a chunk's length.
 */
export function wireBytesFor(bodyBytes: number): number {
  return 2 * bodyBytes + 4 * maxHeadBytes;
}

/** Limits of one JSON text. */
export interface JsonLimits {
  /** Brackets, commas and colons outside of strings. */
  parts: number;
  /** Only for readers that traverse the whole value; the parser itself needs no limit. */
  levels: number;
}

/**
 * Parsed, values take up to thirty times as much memory as their text: a frame of 4 MiB of brackets stops the program
 * for a second.
 */
export const jsonLimits = {
  /** An order book of a thousand levels of three values on each side has eight thousand. */
  frame: { parts: 100_000, levels: Infinity },
  /** An answer of a mebibyte with ten bytes for each. */
  measured: { parts: 100_000, levels: Infinity },
  /** Feeds nest six levels deep. A page with 90 days of 250 resources has nearly as many parts. */
  feed: { parts: 200_000, levels: 64 },
  /** Ten thousand assets on three networks each, with fifteen properties. */
  transfers: { parts: 1_500_000, levels: 16 },
  service: { parts: 400_000, levels: 64 },
} satisfies Record<string, JsonLimits>;

/** Options of the `ws` library, for each socket. */
export const socketLimits = {
  /** The longest frame in fragments of one TCP segment has 3,000. */
  maxFragments: 4096,
  /** Chunks of a frame that is not complete yet. */
  maxBufferedChunks: 4096,
  perMessageDeflate: false,
};

/** Bytes before a WebSocket is open: interim answers, and the head of the upgrade. */
export const maxHandshakeBytes = 4 * maxHeadBytes;

/**
 * Calls `onExceeded` once if more bytes than `maxBytes` arrive, or they arrive in more than `maxPieces`.
 *
 * @returns a function that stops counting
 */
export function limitArrival(
  socket: Socket,
  { maxBytes, maxPieces = maxChunks }: { maxBytes: number; maxPieces?: number },
  onExceeded: () => void,
): () => void {
  let bytes = 0;
  let pieces = 0;

  function count({ length }: Buffer): void {
    bytes += length;
    pieces += 1;
    if (bytes <= maxBytes && pieces <= maxPieces) return;
    stop();
    onExceeded();
  }

  function stop(): void {
    socket.off("data", count);
  }

  socket.on("data", count);
  return stop;
}

/** The bytes of one answer. */
export interface AnswerBody {
  /** Returns whether it is still within its limits; if not, the chunk is not added. */
  add(chunk: Buffer): boolean;
  bytes(): Buffer;
}

/**
 * Most answers arrive in one chunk, which is kept without copying. A server may also send a mebibyte in chunks of one
 * byte: as separate objects they would take a hundred times as much memory.
 */
export function makeAnswerBody(maxBytes: number): AnswerBody {
  let held: Buffer = Buffer.alloc(0);
  let length = 0;
  let chunks = 0;

  return {
    add(chunk) {
      const needed = length + chunk.length;
      chunks += 1;
      if (needed > maxBytes || chunks > maxChunks) return false;
      if (length === 0) held = chunk;
      else {
        if (needed > held.length)
          held = grownBuffer(held, length, Math.min(Math.max(needed, 2 * held.length), maxBytes));
        chunk.copy(held, length);
      }
      length = needed;
      return true;
    },
    bytes: () => held.subarray(0, length),
  };
}

function grownBuffer(held: Buffer, length: number, to: number): Buffer {
  const larger = Buffer.allocUnsafe(to);
  held.copy(larger, 0, 0, length);
  return larger;
}
