import { UserError } from "../../../shared/process/user-error.js";
import { readJsonFile } from "../../../shared/registry/json-file.js";
import { engineRules, type RulesRow, publicName } from "../../../shared/rules/engine-rules.js";
import type { Rule } from "../../../shared/rules/probe-rules.js";

// Rules that an operator overrides in a replay, read from a file.

/** A rule whose value differs from the present one. */
export interface ChangedRule {
  /** Name in `/v1/thresholds`. */
  name: string;
  unit: Rule["unit"];
  present: number;
  tried: number;
  /** False for rules that only affect when the engine acts or what is shown, not its decisions. */
  matters: boolean;
}

const withoutEffect = ["catch_up_ms", "late_alert_ms", "silent_after_ms"];

/**
 * Reads a rules file: `{"openingBadRun": 2, …}`, or a response of `/v1/thresholds`. Rules that are not in it keep their
 * present values.
 *
 * @returns values by field of `engine.rules`
 * @throws UserError that lists every problem of the file
 */
export async function readRuleOverrides(path: string): Promise<Partial<RulesRow>> {
  const value = await readJsonFile(path, "The rules file");
  const problems: string[] = [];
  const overrides: Partial<RulesRow> = {};
  for (const [name, given] of entriesOf(value, path)) {
    const rule = engineRules.find((one) => [one.name, publicName(one.name)].includes(name));
    if (!rule) {
      problems.push(`${name}: unknown rule`);
      continue;
    }
    const expected = expectedOf(rule);
    if (!expected.test(given)) problems.push(`${name}: expected ${expected.text}, got ${JSON.stringify(given)}`);
    else if (rule.name in overrides) problems.push(`${name}: given twice`);
    else overrides[rule.name] = given as number;
  }
  if (problems.length === 0) return overrides;
  const known = engineRules.map(({ name }) => publicName(name)).join(", ");
  throw new UserError([`The rules file ${path} is invalid:`, ...problems, `The known rules are ${known}`].join("\n  "));
}

export function changedRules(overrides: Partial<RulesRow>): ChangedRule[] {
  return engineRules.flatMap(({ name, value: present, unit }) => {
    const tried = overrides[name] ?? present;
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
    `The rules file ${path} must contain an object such as {"openingBadRun": 2}, or a response of /v1/thresholds`,
  );
}

/** A response of `/v1/thresholds` also has rules of probes and of figures; a replay does not use them. */
function isOfEngine(one: { appliedBy?: unknown }): boolean {
  return one.appliedBy === undefined || one.appliedBy === "engine";
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Time is divided by these, so they cannot be 0. */
const atLeastOne = ["step_ms", "retraction_every_ms"];

/** The largest integer of PostgreSQL. */
const largestInteger = 2 ** 31 - 1;

function expectedOf({ name, unit }: Rule) {
  const least = atLeastOne.includes(name) ? 1 : 0;
  const most = unit === "share" ? 1 : largestInteger;
  const whole = unit !== "share" && unit !== "times";
  return {
    text: `a ${whole ? "whole " : ""}number from ${least} to ${most}`,
    test: (value: unknown) =>
      typeof value === "number" && value >= least && value <= most && (!whole || Number.isInteger(value)),
  };
}
