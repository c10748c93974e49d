import { didYouMean } from "../../../shared/text/nearest-word.js";
import { filledUrl, type Json, placeholder, placeholderNames, stringsIn } from "./formats/template.js";

// Templates are checked when a channel is added, so that no alert is the first to show a mistake.

const longestTemplate = 16 * 1024;
const mostPlaceholders = 100;
const mostLevels = 32;
const longestText = 20_000;

/** What was expected of a template and what came, naming the placeholder; null where it is valid. */
export function problemOfTemplate(text: string): string | null {
  if (text.length > longestTemplate)
    return `expected a template of at most ${longestTemplate} characters, got ${text.length}`;
  const template = parsed(text);
  if (template === undefined) return "expected a template in JSON, got something else";
  if (template === null || typeof template !== "object")
    return `expected a template that is a JSON object or array, got ${template === null ? "null" : `a ${typeof template}`}`;
  if (levelsOf(template) > mostLevels) return `expected a template of at most ${mostLevels} levels, got more`;
  const inName = namesIn(template).find((name) => name.includes("{{"));
  if (inName !== undefined)
    return `expected placeholders in values only, got one in the name ${JSON.stringify(inName)}`;
  const strings = stringsIn(template);
  const count = strings.reduce((sum, string) => sum + [...string.matchAll(placeholder)].length, 0);
  if (count > mostPlaceholders) return `expected at most ${mostPlaceholders} placeholders, got ${count}`;
  return strings.map(problemOfText).find((problem) => problem !== null) ?? null;
}

/** What was expected of the address for ends and what came; null where its placeholders are valid. */
export function problemOfEndUrl(url: string): string | null {
  const [wrong] = /\{\{[^}]{0,40}\}*/.exec(filledUrl(url, "key")) ?? [];
  if (wrong !== undefined) return `expected {{key}} as the only placeholder of an address, got ${wrong}`;
  return /^\w+:\/\/[^/]*\{\{/.test(url) ? "expected {{key}} after the host, got it within the host" : null;
}

function problemOfText(text: string): string | null {
  for (const [whole, name = "", limit] of text.matchAll(placeholder)) {
    if (!placeholderNames.includes(name))
      return `expected a placeholder that exists, got ${whole}${didYouMean(name, placeholderNames)}; there are ${placeholderNames.join(", ")}`;
    if (limit !== undefined && (Number(limit) < 1 || Number(limit) > longestText))
      return `expected a length from 1 to ${longestText}, got ${whole}`;
  }
  const [broken] = /\{\{.{0,40}/.exec(text.replace(placeholder, "")) ?? [];
  return broken === undefined ? null : `expected a placeholder such as {{headline}} or {{headline:130}}, got ${broken}`;
}

/** Undefined: it is no JSON. The parser's message would repeat a part of the template, which may be a key. */
function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** Level by level: a recursion could be deeper than the stack. */
function levelsOf(node: Json): number {
  let levels = 0;
  for (let level = [node]; level.length > 0; levels += 1)
    level = level.flatMap((one) => (one !== null && typeof one === "object" ? Object.values(one) : []));
  return levels;
}

function namesIn(node: Json): string[] {
  if (node === null || typeof node !== "object") return [];
  return [...(Array.isArray(node) ? [] : Object.keys(node)), ...Object.values(node).flatMap(namesIn)];
}
