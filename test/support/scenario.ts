/**
 * The engine's behaviour as text: what the regions measured, one line each, and what the engine must then do. README.md
 * in the folder of scenarios describes the format.
 */
import { readdir, readFile } from "node:fs/promises";
import { rulesRow } from "../../shared/rules/engine-rules.js";
import { packagedFile } from "../../shared/config/package.js";
import type { Fault } from "../../shared/measurement/sample.js";

export interface Scenario {
  /** Its name in the folder of scenarios. */
  file: string;
  /** The sentences that describe what it shows. */
  shows: string;
  /** The numbers of the rule book that it depends on. */
  rules: string[];
  /** Kinds of states that are reported besides components, impaired regions and incidents. */
  alsoSeen: string[];
  /** The regions that the registry publishes; null: those of the packaged registry, plus others that are measured. */
  regions: string[] | null;
  /** Regions whose probes all run on one machine, and are therefore one vantage. */
  onOneMachine: string[];
  /** Venues whose entries are new, so that no region has seen them good. */
  news: string[];
  /** Components that end at a time since the start, by their entry. */
  ends: { atMs: number; component: string }[];
  startsAt: Date;
  /** Null: the step of the rules. */
  decidedEveryMs: number | null;
  /** How often the engine runs and decides what is due; null: at every instant. */
  noticedEveryMs: number | null;
  /** Spans in which the engine is away. */
  away: { fromMs: number; toMs: number }[];
  happenings: Happening[];
  series: Series[];
  /** The expected events, one line each. */
  expected: string[];
}

/** An event other than a sample, at a time since the start. */
export interface Happening {
  atMs: number;
  kind: "leaves the registry" | "alerts are sent" | "operator retracts";
  /** The region or component that leaves, or the incident that is retracted. */
  what: string;
}

export interface Series extends Measured {
  region: string;
  /** The latency in each of the hours before the start, up to the last full one; null: not measured. */
  hoursBefore: (number | null)[];
  /** One per slot from the start; null: not measured. */
  samples: (Sample | null)[];
}

interface Measured {
  venue: string;
  component: string;
  cadenceMs: number;
  /** The typical latency in all regions; null: derived from the hours before. */
  typicalMs: number | null;
}

interface Sample {
  fault: Fault | null;
  latencyMs: number | null;
  /** The venue prevented the slot. */
  unserved: boolean;
  receivedAfterS: number;
}

const good = (latencyMs: number) => ({ fault: null, latencyMs, unserved: false });
const failed = (fault: Fault) => ({ fault, latencyMs: null, unserved: false });

const letters: Record<string, Omit<Sample, "receivedAfterS"> | null> = {
  _: null,
  ".": good(80),
  s: good(2_500),
  x: failed("timeout"),
  h: failed("http"),
  d: failed("dns"),
  l: failed("limited"),
  b: failed("blocked"),
  c: failed("closed"),
  t: failed("stall"),
  o: failed("stale"),
  u: { ...failed("limited"), unserved: true },
  v: { ...failed("closed"), unserved: true },
};

const alsoSeen = ["regions", "venues", "fleet"];

const folder = packagedFile("test/scenarios");

/** Returns all of them, in the order of the chapters. */
export async function readScenarios(): Promise<Scenario[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".txt"));
  return Promise.all(
    files.sort().map(async (file) => parseScenario(await readFile(`${folder}/${file}`, "utf8"), file)),
  );
}

/** @throws Error that names the file and the line that cannot be parsed */
export function parseScenario(text: string, file = "scenario"): Scenario {
  const lines = text.split("\n").map((line) => line.trim());
  const proseEnds = lines.findIndex((line) => line === "" || line.startsWith("venue "));
  const reading = startReading(file, lines.slice(0, proseEnds).join(" "));
  lines.forEach((line, index) => {
    if (index < proseEnds || line === "") return;
    try {
      readLine(reading, line);
    } catch (error) {
      throw new Error(`${file}, line ${index + 1}: ${(error as Error).message}`);
    }
  });
  if (reading.series.length === 0) throw new Error(`${file}: expected a line of samples, and found none`);
  return reading;
}

/** A scenario of which some lines are read. */
interface Reading extends Scenario {
  /** The series that the next lines of samples belong to. */
  measured: Measured[];
  /** By region, for the next line of its samples. */
  hoursBefore: Map<string, (number | null)[]>;
}

function startReading(file: string, shows: string): Reading {
  return {
    file,
    shows,
    rules: [],
    alsoSeen: [],
    regions: null,
    onOneMachine: [],
    news: [],
    ends: [],
    startsAt: new Date(NaN),
    decidedEveryMs: null,
    noticedEveryMs: null,
    away: [],
    happenings: [],
    series: [],
    expected: [],
    measured: [],
    hoursBefore: new Map(),
  };
}

type Parts = (string | undefined)[];

