/** The bytes of one answer. */
export interface AnswerBody {
  add(chunk: Buffer): void;
  bytes(): Buffer;
}

/**
 * Most answers come in one piece, which is kept as it is. A server may also send a mebibyte in pieces of one byte: as
 * objects of their own they would be a hundred times as large.
 */
export function makeBody(): AnswerBody {
  let held: Buffer = Buffer.alloc(0);
  let length = 0;

  return {
    add(chunk) {
      if (length === 0) held = chunk;
      else {
        const needed = length + chunk.length;
        if (needed > held.length) held = grown(held, length, needed);
        chunk.copy(held, length);
      }
      length += chunk.length;
    },
    bytes: () => held.subarray(0, length),
  };
}

function grown(held: Buffer, length: number, needed: number): Buffer {
  const larger = Buffer.allocUnsafe(Math.max(needed, 2 * held.length));
  held.copy(larger, 0, 0, length);
  return larger;
}
