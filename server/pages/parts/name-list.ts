import { isolated } from "./isolated.js";

/** `OKX, Kraken and 13 more`. */
export function nameList(names: readonly string[], most = 5): string {
  const shown = names.length > most + 1 ? names.slice(0, most) : [...names];
  const last = names.length > shown.length ? `${names.length - shown.length} more` : null;
  const texts = shown.map(isolated);
  const end = last ?? texts.pop() ?? "";
  return texts.length === 0 ? end : `${texts.join(", ")} and ${end}`;
}
