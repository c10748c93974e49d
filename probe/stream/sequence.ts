import type { Sequence } from "../../shared/registry/registry.js";

export interface FrameNumbers {
  /** That of the frame, or the last of those it covers; NaN where it bears none. */
  last: number;
  /** What it says of the frame before: the first number that it covers itself, or the last of that frame; NaN where it says none. */
  before: number;
}

/** Tells whether a stream's frames follow each other, on one socket. */
export interface SequenceWatch {
  /** A frame came. Returns whether numbers are missing before it, or stand in another order. */
  isGap(numbers: FrameNumbers): boolean;
  /** Another socket: its numbers may begin anywhere. */
  restart(): void;
}

export function watchSequence(kind: Sequence["kind"]): SequenceWatch {
  // Of a variable every new number is an object.
  const newest = new Float64Array([NaN]);

  function follows(last: number, before: number): boolean {
    const known = newest[0]!;
    if (kind === "counter") return last === known + 1;
    return kind === "range" ? before === known + 1 : before === known;
  }

  return {
    isGap({ last, before }) {
      // Beyond 2^53 a number cannot be told from the next one.
      if (!Number.isSafeInteger(last)) return false;
      // A frame that names none before it begins again: a snapshot.
      const begins =
        Number.isNaN(newest[0]) || (kind !== "counter" && Number.isNaN(before));
      const isGap = !begins && !follows(last, before);
      newest[0] = last;
      return isGap;
    },
    restart() {
      newest[0] = NaN;
    },
  };
}
