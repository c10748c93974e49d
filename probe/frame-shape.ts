import {
  chars,
  containerEnd,
  isClosed,
  kinds,
  plainEnd,
  textEnd,
  wordEnd,
  wordKind,
} from "./json-bytes.js";

const { quote, backslash, openObject, openArray } = chars;

/**
 * What a scan did with one frame, so that it can be done again with frames that are built alike.
 *
 * Venues write the same keys in the same order. What a scan does depends on the keys, on the kinds of the values and
 * on those few values that tell streams apart; a frame in which these are the same bytes is scanned the same way, and
 * its keys need not be looked up. All between two values is compared, each value is passed over.
 */
export interface Shape {
  /** The bytes between the values, and those values that must be the same. */
  fixed: Uint8Array;
  /** For each step how many fixed bytes stand before it, what it is, and whose value; -1: nobody's. */
  steps: Int32Array;
  /** The scan went to the frame's end; else it ended as soon as nothing more was wanted. */
  isWhole: boolean;
}

/** What is done at a place. */
export const steps = {
  /** Pass over a text, from behind its opening quote to its closing one. */
  text: 0,
  /** Pass over a number or a word. */
  word: 1,
  /** Pass over a number that is wanted. */
  number: 2,
  /** Pass over a container. */
  container: 3,
  /** Pass over what is left of a container. */
  rest: 4,
  /** Nothing more. */
  none: 5,
} as const;

/** What stands at each path, and where. */
export interface Found {
  kindOf: Uint8Array;
  from: Int32Array;
  to: Int32Array;
  /** 1: a text with escapes. */
  escaped: Uint8Array;
}

/** Longer ones are no frames of a stream that is worth it. */
const maxSteps = 100;
const maxFixedBytes = 2048;

export interface ShapeRecorder {
  begin(frame: Buffer): void;
  step(kind: number, from: number, to: number, path: number): void;
  /** The value that ends before `to` must be the same, and so must what closes it. */
  same(to: number): void;
  /** @param isWhole the scan went to the end of the frame */
  end(isJson: boolean, isWhole: boolean): void;
  shape(): Shape | null;
}

export function makeShapeRecorder(): ShapeRecorder {
  let frame: Buffer = Buffer.alloc(0);
  let told: number[] = [];
  let parts: Uint8Array[] = [];
  let at = 0;
  let sameTo = 0;
  let shape: Shape | null = null;

  function step(kind: number, from: number, to: number, path: number) {
    if (told.length > 3 * maxSteps) return;
    told.push(from - at, kind, path);
    parts.push(frame.subarray(at, from));
    at = to;
  }

  return {
    begin(scanned) {
      frame = scanned;
      told = [];
      parts = [];
      at = 0;
      sameTo = 0;
      shape = null;
    },
    step,
    same(to) {
      sameTo = to + 1;
    },
    end(isJson, isWhole) {
      const last = isWhole ? frame.length : Math.max(at, sameTo);
      step(steps.none, last, last, -1);
      // Copied: the frame lies in memory that is used again.
      const fixed = new Uint8Array(Buffer.concat(parts));
      const isKept =
        isJson &&
        isBare(frame) &&
        last <= frame.length &&
        told.length <= 3 * maxSteps &&
        fixed.length <= maxFixedBytes;
      if (isKept) shape = { fixed, steps: Int32Array.from(told), isWhole };
      parts = [];
    },
    shape: () => shape,
  };
}

/**
 * Does again what was done with the frame that had this shape.
 *
 * @returns whether the frame has it too; if not, it is to be scanned, and nothing is to be read of `found`
 */
export function fits(
  { fixed, steps: told, isWhole }: Shape,
  frame: Buffer,
  { kindOf, from, to, escaped }: Found,
): boolean {
  if (!isBare(frame)) return false;
  const end = frame.length;
  for (let path = 0; path < kindOf.length; path += 1)
    kindOf[path] = kinds.absent;
  let at = 0;
  let compared = 0;
  for (let i = 0; i < told.length; i += 3) {
    const comparedTo = compared + told[i]!;
    if (at + told[i]! > end) return false;
    for (; compared < comparedTo; compared += 1, at += 1)
      if (frame[at] !== fixed[compared]) return false;
    const step = told[i + 1];
    const path = told[i + 2]!;
    if (step === steps.none) return !isWhole || at === end;
    const begun = at;
    if (step === steps.text) {
      at = plainEnd(frame, at, end);
      if (path >= 0) {
        if (frame[at] !== quote) return false;
        kindOf[path] = kinds.string;
        from[path] = begun;
        to[path] = at;
        escaped[path] = 0;
      } else if (frame[at] === backslash) at = textEnd(frame, at, end) - 1;
    } else if (step === steps.number) {
      at = wordEnd(frame, at, end);
      if (wordKind(frame, begun, at) !== kinds.number) return false;
      kindOf[path] = kinds.number;
      from[path] = begun;
      to[path] = at;
    } else if (step === steps.word) {
      const first = frame[at];
      if (first === quote || first === openObject || first === openArray)
        return false;
      at = wordEnd(frame, at, end);
      if (at === begun) return false;
    } else {
      if (step === steps.container) {
        if (frame[at] !== openObject && frame[at] !== openArray) return false;
        at += 1;
      }
      at = containerEnd(frame, at, end);
    }
    if (at < 0) return false;
  }
  return false;
}

/** A frame without blanks around it, that closes what it opens. */
function isBare(frame: Buffer): boolean {
  const first = frame[0];
  return (
    (first === openObject || first === openArray) &&
    isClosed(first, frame[frame.length - 1]!, frame.length)
  );
}
