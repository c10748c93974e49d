/** Instants as users write them: ISO 8601 in UTC, up to microseconds. */

export const instantPattern =
  "^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{1,6})?(Z|[+]00:00)$";

export const instantExpected = "an instant in ISO 8601 and UTC, like 2026-01-31T12:00:00Z";

/** 30 February matches the pattern, but JavaScript moves it to March; PostgreSQL has no year 0. */
export function isOnCalendar(text: string): boolean {
  const at = new Date(text);
  if (Number.isNaN(+at) || text.startsWith("0000")) return false;
  return at.toISOString().slice(0, 10) === text.slice(0, 10);
}

/** The canonical form of an instant that matches the pattern: six decimals and Z. */
export function spelledOut(text: string): string {
  const [, second = "", fraction = ""] = /^(.{19})(?:\.(\d+))?/.exec(text)!;
  return `${second}.${fraction.padEnd(6, "0")}Z`;
}

/** Null where it is not an instant. A Date has milliseconds: microseconds are truncated. */
export function parseInstant(text: string): Date | null {
  const isValid = new RegExp(instantPattern).test(text) && isOnCalendar(text);
  return isValid ? new Date(text) : null;
}
