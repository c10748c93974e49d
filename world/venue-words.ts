/** A venue's statements about itself instead of an answer, in its own words, which its registry entry knows. */
import type { AnyOf, Condition, Venue } from "../shared/registry/registry.js";
import type { FaultKind, ScriptedFault } from "./faults.js";
import { built, holding, merged } from "./venues/any.js";

/** An endpoint or a socket. */
type Speaker = Pick<Venue["rest"][number], "blocked" | "limited" | "halted">;

const wordsFor: Partial<Record<FaultKind, keyof Speaker>> = {
  "blocked-inside": "blocked",
  "limited-inside": "limited",
  halted: "halted",
};

/** Whether a fault of this kind is a venue's statement about itself. */
export function isSpoken(kind: FaultKind): boolean {
  return kind in wordsFor;
}

export function hasWordsFor(kind: FaultKind, speaker: Speaker): boolean {
  return wordsOf(kind, speaker) !== undefined;
}

/** The smallest answer that says it; a text stands for a page. Undefined: the speaker has no words for this fault. */
export function saidBy(speaker: Speaker, fault: ScriptedFault | undefined): unknown {
  const words = fault && wordsOf(fault.kind, speaker);
  return words && whole(firstOf(words).map((condition) => holding(condition, 0)));
}

/** The smallest answer that says the opposite in the same places: what ends a frame's `halted`. */
export function recantedBy(speaker: Speaker, kind: FaultKind): unknown {
  const words = wordsOf(kind, speaker);
  if (words === undefined) return undefined;
  const conditions = firstOf(words);
  const last = conditions.at(-1)!;
  return whole([...conditions.slice(0, -1).map((condition) => holding(condition, 0)), opposite(last)]);
}

function wordsOf(kind: FaultKind, speaker: Speaker): AnyOf | undefined {
  const field = wordsFor[kind];
  return field && speaker[field];
}

/** The conditions of the first alternative, which must all hold. */
function firstOf(words: AnyOf): Condition[] {
  if (!Array.isArray(words)) return [words];
  const [first] = words;
  return Array.isArray(first) ? first : (words as Condition[]);
}

function whole(parts: unknown[]): unknown {
  return parts.reduce(merged);
}

function opposite(condition: Condition): unknown {
  if (!("equals" in condition) || condition.equals === undefined)
    throw new Error(`expected words with a value, got ${JSON.stringify(condition)}`);
  const values = [condition.equals].flat();
  const [value] = values;
  if (typeof value === "boolean") return built(condition.path, !value);
  return built(condition.path, typeof value === "number" ? Math.max(...values.map(Number)) + 1 : "online");
}
