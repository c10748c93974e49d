/** Instants as users give them: ISO 8601 and UTC, up to microseconds. */

export const instantPattern =
  "^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{1,6})?(Z|[+]00:00)$";

export const instantExpected = "an instant in ISO 8601 and UTC, like 2026-01-31T12:00:00Z";

/** 30 February has the right form, but JavaScript moves it to March; year 0 is none of PostgreSQL's. */
export function isOnCalendar(text: string): boolean {
  const at = new Date(text);
  if (Number.isNaN(+at) || text.startsWith("0000")) return false;
  return at.toISOString().slice(0, 10) === text.slice(0, 10);
}

/** The one spelling of an instant that fits the pattern: six digits of the second, and Z. */
export function spelledOut(text: string): string {
  const [, second = "", fraction = ""] = /^(.{19})(?:\.(\d+))?/.exec(text)!;
  return `${second}.${fraction.padEnd(6, "0")}Z`;
}

/** Null where it is none. A Date has milliseconds: what is finer is cut off. */
export function parseInstant(text: string): Date | null {
  const right = new RegExp(instantPattern).test(text) && isOnCalendar(text);
  return right ? new Date(text) : null;
}
