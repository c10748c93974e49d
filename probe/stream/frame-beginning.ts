/** How frames begin, compared eight bytes at a time: most frames are known by no more than that. */
import { isClosed } from "./json-bytes.js";

/** What bytes of a beginning have to be. */
export const bytesAre = { same: 0, digits: 1, any: 2 } as const;
export type BytesAre = (typeof bytesAre)[keyof typeof bytesAre];

export interface Beginning {
  length: number;
  first: number;
  /** Eight bytes that are the same, as one number, and where they stand. */
  words: Float64Array;
  wordsAt: Int32Array;
  /** What is the same and stands in no such eight. */
  bytes: Uint8Array;
  bytesAt: Int32Array;
  /** Where four digits stand, and where one. */
  foursAt: Int32Array;
  digitsAt: Int32Array;
}

/** Digits, and what stands behind them in ASCII (`:;<=>?`), are these in their upper half. */
const digit = 0x30;
const upperHalf = 0xf0;
const fourDigits = 0x30303030;
const fourUpperHalves = 0xf0f0f0f0 | 0;

/**
 * @param bytes the beginning of one of the frames
 * @param are which of its digits have to be the same
 * @returns null where it cannot be compared so
 */
export function beginningOf(
  bytes: Buffer,
  are: (at: number) => BytesAre,
): Beginning | null {
  // Eight bytes of these are equal as a number to themselves alone: it is neither zero, which has a sign, nor NaN.
  if (bytes.some((byte) => byte === 0 || byte > 0x7e)) return null;
  const classes = Array.from(bytes, (byte, at) =>
    isDigit(byte) ? are(at) : bytesAre.same,
  );
  const same = pieces(classes, bytesAre.same, 8);
  const digits = pieces(classes, bytesAre.digits, 4);
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  return {
    length: bytes.length,
    first: bytes[0]!,
    words: Float64Array.from(same.whole, (at) => view.getFloat64(at, true)),
    wordsAt: Int32Array.from(same.whole),
    bytes: Uint8Array.from(same.single, (at) => bytes[at]!),
    bytesAt: Int32Array.from(same.single),
    foursAt: Int32Array.from(digits.whole),
    digitsAt: Int32Array.from(digits.single),
  };
}

/** Where pieces of `size` bytes of this class begin, which may overlap, and the bytes between other ones that are too few for that. */
function pieces(classes: BytesAre[], wanted: BytesAre, size: number) {
  const whole: number[] = [];
  const single: number[] = [];
  let from = 0;
  for (let at = 0; at < classes.length; at += 1) {
    if (classes[at] !== wanted) {
      from = at + 1;
      continue;
    }
    const isLast = classes[at + 1] !== wanted;
    const length = at + 1 - from;
    if (length % size === 0 || (isLast && length > size))
      whole.push(at + 1 - size);
    else if (isLast) for (let one = from; one <= at; one += 1) single.push(one);
  }
  return { whole, single };
}

export interface BeginningMatcher {
  /** The frame that is asked about from here on: to ask a frame for its buffer takes longer than to compare a short beginning. */
  look(frame: Buffer): void;
  /** Whether that frame begins so, and its last byte closes what its first opens. */
  begins(frame: Buffer, beginning: Beginning): boolean;
}

export function makeBeginningMatcher(): BeginningMatcher {
  // Frames that came in one piece are parts of one buffer.
  let viewed = new ArrayBuffer(0) as ArrayBufferLike;
  let view = new DataView(viewed);
  let byteOffset = 0;

  return {
    look(frame) {
      const { buffer } = frame;
      byteOffset = frame.byteOffset;
      if (buffer === viewed) return;
      viewed = buffer;
      view = new DataView(viewed);
    },
    begins(frame, beginning) {
      const { length } = frame;
      if (length < beginning.length) return false;
      const { words, wordsAt, bytes, bytesAt, foursAt, digitsAt } = beginning;
      // What tells the frames of a socket from each other stands at the end of it.
      let i = words.length - 1;
      // four at a time, which takes a tenth less of a long beginning
      for (; i >= 3; i -= 4)
        if (
          view.getFloat64(byteOffset + wordsAt[i]!, true) !== words[i] ||
          view.getFloat64(byteOffset + wordsAt[i - 1]!, true) !==
            words[i - 1] ||
          view.getFloat64(byteOffset + wordsAt[i - 2]!, true) !==
            words[i - 2] ||
          view.getFloat64(byteOffset + wordsAt[i - 3]!, true) !== words[i - 3]
        )
          return false;
      for (; i >= 0; i -= 1)
        if (view.getFloat64(byteOffset + wordsAt[i]!, true) !== words[i])
          return false;
      for (i = bytes.length - 1; i >= 0; i -= 1)
        if (frame[bytesAt[i]!] !== bytes[i]) return false;
      for (i = 0; i < foursAt.length; i += 1) {
        const four = view.getInt32(byteOffset + foursAt[i]!, true);
        if ((four & fourUpperHalves) !== fourDigits) return false;
      }
      for (i = 0; i < digitsAt.length; i += 1)
        if ((frame[digitsAt[i]!]! & upperHalf) !== digit) return false;
      return isClosed(beginning.first, frame[length - 1]!, length);
    },
  };
}

function isDigit(byte: number): boolean {
  return byte >= digit && byte <= digit + 9;
}
