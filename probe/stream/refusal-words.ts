/**
 * How a venue put its refusal, for the log and for the evidence of an incident, which is public: on one line, short,
 * and without what may be ours.
 */

/** What is longer says nothing more. */
const mostCharacters = 200;

/** Where venues put their reasons; the codes come first, as the words alone are often vague. */
const places = ["code", "error", "message", "msg", "reason", "ret_msg", "data"];

/** What moves cursors, breaks lines or turns the direction of writing. */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu;

/** Addresses: a venue that blocks us may name ours. */
const addresses = /\b\d{1,3}(\.\d{1,3}){3}\b|\b[0-9a-f]{1,4}(:[0-9a-f]{1,4})*(::[0-9a-f:]*|(:[0-9a-f]{1,4}){5,})/gi;

/** Marks of a connection or a client, and all that looks like a key: long, and letters and digits mixed. */
const marks = /\b(?=\w*\d)(?=\w*[a-z])[\w-]{24,}\b/gi;

/** @param frame that refuses something; whatever the venue sent */
export function refusalWords(frame: unknown): string {
  const words = reasonsIn(frame).join(" ") || outlined(frame);
  const clean = words
    // what is cut off later need not be cleaned to its end
    .slice(0, 20 * mostCharacters)
    .replace(unseen, " ")
    .replace(addresses, "[address]")
    .replace(marks, "[…]")
    .trim();
  // whole characters, and no halves of a pair, which the database would refuse
  const characters = [...Buffer.from(clean).toString()];
  return characters.slice(0, mostCharacters).join("");
}

/** Frames may be nested without end. */
const deepest = 3;

function reasonsIn(value: unknown, depth = 0): string[] {
  if (typeof value === "string" || typeof value === "number") return value === "" ? [] : [String(value)];
  if (!isFields(value) || depth > deepest) return [];
  return places.flatMap((place) => (Object.hasOwn(value, place) ? reasonsIn(value[place], depth + 1) : []));
}

/** The frame itself, where it gives no reason. */
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
