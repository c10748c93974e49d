/** Compares the data of a venue with the expected shape, and describes the first difference in one line. */
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import { isOnCalendar } from "../../../shared/text/instant.js";
import { lastPart, plainText } from "../../../shared/text/untrusted-text.js";

/** A JSON schema. Each node describes what it expects; further properties are allowed. */
export interface NoticeSchema {
  description: string;
  type?: string | string[];
  properties?: Record<string, NoticeSchema>;
  required?: string[];
  items?: NoticeSchema;
  enum?: unknown[];
  format?:
    | "text"
    | "id"
    | "address"
    | "addressOfId"
    | "instant"
    | "instantOrDateText"
    | "milliseconds"
    | "millisecondsOrEmpty";
  minimum?: number;
  maximum?: number;
}

/**
 * An object in which every named property is required, except those that may be null, which venues also omit.
 */
export function object(
  description: string,
  properties: Record<string, NoticeSchema>,
  optional: string[] = [],
): NoticeSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name) && !mayBeNull(properties[name]!));
  return { description, type: "object", properties, required };
}

function mayBeNull({ type }: NoticeSchema): boolean {
  return Array.isArray(type) && type.includes("null");
}

export function list(description: string, items?: NoticeSchema): NoticeSchema {
  return { description, type: "array", ...(items && { items }) };
}

export const instant: NoticeSchema = {
  description: "a time",
  type: "string",
  format: "instant",
};

export const instantOrNull: NoticeSchema = {
  description: "a time or null",
  type: ["string", "null"],
  format: "instant",
};

/** Instatus documents times as `Sat Jun 11 2022 18:55:50 GMT+0000 (…)`, and sends ISO 8601. */
export const instantOrDateText: NoticeSchema = {
  description: "a time",
  type: "string",
  format: "instantOrDateText",
};

export const milliseconds: NoticeSchema = {
  description: "milliseconds since 1970 as text",
  type: "string",
  format: "milliseconds",
};

export const millisecondsOrEmpty: NoticeSchema = {
  description: "milliseconds since 1970 as text, or an empty text",
  type: "string",
  format: "millisecondsOrEmpty",
};

/** The time of a server's clock. */
export const clock: NoticeSchema = {
  description: "milliseconds since 1970",
  type: "integer",
  minimum: 0,
  maximum: Date.parse("9999-12-30T00:00:00Z"),
};

/** The time of a publication. A number of milliseconds is above the limit. */
export const seconds: NoticeSchema = {
  description: "seconds since 1970",
  type: "integer",
  minimum: 0,
  maximum: Date.parse("9999-12-30T00:00:00Z") / 1000,
};

/** An id that may become that of a notice, so it must not be empty or longer than can be stored. */
export const id: NoticeSchema = {
  description: "an id of 1 to 200 plain characters",
  type: "string",
  format: "id",
};

/** A text that should be a URL; its user checks whether it is one. */
export const address: NoticeSchema = {
  description: "an address of at most 2000 characters",
  type: "string",
  format: "address",
};

/** The address of a notice, whose last part is its id. */
export const addressOfId: NoticeSchema = {
  description: "an address that ends with an id",
  type: "string",
  format: "addressOfId",
};

/** A text with at least one visible character. */
export const text: NoticeSchema = {
  description: "a text that is not empty",
  type: "string",
  format: "text",
};

export const textOrNull: NoticeSchema = {
  description: "a text or null",
  type: ["string", "null"],
};

/** A number that venues write as a number or as text. */
export const code: NoticeSchema = {
  description: "a number",
  type: ["string", "number"],
};

export const codeOrNull: NoticeSchema = {
  description: "a number or null",
  type: ["string", "number", "null"],
};

const isId = (value: string) => /^[^\p{C}\p{Zl}\p{Zp}]{1,200}$/u.test(value);

const noticeFormats = {
  text: (value: string) => plainText(value, 500) !== "",
  id: isId,
  address: (value: string) => value.length <= 2000,
  addressOfId: (value: string) => isId(lastPart(value)),
  instant: isInstant,
  instantOrDateText: (value: string) => isInstant(value) || isDateText(value),
  milliseconds: isMilliseconds,
  millisecondsOrEmpty: (value: string) => value === "" || isMilliseconds(value),
};

/** Describes why a value is invalid, such as `started_at: expected a time, got null`; null if it is valid. */
export type FaultOf = (value: unknown, place?: string) => string | null;

/** Compiles the schema at the first use, so that importing costs nothing. */
export function faultFinder(schema: NoticeSchema): FaultOf {
  let validate: ValidateFunction | undefined;
  return (value, place = "") => {
    validate ??= compileSchema(schema);
    if (validate(value)) return null;
    return faultText(validate.errors![0]!, place);
  };
}

function compileSchema(schema: NoticeSchema): ValidateFunction {
  const ajv = new Ajv({
    verbose: true,
    allowUnionTypes: true,
    formats: noticeFormats,
  });
  return ajv.compile(schema);
}

function faultText(error: ErrorObject, place: string): string {
  const node = error.parentSchema as NoticeSchema;
  const { missingProperty } = error.params as { missingProperty?: string };
  const path = place + pathText(error.instancePath);
  if (missingProperty === undefined) return mismatch(path, node.description, shownValue(error.data));
  const expected = node.properties![missingProperty]!.description;
  return mismatch(`${path}.${missingProperty}`, expected, "nothing");
}

export function mismatch(path: string, expected: string, got: string): string {
  const named = path.replace(/^\./, "") || "the answer";
  return `${named}: expected ${expected}, got ${got}`;
}

/** `/components/3/name` is `.components[3].name`. Schemas name no property with `/` or `~`. */
function pathText(pointer: string): string {
  return pointer.replace(/\/(\d+)/g, "[$1]").replaceAll("/", ".");
}

/** A venue's value, made safe for a line of our text. */
export function shownValue(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === "object" && value !== null) return "an object";
  if (typeof value !== "string") return String(value);
  const head = plainText(value, 41);
  return JSON.stringify(head.length > 40 ? `${head.slice(0, 39)}…` : head);
}

// Instants as venues write them, in the years 1 to 9999, which JavaScript and PostgreSQL write alike.

const isoInstant = /^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):?[0-5]\d)$/;

const firstMs = Date.parse("0001-01-02T00:00:00Z");
const lastMs = Date.parse("9999-12-30T00:00:00Z");

/** ISO 8601 with the offset of any time zone. */
export function isInstant(text: string): boolean {
  return isoInstant.test(text) && isOnCalendar(text.slice(0, 10)) && isKept(Date.parse(text));
}

const dateText = /^[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d \d{4} \d\d:\d\d:\d\d GMT[+-]\d{4}( \([\w -]{1,60}\))?$/;

/** As JavaScript shows a date: `Sat Jun 11 2022 18:55:50 GMT+0000 (Coordinated Universal Time)`. */
function isDateText(text: string): boolean {
  return dateText.test(text) && isKept(Date.parse(text));
}

/** Milliseconds since 1970, as digits. */
export function isMilliseconds(text: string): boolean {
  return /^\d{1,15}$/.test(text) && isKept(Number(text));
}

function isKept(ms: number): boolean {
  return ms >= firstMs && ms <= lastMs;
}
