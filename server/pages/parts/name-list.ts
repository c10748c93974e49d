import { isolated } from "./isolated.js";
import { listWords } from "../words.js";

/** `OKX, Kraken and 13 more`. */
export function nameList(names: readonly string[], most = 5): string {
  const shown = names.length > most + 1 ? names.slice(0, most) : [...names];
  const last = names.length > shown.length ? listWords.more(names.length - shown.length) : null;
  const texts = shown.map(isolated);
  const end = last ?? texts.pop() ?? "";
  return texts.length === 0 ? end : `${texts.join(", ")}${listWords.and}${end}`;
}
