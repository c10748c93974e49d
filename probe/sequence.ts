import type { Sequence } from "../server/registry.js";

/** Tells whether a stream's frames follow each other, on one socket. */
export interface SequenceWatch {
  /**
   * A frame came.
   *
   * @param last its number, or the last of those it covers; NaN where it bears none
   * @param before what it says of the frame before: the first number that it covers itself, or the last of that frame
   * @returns whether numbers are missing before it, or stand in another order
   */
  isGap(last: number, before: number): boolean;
  /** Another socket: its numbers may begin anywhere. */
  restart(): void;
}

export function watchSequence(kind: Sequence["kind"]): SequenceWatch {
  let newest = NaN;

  function follows(last: number, before: number): boolean {
    if (kind === "counter") return last === newest + 1;
    return kind === "range" ? before === newest + 1 : before === newest;
  }

  return {
    isGap(last, before) {
      // Beyond 2^53 a number cannot be told from the next one.
      if (!Number.isSafeInteger(last)) return false;
      // A frame that names none before it begins anew: a snapshot.
      const begins =
        Number.isNaN(newest) || (kind !== "counter" && Number.isNaN(before));
      const isGap = !begins && !follows(last, before);
      newest = last;
      return isGap;
    },
    restart() {
      newest = NaN;
    },
  };
}
