import { type FaultKind, faultKinds, type ScriptedFault } from "./faults.js";
import type { ScriptedPost } from "./notices/posts.js";
import { wordsOf } from "./notices/words.js";

// Faults and what venues post on their status feeds as text, one a line:
//
//     okx rest:* us-east,eu-central status=503 from=60s to=180s every=15m
//     okx notice "Spot ticker errors" disruption from=100s to=190s every=15m
//
// A fault has a venue, a component, regions (`*`: all), a kind with its number, and its start and end, counted from the
// start of the world. `host=` is the one host at which it acts, `text=` the words of a page with a status.
//
// A post has a venue, `notice`, a title, and an impact in the words of the feed (notices/words.ts). It appears at
// `from`, and its end is posted at `to`. `started=` is the start that the post states, if that is not `from`. `about=`
// lists its components. `deleted=` is when it vanishes. `says=` is what the page shows meanwhile (`says=none`:
// operational). The name of a status posts an update (`monitoring=3m`); `impact=3m:critical` and `title=3m:"…"` are
// edits.
//
// Quotes protect spaces. A `#` outside of quotes begins a comment.

export interface Script {
  faults: ScriptedFault[];
  posts: ScriptedPost[];
}

/**
 * @throws Error that names every bad line with what was expected. That venues, components, regions and impacts exist is
 * checked by the world, which knows its registry.
 */
export function parseScript(text: string, startedAt: Date): Script {
  const script: Script = { faults: [], posts: [] };
  const problems: string[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    try {
      const words = wordsIn(line);
      if (words.length === 0) continue;
      if (words[1] === "notice") script.posts.push(postFrom(words, startedAt));
      else script.faults.push(faultFrom(words, startedAt));
    } catch (error) {
      problems.push(`line ${index + 1}: ${(error as Error).message}`);
    }
  }
  if (problems.length > 0) throw new Error(`The script has errors:\n${problems.join("\n")}`);
  return script;
}

function wordsIn(line: string): string[] {
  const [code = ""] = /^(?:[^#"]|"[^"]*")*/.exec(line)!;
  if (line[code.length] === '"') throw new Error("a quote is not closed");
  return code.match(/(?:[^\s"]|"[^"]*")+/g) ?? [];
}

function faultFrom(words: string[], startedAt: Date): ScriptedFault {
  const [venue, component, regions, kind, ...settings] = words;
  if (!venue || !component || !regions || !kind)
    throw new Error(`expected "venue component regions kind …", got "${words.join(" ")}"`);
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
    throw new Error(`unknown kind ${name}; expected one of ${faultKinds.join(", ")}`);
  const kind = name as FaultKind;
  if (value === undefined) return { kind };
  const readDetail = details[kind];
  if (!readDetail) throw new Error(`${kind} takes no number, got ${word}`);
  return { kind, ...readDetail(value) };
}

const details: Partial<Record<FaultKind, (value: string) => Partial<ScriptedFault>>> = {
  status: (value) => ({ status: wholeNumber(value) }),
  "handshake-refused": (value) => ({ status: wholeNumber(value) }),
  "socket-closed": (value) => ({ closeCode: wholeNumber(value) }),
  limited: (value) => ({ retryAfterS: durationMs(value) / 1000 }),
  slow: (value) => ({ latencyMs: durationMs(value) }),
  lags: (value) => ({ blocks: wholeNumber(value) }),
  "head-back": (value) => ({ blocks: wholeNumber(value) }),
  "back-in-time": (value) => ({ behindMs: durationMs(value) }),
};

function apply(setting: string, fault: ScriptedFault, startedAt: Date): void {
  const [name, ...rest] = setting.split("=");
  const value = rest.join("=");
  const fromStart = () => new Date(startedAt.getTime() + durationMs(value));
  if (name === "from") fault.from = fromStart();
  else if (name === "to") fault.to = fromStart();
  else if (name === "every") fault.everyMs = durationMs(value);
  else if (name === "location") fault.location = value;
  else if (name === "text") fault.text = unquoted(value);
  else if (name === "host") fault.host = value;
  else throw new Error(`unknown setting ${setting}; expected from=, to=, every=, host=, location= or text=`);
}

function postFrom(words: string[], startedAt: Date): ScriptedPost {
  const [venue = "", , title = "", impact = "", ...settings] = words;
  if (!/^".+"$/.test(title) || !/^[a-z]+$/.test(impact))
    throw new Error(`expected "venue notice "title" impact from=…", got "${words.join(" ")}"`);
  const post: Partial<ScriptedPost> = {};
  for (const setting of settings) applyToPost(setting, post, startedAt);
  const { postedAt } = post;
  if (!postedAt) throw new Error("a notice needs from=, when it is posted");
  return { ...post, venue, title: unquoted(title), impact, postedAt };
}

const statuses = Object.values(wordsOf).flatMap((words) => words.statuses);

function applyToPost(setting: string, post: Partial<ScriptedPost>, startedAt: Date): void {
  const [name = "", ...rest] = setting.split("=");
  const value = rest.join("=");
  const after = (text: string) => new Date(startedAt.getTime() + durationMs(text));
  if (name === "from") post.postedAt = after(value);
  else if (name === "started") post.startedAt = after(value);
  else if (name === "to") post.endedAt = after(value);
  else if (name === "deleted") post.deletedAt = after(value);
  else if (name === "every") post.everyMs = durationMs(value);
  else if (name === "about") post.components = unquoted(value).split(",");
  else if (name === "says") post.indicator = value;
  else if (statuses.includes(name)) (post.changes ??= []).push({ at: after(value), status: name });
  else if (name === "impact" || name === "title") {
    const [, at = "", text = ""] = /^([^:]*):(.+)$/.exec(value) ?? [];
    (post.changes ??= []).push({ at: after(at), [name]: unquoted(text) });
  } else
    throw new Error(
      `unknown setting ${setting}; expected from=, to=, started=, deleted=, every=, about=, says=, impact=, title= or a status`,
    );
}

function unquoted(text: string): string {
  return text.replaceAll('"', "");
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
  if (!number || !unit) throw new Error(`expected a duration such as 500ms, 90s or 15m, got ${text}`);
  return Number(number) * unitsMs[unit]!;
}

function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new Error(`expected a whole number, got ${text}`);
  return Number(text);
}
