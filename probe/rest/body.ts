/** The bytes of one answer. */
export interface AnswerBody {
  add(chunk: Buffer): void;
  bytes(): Buffer;
}

/**
 * Most answers arrive in one chunk, which is kept without copying. A server may also send a mebibyte in chunks of one
 * byte: as separate objects they would take a hundred times as much memory.
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
