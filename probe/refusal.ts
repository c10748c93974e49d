import type { Feed } from "./feed.js";

type Fields = Record<string, unknown>;

/**
 * Tells which subscription a frame refuses.
 *
 * Venues say it as `{"error":…}`, `{"success":false}`, `{"event":"error"}`,
 * `{"type":"error"}` or `{"status":400}`, and name the subscription by its id,
 * its arguments or its channel. One that names none is taken for the only
 * stream that has not spoken, if there is just one.
 *
 * @param silent streams that were asked for and have not sent data
 */
export function refusedFeed(
  frame: unknown,
  silent: readonly Feed[],
): Feed | null {
  if (!isFields(frame) || !isRefusal(frame)) return null;
  const named = silent.find((feed) => names(frame, feed.stream.subscribe));
  return named ?? (silent.length === 1 ? silent[0]! : null);
}

/** Whether a frame refuses something. */
export function isRefusal(frame: unknown): boolean {
  if (!isFields(frame)) return false;
  return (
    frame.error != null ||
    frame.success === false ||
    [frame.event, frame.type].some(isErrorWord) ||
    (typeof frame.status === "number" && frame.status >= 400)
  );
}

/** A frame is whatever the venue likes: turning it into text may throw. */
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

/** Whether what came names what we sent; arguments are a word, or fields with words in them. */
function echoes(came: unknown, sent: unknown): boolean {
  if (!isFields(sent) || !isFields(came)) return came === sent;
  return Object.entries(sent).every(
    ([key, word]) => Object.hasOwn(came, key) && came[key] === word,
  );
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
