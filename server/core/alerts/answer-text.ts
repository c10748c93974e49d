const mostCharacters = 1000;

/** Characters that change the writing direction, and invisible characters. */
const invisibleCharacters = /[\u061c\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;

/**
 * The beginning of a receiver's answer as text that can be stored and shown. Control characters except line ends become
 * spaces, and invisible characters are removed. Secrets are replaced by an ellipsis, because servers often repeat them
 * in errors.
 *
 * @param secrets one that contains another stands before it
 * @returns null if no text is left
 */
export function answerText(answer: string, secrets: readonly string[]): string | null {
  const clean = secrets
    .reduce((text, secret) => text.replaceAll(secret, "…"), answer)
    .replace(/\r\n?/g, "\n")
    .replace(/[^\P{Cc}\n]/gu, " ")
    .replace(invisibleCharacters, "")
    .trim();
  const beginning = [...clean].slice(0, mostCharacters).join("");
  return beginning === "" ? null : beginning;
}
