/** Instants as venues write them, in the years 1 to 9999, which JavaScript and PostgreSQL write alike. */

import { isOnCalendar } from "../../shared/text/instant.js";

const iso = /^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):?[0-5]\d)$/;

const firstMs = Date.parse("0001-01-02T00:00:00Z");
const lastMs = Date.parse("9999-12-30T00:00:00Z");

/** ISO 8601 with the offset of any time zone. */
export function isInstant(text: string): boolean {
  return iso.test(text) && isOnCalendar(text.slice(0, 10)) && isKept(Date.parse(text));
}

const dateText = /^[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d \d{4} \d\d:\d\d:\d\d GMT[+-]\d{4}( \([\w -]{1,60}\))?$/;

/** As JavaScript shows a date: `Sat Jun 11 2022 18:55:50 GMT+0000 (Coordinated Universal Time)`. */
export function isDateText(text: string): boolean {
  return dateText.test(text) && isKept(Date.parse(text));
}

/** Milliseconds since 1970, as digits. */
export function isMilliseconds(text: string): boolean {
  return /^\d{1,15}$/.test(text) && isKept(Number(text));
}

function isKept(ms: number): boolean {
  return ms >= firstMs && ms <= lastMs;
}
