/** Rules that an operator tries in a replay, as a file names them. */
import { readJsonFile } from "../../shared/registry/json-file.js";
import type { Rule } from "../../shared/measurement/rule.js";
import { UserError } from "../../shared/process/user-error.js";
import { publicName, rules, type RulesRow } from "./rules.js";

/** One number that is not the present one. */
export interface ChangedRule {
  /** As `/v1/thresholds` has it. */
  name: string;
  unit: Rule["unit"];
  present: number;
  tried: number;
  /** False for those that decide when the engine acts and what is shown, not what it decides. */
  matters: boolean;
}

const withoutEffect = ["catch_up_ms", "late_alert_ms", "silent_after_ms"];

/**
 * Reads a file of rules: `{"openingBadRun": 2, …}`, or an answer of `/v1/thresholds`. What it leaves out stays as it
 * is.
 *
 * @returns fields of `engine.rules` with their values
 * @throws UserError with all that is wrong with it
 */
export async function readRuleOverrides(path: string): Promise<Partial<RulesRow>> {
  const value = await readJsonFile(path, "The file of rules");
  const problems: string[] = [];
  const others: Partial<RulesRow> = {};
  for (const [name, given] of entriesOf(value, path)) {
    const rule = rules.find((one) => [one.name, publicName(one.name)].includes(name));
    if (!rule) {
      problems.push(`${name}: there is no such rule`);
      continue;
    }
    const expected = expectedOf(rule);
    if (!expected.test(given)) problems.push(`${name}: expected ${expected.text}, got ${JSON.stringify(given)}`);
    else if (rule.name in others) problems.push(`${name}: is given twice`);
    else others[rule.name] = given as number;
  }
  if (problems.length === 0) return others;
  const known = rules.map(({ name }) => publicName(name)).join(", ");
  throw new UserError([`The file of rules ${path} is wrong:`, ...problems, `The rules are ${known}`].join("\n  "));
}

export function changedRules(others: Partial<RulesRow>): ChangedRule[] {
  return rules.flatMap(({ name, value: present, unit }) => {
    const tried = others[name] ?? present;
    return tried === present
      ? []
      : [
          {
            name: publicName(name),
            unit,
            present,
            tried,
            matters: !withoutEffect.includes(name),
          },
        ];
  });
}

function entriesOf(value: unknown, path: string): [string, unknown][] {
  if (isObject(value)) {
    const { rules: list } = value;
    if (!Array.isArray(list)) return Object.entries(value);
    if (list.every((one) => isObject(one) && typeof one["name"] === "string"))
      return list.filter(isOfEngine).map((one: { name: string; value: unknown }) => [one.name, one.value]);
  }
  throw new UserError(
    `The file of rules ${path} should hold an object like {"openingBadRun": 2}, or an answer of /v1/thresholds`,
  );
}

/** An answer of `/v1/thresholds` has rules of probes and of figures too, which decide nothing in a replay. */
function isOfEngine(one: { appliedBy?: unknown }): boolean {
  return one.appliedBy === undefined || one.appliedBy === "engine";
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Time is cut by these, and cannot be cut into nothing. */
const atLeastOne = ["step_ms", "retraction_every_ms"];

/** The largest integer of PostgreSQL. */
const largest = 2 ** 31 - 1;

function expectedOf({ name, unit }: Rule) {
  const least = atLeastOne.includes(name) ? 1 : 0;
  const most = unit === "share" ? 1 : largest;
  const whole = unit !== "share" && unit !== "times";
  return {
    text: `a ${whole ? "whole " : ""}number from ${least} to ${most}`,
    test: (value: unknown) =>
      typeof value === "number" && value >= least && value <= most && (!whole || Number.isInteger(value)),
  };
}
