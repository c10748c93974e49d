/** User input made safe for logs: without passwords and keys. */

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
