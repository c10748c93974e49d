/**
 * Faults as text, one a line:
 *
 *     okx rest:* us-east,eu-central status=503 from=60s to=180s every=15m
 *
 * Venue, component and regions (`*`: all), the kind with its number, then from
 * when to when, counted from the start of the world. A `#` begins a comment.
 */
import { faultKinds, type FaultKind, type ScriptedFault } from "./faults.js";

/**
 * @throws Error that names every bad line with what was expected. That venues, components and regions exist is checked
 * by the world, which knows its registry.
 */
export function parseScript(text: string, startedAt: Date): ScriptedFault[] {
  const faults: ScriptedFault[] = [];
  const problems: string[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    const words = line.replace(/#.*/, "").split(/\s+/).filter(Boolean);
    if (words.length === 0) continue;
    try {
      faults.push(faultFrom(words, startedAt));
    } catch (error) {
      problems.push(`line ${index + 1}: ${(error as Error).message}`);
    }
  }
  if (problems.length > 0)
    throw new Error(`The script has errors:\n${problems.join("\n")}`);
  return faults;
}

function faultFrom(words: string[], startedAt: Date): ScriptedFault {
  const [venue, component, regions, kind, ...settings] = words;
  if (!venue || !component || !regions || !kind)
    throw new Error(
      `expected "venue component regions kind …", got "${words.join(" ")}"`,
    );
  const fault: ScriptedFault = {
    ...kindFrom(kind),
    venue,
    ...(component === "*" ? {} : { component }),
    ...(regions === "*" ? {} : { regions: regions.split(",") }),
  };
  for (const setting of settings) apply(setting, fault, startedAt);
  return fault;
}

/** `status=503`, `limited=30s`, `slow=3s`, or just `silent`. */
function kindFrom(word: string): Pick<ScriptedFault, "kind"> {
  const [name = "", value] = word.split("=");
  if (!(faultKinds as string[]).includes(name))
    throw new Error(
      `unknown kind ${name}; expected one of ${faultKinds.join(", ")}`,
    );
  const kind = name as FaultKind;
  if (value === undefined) return { kind };
  const readDetail = details[kind];
  if (!readDetail) throw new Error(`${kind} takes no number, got ${word}`);
  return { kind, ...readDetail(value) };
}

const details: Partial<
  Record<FaultKind, (value: string) => Partial<ScriptedFault>>
> = {
  status: (value) => ({ status: wholeNumber(value) }),
  "handshake-refused": (value) => ({ status: wholeNumber(value) }),
  "socket-closed": (value) => ({ closeCode: wholeNumber(value) }),
  limited: (value) => ({ retryAfterS: durationMs(value) / 1000 }),
  slow: (value) => ({ latencyMs: durationMs(value) }),
};

function apply(setting: string, fault: ScriptedFault, startedAt: Date): void {
  const [name, ...rest] = setting.split("=");
  const value = rest.join("=");
  const fromStart = () => new Date(startedAt.getTime() + durationMs(value));
  if (name === "from") fault.from = fromStart();
  else if (name === "to") fault.to = fromStart();
  else if (name === "every") fault.everyMs = durationMs(value);
  else if (name === "location") fault.location = value;
  else
    throw new Error(
      `unknown setting ${setting}; expected from=, to=, every= or location=`,
    );
}

const unitsMs: Record<string, number> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

function durationMs(text: string): number {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
  if (!number || !unit)
    throw new Error(
      `expected a duration such as 500ms, 90s or 15m, got ${text}`,
    );
  return Number(number) * unitsMs[unit]!;
}

function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text))
    throw new Error(`expected a whole number, got ${text}`);
  return Number(text);
}
