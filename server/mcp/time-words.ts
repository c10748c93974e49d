/** Instants, lengths, counts and lists as answers write them. */
import { durationText, sinceMs } from "../pages/format.js";

/** `since 2026-01-31T11:41:20.000Z, for 12 minutes` */
export function sinceWords(since: string, now: string): string {
  return `since ${since}, for ${durationText(sinceMs(since, now))}`;
}

/** For an answer without data: when it was asked for, and where to look instead. */
export function askedWords(baseUrl: string): string {
  return `Asked at ${new Date().toISOString()}; ${baseUrl}/ is the page for people.`;
}

/** `1 component`, `3 components` */
export function countedWords(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** `a`, `a and b`, `a, b and c` */
export function listWords(words: readonly string[]): string {
  const last = words.at(-1) ?? "";
  return words.length < 2 ? last : `${words.slice(0, -1).join(", ")} and ${last}`;
}

/** More would be read by nobody. */
const mostNamed = 12;

/** The ids of components, at most a dozen. */
export function componentList(components: readonly { component: string }[]): string {
  const named = components.slice(0, mostNamed).map(({ component }) => component);
  const more = components.length - named.length;
  return listWords(more > 0 ? [...named, `${more} more`] : named);
}
