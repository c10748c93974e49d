import { UserError } from "../../shared/process/user-error.js";

/** The value of an option that takes some words only. */
export function oneOf<Word extends string>(option: string, words: readonly Word[], value: string | undefined): Word {
  const word = words.find((word) => word === value);
  if (word !== undefined) return word;
  throw new UserError(
    `${option}: expected ${words.join(", ")}, got ${value === undefined ? "nothing" : JSON.stringify(value)}`,
  );
}