const kindsOfLines: [RegExp, (reading: Reading, parts: Parts) => void][] = [
  [
    /^rule: (.+)$/,
    (reading, [names]) => (reading.rules = listed(names!, Object.keys(rulesRow), "a number of rules.ts")),
  ],
  [/^also seen: (.+)$/, (reading, [names]) => (reading.alsoSeen = listed(names!, alsoSeen, alsoSeen.join(", ")))],
  [/^published: (.+)$/, (reading, [regions]) => (reading.regions = regions!.split(" "))],
  [/^new: (.+)$/, (reading, [venues]) => (reading.news = venues!.split(" "))],
  [/^([a-z]+:[a-z]+) ends at \+(\d+)s$/, readEnd],
  [/^one machine: (.+)$/, (reading, [regions]) => (reading.onOneMachine = regions!.split(" "))],
  [
    /^venue (\S+), ((?:rest|ws):[a-z]+), every (\d+)s(?:, typical (\d+)ms)?(?:, from (\S+?))?(?:, decided every (\d+)s)?(?:, noticed every (\d+)s)?$/,
    readVenue,
  ],
  [/^((?:rest|ws):[a-z]+), every (\d+)s(?:, typical (\d+)ms)?$/, readComponent],
  [/^engine away \+(\d+)s to \+(\d+)s$/, readAway],
  [/^at \+(\d+)s (\S+) leaves the registry$/, readHappening("leaves the registry")],
  [/^at \+(\d+)s all alerts are sent$/, readHappening("alerts are sent")],
  [/^at \+(\d+)s operator retracts (\S+)$/, readHappening("operator retracts")],
  [/^(\+\d+s .*)$/, (reading, [line]) => reading.expected.push(line!.replace(/\s+/g, " "))],
  [/^([a-z]+-[a-z]+) before: (.+)$/, readHoursBefore],
  [/^([a-z]+-[a-z]+) +(\S.*)$/, readSamples],
];

function readLine(reading: Reading, line: string): void {
  for (const [pattern, read] of kindsOfLines) {
    const found = pattern.exec(line);
    if (found) return read(reading, found.slice(1));
  }
  throw new Error(`a scenario has no line such as "${line}"`);
}

function listed(names: string, known: string[], expected: string): string[] {
  return names.split(", ").map((name) => {
    if (known.includes(name)) return name;
    throw new Error(`expected ${expected}, not "${name}"`);
  });
}

function readVenue(reading: Reading, parts: Parts): void {
  const [venues, component, everyS, typicalMs, from, decidedS, noticedS] = parts;
  reading.measured = measuredOf(venues!.split("+"), component!, everyS!, typicalMs);
  if (from) reading.startsAt = new Date(from);
  if (Number.isNaN(+reading.startsAt))
    throw new Error(`expected "from" and a time like 2026-01-15T12:00:00Z, not "${from ?? "nothing"}"`);
  if (decidedS) reading.decidedEveryMs = Number(decidedS) * 1000;
  if (noticedS) reading.noticedEveryMs = Number(noticedS) * 1000;
}

/** A component of the venues named last. */
function readComponent(reading: Reading, [component, everyS, typicalMs]: Parts): void {
  const venues = reading.measured.map(({ venue }) => venue);
  reading.measured = measuredOf(venues, component!, everyS!, typicalMs);
}

function measuredOf(venues: string[], component: string, everyS: string, typicalMs: string | undefined): Measured[] {
  return venues.map((venue) => ({
    venue,
    component,
    cadenceMs: Number(everyS) * 1000,
    typicalMs: typicalMs === undefined ? null : Number(typicalMs),
  }));
}

function readAway(reading: Reading, [fromS, toS]: Parts): void {
  const [fromMs, toMs] = [Number(fromS) * 1000, Number(toS) * 1000];
  reading.away.push({ fromMs, toMs });
}

function readEnd(reading: Reading, [component, atS]: Parts): void {
  reading.ends.push({ atMs: Number(atS) * 1000, component: component! });
}

function readHappening(kind: Happening["kind"]) {
  return (reading: Reading, [atS, what = ""]: Parts) => {
    reading.happenings.push({ atMs: Number(atS) * 1000, kind, what });
  };
}

function readHoursBefore(reading: Reading, [region, hours]: Parts): void {
  const medians = samplesOf(hours!).map((sample) => sample?.latencyMs ?? null);
  reading.hoursBefore.set(region!, medians);
}

function readSamples(reading: Reading, [region, runs]: Parts): void {
  if (reading.measured.length === 0) throw new Error(`expected a line "venue …" above the first samples`);
  const hoursBefore = reading.hoursBefore.get(region!) ?? [];
  reading.hoursBefore.delete(region!);
  const samples = samplesOf(runs!);
  for (const measured of reading.measured) reading.series.push({ ...measured, region: region!, hoursBefore, samples });
}

function samplesOf(runs: string): (Sample | null)[] {
  return runs.split(/\s+/).flatMap((run) => {
    const parts = /^(.|\d+ms)(?:\*(\d+))?(?:@(\d+))?$/.exec(run);
    const answer = parts && answerOf(parts[1]!);
    if (!parts || answer === undefined)
      throw new Error(
        `expected samples like . or x*3 or 700ms*3 or x*3@90, not "${run}"; the letters are ${Object.keys(letters).join(" ")}`,
      );
    const sample = answer && { ...answer, receivedAfterS: Number(parts[3] ?? 0) };
    return Array<Sample | null>(Number(parts[2] ?? 1)).fill(sample);
  });
}

function answerOf(letter: string) {
  return letter.endsWith("ms") ? good(parseInt(letter)) : letters[letter];
}
