import { UserError } from "../../shared/process/user-error.js";

/**
 * The number of a channel or of a delivery.
 *
 * @param of "channel" or "delivery"; its `list` shows them
 */
export function numberWord(of: string, word: string): number {
  if (/^[1-9]\d{0,8}$/.test(word)) return Number(word);
  // a long word may be a secret that missed its option
  const came = word.length > 20 ? "something else" : JSON.stringify(word);
  throw new UserError(`expected the number of a ${of}, got ${came}; venuewatch ${of} list shows them`);
}
