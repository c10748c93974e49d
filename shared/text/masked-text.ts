/** Texts of users, as they may be logged: without passwords and keys. */

/** A line in which addresses may stand: names and passwords of users are masked, and keys in queries. */
export function masked(text: string): string {
  // up to the last @: a password may have slashes and more of that sign
  return withoutKeys(text.replace(/:\/{1,2}(?:[^"\s\\]|\\.)*@/g, "://***@"));
}

/**
 * The same of a text that should be one address, and may be a broken one: all before the last @ is masked, but for the
 * scheme.
 */
export function maskedAddress(text: string): string {
  return withoutKeys(/[:/\\].*@/s.test(text) ? text.replace(/^([a-z][a-z0-9+.-]*:[/\\]{1,2})?.*@/is, "$1***@") : text);
}

function withoutKeys(text: string): string {
  return text.replace(/([?&][\w.-]*(?:key|token|secret|passw|pwd|auth|sig)[\w.-]*=)[^&#"\s]*/gi, "$1***");
}
