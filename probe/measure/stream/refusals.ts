import { withoutHidden } from "../../../shared/text/secrets.js";
import type { Subscription } from "./subscription.js";

/**
 * Finds the subscription that a frame refuses.
 *
 * Venues express it as `{"error":…}`, `{"success":false}`, `{"result":false}`, `{"event":"error"}`, `{"type":"error"}`,
 * `{"channel":"rs.error"}`, `{"event":"alert"}`, `{"status":"error"}`, `{"status":400}` or `{"code":2,"message":…}`, or
 * answer with an empty list of served streams. They name the subscription by its id, its arguments or its channel. A
 * refusal that names none is attributed to the only stream without data, if there is exactly one.
 *
 * @param asked streams that the probe has subscribed to
 * @param silent those of them that have not sent data
 */
export function refusedSubscription(
  frame: unknown,
  asked: readonly Subscription[],
  silent: readonly Subscription[],
): Subscription | null {
  if (!isFields(frame) || !isRefusal(frame)) return null;
  const named = asked.find((subscription) => namesSubscription(frame, subscription.stream.subscribe));
  if (named) return silent.includes(named) ? named : null;
  return silent.length === 1 ? silent[0]! : null;
}

/** Whether a frame refuses something. */
export function isRefusal(frame: unknown): boolean {
  if (!isFields(frame)) return false;
  const { error, success, result, event, type, channel, status, code, message, msg } = frame;
  return (
    error != null ||
    success === false ||
    result === false ||
    result === "false" ||
    (Array.isArray(result) && result.length === 0) ||
    event === "alert" ||
    [event, type, channel, status].some(isErrorWord) ||
    (typeof status === "number" && status >= 400) ||
    (typeof code === "number" && code !== 0 && code !== 200 && typeof (message ?? msg) === "string")
  );
}

/** A frame may contain anything, so the type is checked first: converting a value to a string may throw. */
function isErrorWord(word: unknown): boolean {
  return typeof word === "string" && /(^|[:.])error$/.test(word);
}

// The text of a venue's refusal, for the log and for the public evidence of an incident: a short single line, without
// anything that may identify this probe, and without our credentials.

/** Longer texts are truncated: the rest adds nothing. */
const mostCharacters = 200;

/** Fields in which venues state their reasons. Codes come first, because the words alone are often vague. */
const reasonFields = ["code", "err-code", "error", "message", "err-msg", "msg", "reason", "ret_msg", "data"];

/** Characters that move the cursor, break lines or change the writing direction. */
const blanks = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu;

/** IP addresses: a venue that blocks us may state ours. */
const ipAddresses = /\b\d{1,3}(\.\d{1,3}){3}\b|\b[0-9a-f]{1,4}(:[0-9a-f]{1,4})*(::[0-9a-f:]*|(:[0-9a-f]{1,4}){5,})/gi;

/** Ids of a connection or client, and everything that looks like a key: long, with letters and digits mixed. */
const identifiers = /\b(?=\w*\d)(?=\w*[a-z])[\w-]{24,}\b/gi;

/** @param frame a refusal, of any shape */
export function refusalWords(frame: unknown): string {
  const words = reasonsIn(frame).join(" ") || outlineOf(frame);
  // bounds the work: the result is truncated anyway
  const clean = withoutHidden(words.slice(0, 20 * mostCharacters))
    .replace(blanks, " ")
    .replace(ipAddresses, "[address]")
    .replace(identifiers, "[…]")
    .trim();
  // truncated by whole characters: the database would refuse half a surrogate pair
  const characters = [...Buffer.from(clean).toString()];
  return characters.slice(0, mostCharacters).join("");
}

/** Frames may be nested to any depth. */
const deepestNesting = 3;

function reasonsIn(value: unknown, depth = 0): string[] {
  if (typeof value === "string" || typeof value === "number") return value === "" ? [] : [String(value)];
  if (!isFields(value) || depth > deepestNesting) return [];
  return reasonFields.flatMap((place) => (Object.hasOwn(value, place) ? reasonsIn(value[place], depth + 1) : []));
}

/** An outline of the frame itself, used if it gives no reason. */
function outlineOf(frame: unknown): string {
  if (!isFields(frame)) return "";
  const fields = Object.entries(frame).map(([key, value]) => `${key}: ${briefValue(value)}`);
  return `{${fields.join(", ")}}`;
}

function briefValue(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? "[]" : "[…]";
  return isFields(value) ? "{…}" : JSON.stringify(value);
}

type Fields = Record<string, unknown>;

export function namesSubscription(frame: Fields, subscribe: unknown): boolean {
  if (!isFields(subscribe)) return false;
  const id = frame.id ?? frame.req_id;
  if (id != null) return id === (subscribe.id ?? subscribe.req_id);
  const args = Array.isArray(subscribe.args) ? subscribe.args : [];
  if (frame.arg != null) return args.some((arg) => echoesArgument(frame.arg, arg));
  const channel = frame.channel ?? frame.feed;
  return channel != null && channel === (subscribe.channel ?? subscribe.feed);
}

/** Whether a received argument names the one that was sent; arguments are strings, or objects of strings. */
function echoesArgument(came: unknown, sent: unknown): boolean {
  if (!isFields(sent) || !isFields(came)) return came === sent;
  return Object.entries(sent).every(([key, word]) => Object.hasOwn(came, key) && came[key] === word);
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
