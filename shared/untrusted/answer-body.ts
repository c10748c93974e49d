import { maxChunks } from "./limits.js";

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
        if (needed > held.length) held = grown(held, length, Math.min(Math.max(needed, 2 * held.length), maxBytes));
        chunk.copy(held, length);
      }
      length = needed;
      return true;
    },
    bytes: () => held.subarray(0, length),
  };
}

function grown(held: Buffer, length: number, to: number): Buffer {
  const larger = Buffer.allocUnsafe(to);
  held.copy(larger, 0, 0, length);
  return larger;
}
