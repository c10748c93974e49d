import type { Subscription } from "./subscription.js";

type Fields = Record<string, unknown>;

/**
 * Finds the subscription that a frame refuses.
 *
 * Venues express it as `{"error":…}`, `{"success":false}`, `{"result":false}`, `{"event":"error"}`, `{"type":"error"}`,
 * `{"event":"alert"}` or `{"status":400}`, or answer with an empty list of served streams. They name the subscription
 * by its id, its arguments or its channel. A refusal that names none is attributed to the only stream without data, if
 * there is exactly one.
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
  const named = asked.find((subscription) => names(frame, subscription.stream.subscribe));
  if (named) return silent.includes(named) ? named : null;
  return silent.length === 1 ? silent[0]! : null;
}

/** Whether a refusal does not name its subscription, so that it may concern any of `asked`. */
export function namesNone(frame: unknown, asked: readonly Subscription[]): boolean {
  return isFields(frame) && !asked.some((subscription) => names(frame, subscription.stream.subscribe));
}

/** Whether a frame refuses something. */
export function isRefusal(frame: unknown): boolean {
  if (!isFields(frame)) return false;
  const { error, success, result, event, type, status } = frame;
  return (
    error != null ||
    success === false ||
    result === false ||
    result === "false" ||
    (Array.isArray(result) && result.length === 0) ||
    event === "alert" ||
    [event, type].some(isErrorWord) ||
    (typeof status === "number" && status >= 400)
  );
}

/** A frame may contain anything, so the type is checked first: converting a value to a string may throw. */
function isErrorWord(word: unknown): boolean {
  return typeof word === "string" && /(^|:)error$/.test(word);
}

function names(frame: Fields, subscribe: unknown): boolean {
  if (!isFields(subscribe)) return false;
  const id = frame.id ?? frame.req_id;
  if (id != null) return id === (subscribe.id ?? subscribe.req_id);
  const args = Array.isArray(subscribe.args) ? subscribe.args : [];
  if (frame.arg != null) return args.some((arg) => echoes(frame.arg, arg));
  const channel = frame.channel ?? frame.feed;
  return channel != null && channel === (subscribe.channel ?? subscribe.feed);
}

/** Whether a received argument names the one that was sent; arguments are strings, or objects of strings. */
function echoes(came: unknown, sent: unknown): boolean {
  if (!isFields(sent) || !isFields(came)) return came === sent;
  return Object.entries(sent).every(([key, word]) => Object.hasOwn(came, key) && came[key] === word);
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
