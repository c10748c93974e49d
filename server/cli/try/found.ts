/** What the paths and conditions of an entry find in an answer or a frame. */
import {
  alternativesOf,
  compileAnswerCheck,
  compileConditions,
  parsedBody,
} from "../../../probe/measure/rest/checks.js";
import { parseJsonPath } from "../../../shared/registry/json-path.js";
import { type Condition, conditionsOf, type Match, type RestEndpoint } from "../../../shared/registry/registry.js";
import { plainText } from "../../../shared/text/untrusted-text.js";

export interface Finding {
  /** A field of the entry, such as `proof`. */
  field: string;
  /** A path of it, or conditions in words. */
  wanted: string;
  /** What is there, as JSON of at most 80 characters; null: nothing. */
  value: string | null;
  ok: boolean;
  /** What was read from it, or why it is not what the entry needs. */
  note: string | null;
}

/** @param body of an answer, whatever its status */
export function findingsIn(
  endpoint: RestEndpoint,
  body: Buffer,
  contentEncoding: string | string[] | undefined,
): Finding[] {
  const parsed = parsedBody(body, contentEncoding) ?? { text: undefined };
  const isJson = "value" in parsed;
  const answer = isJson ? parsed.value : parsed.text;
  const { proof, head, newest, dataTime } = endpoint;
  const proofs = proof === "$" ? [] : conditionsOf<Condition>(typeof proof === "string" ? { path: proof } : proof);
  const holds = (conditions: Condition[]) => compileConditions(conditions)(answer);
  // as the probe reads them, whether the answer is proven or not
  const read = compileAnswerCheck({
    ...{ proof: "$", ...(head && { head }), ...(newest && { newest }), ...(dataTime && { dataTime }) },
  })(body, contentEncoding);
  const first = newest?.list === undefined ? answer : itemsOf(parseJsonPath(newest.list)(answer))[0];
  return [
    ...(isJson ? [] : [foundIn("proof", "$", answer, false, "the answer is not JSON")]),
    ...proofs.map((one) => foundBy("proof", one, answer, isJson && holds([one]))),
    ...(head ? [foundIn("head", head.path, answer, read.head !== null)] : []),
    ...(newest ? [foundIn("newest", newest.path, first, ...newestNote(read.newest))] : []),
    ...(dataTime ? [foundIn("dataTime", dataTime.path, answer, read.dataMs !== null, agoNote(read.dataMs))] : []),
    ...(["blocked", "limited", "halted"] as const).flatMap((field) =>
      alternativesOf(endpoint[field]).flatMap((all) => all.map((one) => foundBy(field, one, answer, !holds(all)))),
    ),
  ];
}

function itemsOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function newestNote(newest: ReturnType<ReturnType<typeof compileAnswerCheck>>["newest"]): [boolean, string | null] {
  if (newest === "none") return [false, "no entry"];
  return [newest !== null, newest && "id" in newest ? null : agoNote(newest && newest.atMs)];
}

/** @param ms since 1970 */
function agoNote(ms: number | null): string {
  return ageNote(ms && Date.now() - ms);
}

export function ageNote(ageMs: number | null): string {
  return ageMs === null ? "no time of this unit that can be true" : `${(ageMs / 1000).toFixed(1)} s old`;
}

export function foundIn(field: string, path: string, root: unknown, ok: boolean, note: string | null = null): Finding {
  return { field, wanted: path, value: shownValue(parseJsonPath(path)(root)), ok, note };
}

function foundBy(field: string, condition: Condition, root: unknown, ok: boolean): Finding {
  const path = "unless" in condition ? condition.unless : condition.path;
  return { ...foundIn(field, path, root, ok), wanted: conditionText(condition) };
}

/** In words: `$.code = 0`. */
export function conditionText(condition: Condition | Match): string {
  if ("unless" in condition) return `no ${condition.unless}`;
  if ("is" in condition) return `${condition.path} is a list`;
  if ("includes" in condition) return `${condition.path} includes ${JSON.stringify(condition.includes)}`;
  return condition.equals === undefined ? condition.path : `${condition.path} = ${JSON.stringify(condition.equals)}`;
}

const longestValue = 80;

/** The venue wrote it: it may be long, and may repeat our secrets. */
export function shownValue(value: unknown): string | null {
  if (value === undefined) return null;
  const text = plainText(JSON.stringify(value), longestValue + 1);
  return text.length <= longestValue ? text : `${text.slice(0, longestValue - 1)}…`;
}
