import { UserError } from "../../shared/process/user-error.js";
import { nearestWord } from "../../shared/text/nearest-word.js";

/** The value of an option that must be one of the given words. */
export function oneOf<Word extends string>(option: string, words: readonly Word[], value: string | undefined): Word {
  const word = words.find((word) => word === value);
  if (word !== undefined) return word;
  const near = value === undefined ? null : nearestWord(value, words);
  throw new UserError(
    `${option}: expected one of ${words.join(", ")}, got ${value === undefined ? "nothing" : JSON.stringify(value)}` +
      (near === null ? "" : `; did you mean ${near}?`),
  );
}
