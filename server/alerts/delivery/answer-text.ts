import type { WebhookRequest } from "../formats/webhook-request.js";

const mostCharacters = 1000;

/** Characters that change the writing direction, and invisible characters. */
const tricks = /[\u061c\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;

/**
 * The beginning of an answer as text that can be stored and shown. Control characters except line ends become spaces,
 * and invisible characters are removed. The request's secrets, including the path and query of its URL, are replaced by
 * an ellipsis, because servers often repeat them in errors.
 *
 * @returns null if no text is left
 */
export function beginningOf(answer: Buffer, request: WebhookRequest): string | null {
  const clean = [...(request.secrets ?? []), ...secretsOf(request.url)]
    .reduce((text, secret) => text.replaceAll(secret, "…"), new TextDecoder().decode(answer))
    .replace(/\r\n?/g, "\n")
    .replace(/[^\P{Cc}\n]/gu, " ")
    .replace(tricks, "")
    .trim();
  const beginning = [...clean].slice(0, mostCharacters).join("");
  return beginning === "" ? null : beginning;
}

/** Longer parts first, because they contain the others. A part that is shorter than any key may occur in any text. */
function secretsOf({ pathname, search }: URL): string[] {
  const parts = (pathname + search).split(/[/?&=]/);
  return [
    ...[pathname + search, pathname, search].filter((part) => part.length > 1),
    ...parts.filter((part) => part.length >= 8),
  ];
}
