import { parsePath } from "../../shared/registry/json-path.js";
import type { Sequence } from "../../shared/registry/registry.js";

/** Tells whether a stream's frames follow each other, on one socket. */
export interface SequenceWatch {
  /** A parsed frame came. Returns whether numbers are missing before it, or stand in another order. */
  isGap(frame: unknown): boolean;
  /** Another socket: its numbers may begin anywhere. */
  restart(): void;
}

export function watchSequence(sequence: Sequence): SequenceWatch {
  const { kind } = sequence;
  const lastOf = compileNumber(sequence.path);
  const beforeOf = compileNumberBefore(sequence);
  let newest = NaN;

  function follows(last: number, before: number): boolean {
    if (kind === "counter") return last === newest + 1;
    return kind === "range" ? before === newest + 1 : before === newest;
  }

  return {
    isGap(frame) {
      const last = lastOf(frame);
      const before = beforeOf(frame);
      // Beyond 2^53 a number cannot be told from the next one.
      if (!Number.isSafeInteger(last)) return false;
      // A frame that names none before it begins again: a snapshot.
      const begins = Number.isNaN(newest) || (kind !== "counter" && Number.isNaN(before));
      const isGap = !begins && !follows(last, before);
      newest = last;
      return isGap;
    },
    restart() {
      newest = NaN;
    },
  };
}

/**
 * What a frame says of the one before: the first number that it covers itself, or the last of that frame; NaN where it
 * says none.
 */
function compileNumberBefore(sequence: Sequence): (frame: unknown) => number {
  if (sequence.kind === "counter") return () => NaN;
  return compileNumber(sequence.kind === "range" ? sequence.first : sequence.previous);
}

/** A number, or a text as `Number()` reads it; NaN for what is neither. */
function compileNumber(path: string): (frame: unknown) => number {
  const valueOf = parsePath(path);
  return (frame) => {
    const value = valueOf(frame);
    return typeof value === "number" || typeof value === "string" ? Number(value) : NaN;
  };
}
