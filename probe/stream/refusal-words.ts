/**
 * The text of a venue's refusal, for the log and for the public evidence of an incident: a short single line, without
 * anything that may identify this probe, and without our credentials.
 */

import { withoutHidden } from "../../shared/text/hidden-text.js";

/** Longer texts are truncated: the rest adds nothing. */
const mostCharacters = 200;

/** Fields in which venues state their reasons. Codes come first, because the words alone are often vague. */
const places = ["code", "error", "message", "msg", "reason", "ret_msg", "data"];

/** Characters that move the cursor, break lines or change the writing direction. */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu;

/** IP addresses: a venue that blocks us may state ours. */
const addresses = /\b\d{1,3}(\.\d{1,3}){3}\b|\b[0-9a-f]{1,4}(:[0-9a-f]{1,4})*(::[0-9a-f:]*|(:[0-9a-f]{1,4}){5,})/gi;

/** Ids of a connection or client, and everything that looks like a key: long, with letters and digits mixed. */
const marks = /\b(?=\w*\d)(?=\w*[a-z])[\w-]{24,}\b/gi;

/** @param frame a refusal, of any shape */
export function refusalWords(frame: unknown): string {
  const words = reasonsIn(frame).join(" ") || outlined(frame);
  // bounds the work: the result is truncated anyway
  const clean = withoutHidden(words.slice(0, 20 * mostCharacters))
    .replace(unseen, " ")
    .replace(addresses, "[address]")
    .replace(marks, "[…]")
    .trim();
  // truncated by whole characters: the database would refuse half a surrogate pair
  const characters = [...Buffer.from(clean).toString()];
  return characters.slice(0, mostCharacters).join("");
}

/** Frames may be nested to any depth. */
const deepest = 3;

function reasonsIn(value: unknown, depth = 0): string[] {
  if (typeof value === "string" || typeof value === "number") return value === "" ? [] : [String(value)];
  if (!isFields(value) || depth > deepest) return [];
  return places.flatMap((place) => (Object.hasOwn(value, place) ? reasonsIn(value[place], depth + 1) : []));
}

/** An outline of the frame itself, used if it gives no reason. */
function outlined(frame: unknown): string {
  if (!isFields(frame)) return "";
  const fields = Object.entries(frame).map(([key, value]) => `${key}: ${brief(value)}`);
  return `{${fields.join(", ")}}`;
}

function brief(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? "[]" : "[…]";
  return isFields(value) ? "{…}" : JSON.stringify(value);
}

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
