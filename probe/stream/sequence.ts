import { parsePath } from "../../shared/registry/json-path.js";
import type { Sequence } from "../../shared/registry/registry.js";

/** Checks that a stream's frames follow each other on one socket. */
export interface SequenceWatch {
  /** Records a parsed frame. Returns whether numbers before it are missing or out of order. */
  isGap(frame: unknown): boolean;
  /** Must be called for a new socket, whose numbers may begin anywhere. */
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
      // Beyond 2^53 a number cannot be distinguished from the next one.
      if (!Number.isSafeInteger(last)) return false;
      // A frame without a previous number is a snapshot, and starts the sequence again.
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
 * A frame's information about the one before: the first number that it covers itself, or the last number of the
 * previous frame; NaN if it has none.
 */
function compileNumberBefore(sequence: Sequence): (frame: unknown) => number {
  if (sequence.kind === "counter") return () => NaN;
  return compileNumber(sequence.kind === "range" ? sequence.first : sequence.previous);
}

/** A number, or a string as `Number()` reads it; NaN for anything else. */
function compileNumber(path: string): (frame: unknown) => number {
  const valueOf = parsePath(path);
  return (frame) => {
    const value = valueOf(frame);
    return typeof value === "number" || typeof value === "string" ? Number(value) : NaN;
  };
}
