// Secrets that this process knows. A venue may repeat them in its answers and refusals, and libraries in their errors:
// every foreign text that is logged or stored goes through `withoutHidden`.

/** A shorter text would also be found in words that are no secret. */
export const shortestHidden = 8;

const hiddenTexts = new Set<string>();

let hiddenPattern: RegExp | null = null;

/** Hides these texts from now on; shorter ones than `shortestHidden` are ignored. */
export function hideTexts(texts: Iterable<string>): void {
  const before = hiddenTexts.size;
  for (const text of texts) if (text.length >= shortestHidden) hiddenTexts.add(text);
  if (hiddenTexts.size > before) hiddenPattern = null;
}

/** The text with `***` for each of its secrets, also encoded ones. */
export function withoutHidden(text: string): string {
  if (hiddenTexts.size === 0) return text;
  hiddenPattern ??= new RegExp(
    longestFirst([...hiddenTexts].flatMap(formsOf))
      .map(escapedPattern)
      .join("|"),
    "g",
  );
  return text.replace(hiddenPattern, "***");
}

/** As it is; and as it looks in a URL, in a form, in JSON, in JSON within JSON, and in base64. */
function formsOf(text: string): string[] {
  const inJson = JSON.stringify(text).slice(1, -1);
  const twice = JSON.stringify(inJson).slice(1, -1);
  const bytes = Buffer.from(text);
  // not of half a surrogate pair, which cannot be encoded
  const inUrl = encodeURIComponent(bytes.toString());
  const inQuery = inUrl.replaceAll("'", "%27");
  const inForm = new URLSearchParams({ a: text }).toString().slice("a=".length);
  const coded = [inUrl, inQuery, inForm].flatMap((one) => [one, one.replace(/%../g, (code) => code.toLowerCase())]);
  return [text, ...coded, inJson, twice, bytes.toString("base64url"), bytes.toString("base64")];
}

function longestFirst(forms: string[]): string[] {
  return [...new Set(forms)].sort((a, b) => b.length - a.length);
}

/** In JSON, a slash may have a backslash; in JSON within JSON up to three. */
function escapedPattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&").replaceAll("/", "\\\\{0,3}/");
}

// User input made safe for logs: without passwords and keys.

/** For a line that may contain addresses: masks user names and passwords, and keys in queries. */
export function masked(text: string): string {
  // up to the last @: a password may contain slashes and @
  return withoutKeys(text.replace(/:\/{1,2}(?:[^"\s\\]|\\.)*@/g, "://***@"));
}

/**
 * For a text that should be one address, but may be malformed: masks everything before the last @ except the scheme.
 */
export function maskedAddress(text: string): string {
  return withoutKeys(/[:/\\].*@/s.test(text) ? text.replace(/^([a-z][a-z0-9+.-]*:[/\\]{1,2})?.*@/is, "$1***@") : text);
}

function withoutKeys(text: string): string {
  return text.replace(
    /([?&][\w.-]*(?:key|token|secret|pass|pwd|auth|sig|credential|bearer|jwt)[\w.-]*=)[^&#"\s]*/gi,
    "$1***",
  );
}
