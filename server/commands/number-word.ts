import { UserError } from "../../shared/process/user-error.js";

/**
 * Parses the number of a channel or a delivery.
 *
 * @param noun whose `list` command shows the numbers
 */
export function numberWord(noun: "channel" | "delivery", word: string): number {
  if (/^[1-9]\d{0,8}$/.test(word)) return Number(word);
  // a long word may be a secret whose option was forgotten
  const shown = word.length > 20 ? "something else" : JSON.stringify(word);
  throw new UserError(`expected the number of a ${noun}, got ${shown}; venuewatch ${noun} list shows them`);
}
