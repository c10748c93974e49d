/** A strict reader of Prometheus' text format, version 0.0.4: it rejects everything that the format does not define. */

export interface Series {
  name: string;
  labels: Record<string, string>;
  value: number;
}

export interface Family {
  name: string;
  type: string;
  help: string;
  series: Series[];
}

const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const seriesLine = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{.*\})? (\S+)$/;
const labelPair = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"/;
const number = /^(?:[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|NaN|[+-]Inf)$/i;

/** Suffixes that series of a family may have beside its plain name. */
const endings: Record<string, string[]> = {
  gauge: [""],
  counter: [""],
  untyped: [""],
  histogram: ["_bucket", "_sum", "_count"],
  summary: ["", "_sum", "_count"],
};

/** Returns the families in order, each with help, type and then its series. @throws Error at the first bad line */
export function parseExposition(text: string): Family[] {
  if (!text.endsWith("\n")) throw new Error("the last line has no end");
  const families: Family[] = [];
  const seen = new Set<string>();
  for (const [at, line] of text.slice(0, -1).split("\n").entries()) {
    try {
      if (line !== "") readLine(line, families, seen);
    } catch (error) {
      const { message } = error as Error;
      throw new Error(`line ${at + 1}: ${message}: ${line}`, { cause: error });
    }
  }
  for (const { name, type } of families) if (type === "") throw new Error(`${name} has no type`);
  return families;
}

function readLine(line: string, families: Family[], seen: Set<string>): void {
  const current = families.at(-1);
  if (line.startsWith("# HELP ")) return begin(line.slice(7), families);
  if (line.startsWith("# TYPE ")) return setType(line.slice(7), current);
  if (line.startsWith("#")) throw new Error("neither help nor type");
  const series = readSeries(line);
  const own = endings[current?.type ?? ""] ?? [];
  if (!current || !own.some((end) => series.name === current.name + end))
    throw new Error("a series outside its family");
  const key = JSON.stringify([series.name, Object.entries(series.labels).sort()]);
  if (seen.has(key)) throw new Error("a series twice");
  seen.add(key);
  current.series.push(series);
}

function begin(rest: string, families: Family[]): void {
  const [name = "", ...words] = rest.split(" ");
  const help = unescaped(words.join(" "), /\\(.)/g, "\\n");
  if (!metricName.test(name)) throw new Error("no name");
  if (help === "") throw new Error("no help");
  if (families.some((family) => family.name === name)) throw new Error("a family twice");
  families.push({ name, type: "", help, series: [] });
}

function setType(rest: string, current: Family | undefined): void {
  const [name = "", type = "", ...more] = rest.split(" ");
  if (!current || current.name !== name) throw new Error("a type without its help");
  if (current.type !== "" || current.series.length > 0) throw new Error("a type too late or twice");
  if (!(type in endings) || more.length > 0) throw new Error("no such type");
  current.type = type;
}

function readSeries(line: string): Series {
  const [, name, braced, value] = seriesLine.exec(line) ?? [];
  if (!name || !value || !number.test(value)) throw new Error("no series");
  return { name, labels: readLabels(braced), value: valueOf(value) };
}

function readLabels(braced: string | undefined): Record<string, string> {
  if (braced === undefined) return {};
  const labels: Record<string, string> = {};
  let rest = braced.slice(1, -1);
  for (;;) {
    const [pair, label, value] = labelPair.exec(rest) ?? [];
    if (pair === undefined || label === undefined || value === undefined) throw new Error("no label");
    if (Object.hasOwn(labels, label)) throw new Error("a label twice");
    labels[label] = unescaped(value, /\\(.)/g, '"\\n');
    rest = rest.slice(pair.length);
    if (rest === "") return labels;
    if (!rest.startsWith(",")) throw new Error("no comma");
    rest = rest.slice(1);
  }
}

function unescaped(text: string, escapes: RegExp, known: string): string {
  return text.replace(escapes, (_all, letter: string) => {
    if (!known.includes(letter)) throw new Error("no such escape");
    return letter === "n" ? "\n" : letter;
  });
}

function valueOf(text: string): number {
  return Number(text.replace(/inf$/i, "Infinity"));
}
