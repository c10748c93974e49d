// Paths into parsed JSON, in the registry's notation: `$` is the whole value, then any number of `.key` (letters,
// digits and `_`), `[n]` (an index) and `['any key']` (`\'` and `\\` are a quote and a backslash).

/** Returns the value at the path in a parsed JSON value; undefined where the path does not exist. */
export type JsonPath = (value: unknown) => unknown;

/** A key of an object, or an index of an array. */
type PathStep = string | number;

const stepPattern = /\.([A-Za-z_][A-Za-z0-9_]*)|\[(0|[1-9][0-9]{0,8})\]|\['((?:[^'\\]|\\['\\])*)'\]/y;

/** @throws Error with the character where the text stops being a path */
export function parseJsonPath(text: string): JsonPath {
  const steps = pathSteps(text);
  return (value) => steps.reduce(valueAtStep, value);
}

function pathSteps(text: string): PathStep[] {
  if (!text.startsWith("$")) throw pathError(text, 0, "$");
  const steps: PathStep[] = [];
  let at = 1;
  while (at < text.length) {
    stepPattern.lastIndex = at;
    const found = stepPattern.exec(text);
    if (found === null) throw pathError(text, at, ".key, [n] or ['any key']");
    steps.push(stepOf(found));
    at = stepPattern.lastIndex;
  }
  return steps;
}

function stepOf([, key, index, quoted = ""]: RegExpExecArray): PathStep {
  if (index !== undefined) return Number(index);
  return key ?? quoted.replace(/\\(.)/g, "$1");
}

/** Own properties only: data of a venue must not reach `__proto__`, `constructor` or an array's `length`. */
function valueAtStep(value: unknown, step: PathStep): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value) !== (typeof step === "number")) return undefined;
  return Object.hasOwn(value, step) ? (value as Record<PathStep, unknown>)[step] : undefined;
}

function pathError(text: string, at: number, expected: string): Error {
  const found = at < text.length ? JSON.stringify(text[at]) : "the end";
  return new Error(`expected ${expected} at character ${at + 1} of ${JSON.stringify(text)}, found ${found}`);
}
