/** A venue's statements about itself on a socket, in frames that are no stream's data. */
import { parsePath } from "../../shared/registry/json-path.js";
import type { Condition, SocketConfig } from "../../shared/registry/registry.js";
import { alternativesOf, compileAnyOf, compileConditions } from "../rest/checks.js";

export interface FrameWords {
  /** Records a frame. Returns whether it refuses our country or address, or asks us to wait. */
  hear(frame: unknown): "blocked" | "limited" | null;
  /** Whether the venue has said that it does not trade, and has not said otherwise since. */
  isHalted: () => boolean;
}

/** @param words of the registry; a frame that is not JSON is a text at `$` */
export function makeFrameWords({
  blocked,
  limited,
  halted,
}: Pick<SocketConfig, "blocked" | "limited" | "halted">): FrameWords {
  const isBlock = compileAnyOf(blocked);
  const isLimit = compileAnyOf(limited);
  const tests = alternativesOf(halted).map((conditions) => ({
    holds: compileConditions(conditions),
    isAnswered: compileAnswered(conditions),
  }));
  /** Tests that held. Each is over when a frame says something else in the same places. */
  const holding = new Set<(typeof tests)[number]>();

  return {
    hear(frame) {
      for (const test of tests)
        if (test.holds(frame)) holding.add(test);
        else if (test.isAnswered(frame)) holding.delete(test);
      if (isBlock(frame)) return "blocked";
      return isLimit(frame) ? "limited" : null;
    },
    isHalted: () => holding.size > 0,
  };
}

/** Whether a frame has values at all paths of the conditions. */
function compileAnswered(conditions: readonly Condition[]): (frame: unknown) => boolean {
  const values = conditions.flatMap((condition) => ("path" in condition ? parsePath(condition.path) : []));
  return (frame) => values.every((valueOf) => valueOf(frame) != null);
}
