import type { WebhookRequest } from "../formats/webhook-request.js";

const mostCharacters = 1000;

/** Marks that turn the direction of writing, and invisible ones. */
const tricks = /[\u061c\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;

/**
 * The beginning of an answer, as text that can be kept and shown: characters that are none and control characters but
 * line ends are taken out. So is what is secret of the letter, path and query of its URL included, which servers like
 * to repeat in errors.
 *
 * @returns null where nothing is left
 */
export function beginningOf(answer: Buffer, letter: WebhookRequest): string | null {
  const clean = [...(letter.secrets ?? []), ...secretsOf(letter.url)]
    .reduce((text, secret) => text.replaceAll(secret, "…"), new TextDecoder().decode(answer))
    .replace(/\r\n?/g, "\n")
    .replace(/[^\P{Cc}\n]/gu, " ")
    .replace(tricks, "")
    .trim();
  const beginning = [...clean].slice(0, mostCharacters).join("");
  return beginning === "" ? null : beginning;
}

/** The longer first, which have the others in them. What is shorter than keys are may be in any text. */
function secretsOf({ pathname, search }: URL): string[] {
  const parts = (pathname + search).split(/[/?&=]/);
  return [
    ...[pathname + search, pathname, search].filter((part) => part.length > 1),
    ...parts.filter((part) => part.length >= 8),
  ];
}
