import { UserError } from "../../shared/process/user-error.js";
import { didYouMean } from "../../shared/text/nearest-word.js";

/** The value of an option that must be one of the given words. */
export function oneOf<Word extends string>(option: string, words: readonly Word[], value: string | undefined): Word {
  const word = words.find((word) => word === value);
  if (word !== undefined) return word;
  const got = value === undefined ? "nothing" : JSON.stringify(value);
  const hint = value === undefined ? "" : didYouMean(value, words);
  throw new UserError(`${option}: expected one of ${words.join(", ")}, got ${got}${hint}`);
}
