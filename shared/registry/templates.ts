/**
 * Templates of entries, `registry/templates`: venues that speak one protocol differ in a few values only. An entry with
 * `template` names one, gives it the values in `with`, and changes the result by its other fields.
 */
import { readdirSync, readFileSync } from "node:fs";
import { packagedFile } from "../config/package.js";
import { nearestWord } from "../text/nearest-word.js";
import { isObject, patchedValue, placeInPatch } from "./json-patch.js";
import { mapTexts, type PlaceInRegistry, type RegistryProblem, valueAt } from "./registry-problem.js";

/** A file of `registry/templates`. */
interface Template {
  /** What each value is. */
  parameters: Record<string, string>;
  /** Patterns of values that are texts; the schema knows the others. */
  forms?: Record<string, string>;
  /** Used where an entry gives no value. */
  defaults?: Record<string, unknown>;
  /** In its texts `{with:name}` stands for a value; a text that is nothing else becomes the value, of any type. */
  entry: Record<string, unknown>;
}

export interface FromTemplate {
  /** The whole entry; null if there are problems. */
  entry: unknown;
  problems: RegistryProblem[];
  /** Where what was written has, or could have, what is at a place of `entry`: in `with`, or in its other fields. */
  placeInWritten: (place: PlaceInRegistry) => PlaceInRegistry;
}

/** Null for what names no template. */
export function fromTemplate(written: unknown): FromTemplate | null {
  if (!isObject(written) || !Object.hasOwn(written, "template")) return null;
  const { template: name, with: given = {}, ...patch } = written;
  const template = templateNamed(name);
  if (template === null) return refused([{ place: ["template"], expected: templateWords(name) }]);
  const problems = valueProblems(template, given);
  if (problems.length > 0) return refused(problems);
  const values = { ...template.defaults, ...(given as Record<string, unknown>) };
  const valueNames = new Map<string, string>();
  const filled = mapTexts(template.entry, (text, place) => {
    for (const [, value = ""] of text.matchAll(placeholder))
      valueNames.set(namedPlace(template.entry, {}, place), value);
    return withValues(text, values);
  });
  const entry = patchedValue(filled, patch);
  return { entry, problems, placeInWritten };

  function placeInWritten(place: PlaceInRegistry): PlaceInRegistry {
    const ofFields = placeInPatch(entry, patch, place);
    const value = valueNames.get(namedPlace(entry, patch, place));
    return value === undefined || valueAt(patch, ofFields) !== undefined ? ofFields : ["with", value];
  }
}

function refused(problems: RegistryProblem[]): FromTemplate {
  return { entry: null, problems, placeInWritten: (place) => place };
}

function templateWords(name: unknown): string {
  const near = nearestWord(String(name), templateNames());
  return `the name of a file in registry/templates${near === null ? `: ${templateNames().join(", ")}` : `, perhaps ${near}`}`;
}

/** With the names of parts, whose indices a change of the list may move. */
function namedPlace(entry: unknown, patch: object, place: PlaceInRegistry): string {
  return JSON.stringify(placeInPatch(entry, patch, place));
}

function templateNames(): string[] {
  const files = readdirSync(packagedFile("registry/templates"));
  return files.map((file) => file.replace(/\.json$/, ""));
}

function templateNamed(name: unknown): Template | null {
  if (typeof name !== "string" || !templateNames().includes(name)) return null;
  return JSON.parse(readFileSync(packagedFile(`registry/templates/${name}.json`), "utf8")) as Template;
}

function valueProblems({ parameters, forms = {}, defaults = {} }: Template, given: unknown): RegistryProblem[] {
  if (!isObject(given)) return [{ place: ["with"], expected: "an object with the values of the template" }];
  const missing = Object.entries(parameters).filter(([name]) => !(name in given) && !(name in defaults));
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(parameters, name));
  const misshapen = Object.entries(forms).filter(
    ([name, form]) => name in given && !(typeof given[name] === "string" && new RegExp(form).test(given[name])),
  );
  return [
    ...misshapen.map(([name, form]) => ({ place: ["with", name], expected: `${parameters[name]!} (${form})` })),
    ...missing.map(([name, what]) => ({ place: ["with", name], expected: what })),
    ...unknown.map((name) => ({
      place: ["with", name],
      expected: `no such value (known here: ${Object.keys(parameters).join(", ")})`,
    })),
  ];
}

const placeholder = /\{with:([a-zA-Z]+)\}/g;

function withValues(text: string, values: Record<string, unknown>): unknown {
  const whole = /^\{with:([a-zA-Z]+)\}$/.exec(text)?.[1];
  if (whole !== undefined) return values[whole];
  return text.replace(placeholder, (_, name: string) => String(values[name]));
}
