/**
 * A world as text, so that worlds can be written by hand, and failed ones can be read:
 *
 *     from 2026-01-15T12:00:00Z, 24 instants every 5s
 *     rules min_samples=2
 *     away from 60s to 90s
 *     regions eu us
 *     eu runs on m1 from -60s
 *     eu runs on several from 60s
 *     okx rest:ticker, every 5s at 0ms
 *       eu   .*12 x*3@2 _*4 900ms
 *       operator retracts at 90s
 *       us   typical 2026-01-15T06:00:00Z 100ms
 *       us   .*20
 *
 * A component may be `new` (no region has seen it good) and `ends at 60s`. A slot is `.` good, `x` failed, `b` blocked,
 * `l` limited, `u` unserved, `900ms` good with that latency, `x900ms` failed with that latency, or `_` not measured.
 * `x*3` is three failed slots, and `x@2` is one that reached the database two seconds after its slot.
 * The first slot is at the first instant plus the component's phase; `from -60s` at the start of a line makes it
 * earlier. There are no instants while the engine is away: in the example, 90s is the next one.
 */
import type { Component, Rules, Sample, Venue, World } from "../second-opinion/world.js";

/** @param rules the values of rules that the text does not name */
export function worldOf(text: string, rules: Rules): World {
  const world: World = {
    ...{ rules: { ...rules }, instants: [], regions: [], venues: [] },
    ...{ samples: [], typical: [], vantages: [], retractions: [] },
  };
  let place = { venue: "", component: "" };
  let every = { cadenceMs: 0, phaseMs: 0 };

  for (const line of text.split("\n").map((one) => one.trim())) {
    const head = /^from (\S+), (\d+) instants every (\d+)ms$/.exec(seconds(line));
    const component = /^(\S+) ((rest|ws):[a-z]+), every (\d+)ms(?: at (\d+)ms)?(, new)?(?:, ends at (\d+)s)?$/.exec(
      seconds(line),
    );
    const typical = /^(\S+)\s+typical (\S+) ([\d.]+)ms$/.exec(line);
    const slots = /^(\S+)\s+(?:from (-?\d+)s\s+)?((?:(?:[._xblu]|[xbl]?[\d.]+ms)[*@\d]*(?:\s+|$))+)$/.exec(line);
    const vantage = /^(\S+) runs on (\S+) from (-?[\d.]+)s$/.exec(line);
    const retraction = /^operator retracts at (\d+)s$/.exec(line);
    const away = /^away from (\d+)s to (\d+)s$/.exec(line);
    if (line === "") continue;
    else if (head) {
      world.rules.step_ms = Number(head[3]);
      const from = Date.parse(head[1]!);
      world.instants = Array.from({ length: Number(head[2]) }, (_, i) => from + i * world.rules.step_ms);
    } else if (/^rules\b/.test(line))
      for (const pair of line.split(/\s+/).slice(1)) {
        const [name, value] = pair.split("=");
        if (!(name! in rules)) throw new Error(`expected a rule, not ${name}`);
        world.rules[name as keyof Rules] = Number(value);
      }
    else if (line.startsWith("regions ")) world.regions = line.split(/\s+/).slice(1);
    else if (component) {
      const [, venue, id, kind, cadenceMs, phaseMs, isNew, endsS] = component;
      const endsAt = endsS === undefined ? null : world.instants[0]! + Number(endsS) * 1000;
      place = { venue: venue!, component: id! };
      every = { cadenceMs: Number(cadenceMs), phaseMs: Number(phaseMs ?? 0) };
      const of = { isNew: isNew !== undefined, endsAt };
      venueOf(world, venue!).components.push({
        ...{ id: id!, kind: kind as "rest" | "ws", cadenceMs: every.cadenceMs },
        ...of,
      });
    } else if (away) {
      const [from, to] = [Number(away[1]), Number(away[2])];
      const second = (at: number) => (at - world.instants[0]!) / 1000;
      world.instants = world.instants.filter((at) => second(at) < from || second(at) >= to);
    } else if (retraction) world.retractions.push({ ...place, at: world.instants[0]! + Number(retraction[1]) * 1000 });
    else if (vantage)
      world.vantages.push({
        region: vantage[1]!,
        machine: vantage[2] === "several" ? null : vantage[2]!,
        holdsFrom: world.instants[0]! + Number(vantage[3]) * 1000,
      });
    else if (typical)
      world.typical.push({
        ...place,
        region: typical[1]!,
        boundary: Date.parse(typical[2]!),
        latencyUs: Number(typical[3]) * 1000,
      });
    else if (slots) {
      const first = world.instants[0]! + Number(slots[2] ?? 0) * 1000 + every.phaseMs;
      const words = slots[3]!.trim().split(/\s+/);
      world.samples.push(
        ...words.flatMap(slotsOf).flatMap((slot, i): Sample[] => {
          if (slot.what === "_") return [];
          const of = { ...place, region: slots[1]!, ts: first + i * every.cadenceMs };
          const fault = faultOf(slot.what, place.component);
          const latencyUs = latencyOf(slot.what, place.component);
          return [{ ...of, fault, unserved: slot.what === "u", latencyUs, receivedAfterS: slot.late }];
        }),
      );
    } else throw new Error(`a world has no line like this: ${line}`);
  }
  return world;
}

/** Converts cadences to milliseconds, so that patterns need only one unit. */
function seconds(line: string): string {
  return line.replace(/every (\d+)s\b/, (_, s) => `every ${Number(s) * 1000}ms`);
}

function venueOf(world: World, id: string): Venue {
  const known = world.venues.find((venue) => venue.id === id);
  if (known) return known;
  const venue: Venue = { id, components: [] };
  world.venues.push(venue);
  return venue;
}

function slotsOf(word: string): { what: string; late: number }[] {
  const parts = /^([._xblu]|[xbl]?[\d.]+ms)(?:\*(\d+))?(?:@(\d+))?$/.exec(word);
  if (!parts) throw new Error(`expected a slot like . or x*3 or 900ms@2, not ${word}`);
  const slot = { what: parts[1]!, late: Number(parts[3] ?? 0) };
  return Array.from({ length: Number(parts[2] ?? 1) }, () => slot);
}

function faultOf(what: string, component: string): string | null {
  if (what === "u") return component.startsWith("ws:") ? "closed" : "limited";
  return faults[what[0]!] ?? null;
}

const faults: Record<string, string> = { x: "timeout", b: "blocked", l: "limited" };

const goodUs = 80_000;

function latencyOf(what: string, component: string): number | null {
  const took = /^[xbl]?([\d.]+)ms$/.exec(what);
  if (took) return Math.round(Number(took[1]) * 1000);
  return what === "." && component.startsWith("rest:") ? goodUs : null;
}

/** @param usual rules that need not be named */
export function textOf(world: World, usual: Rules): string {
  const { instants, rules } = world;
  const lasts = instants.at(-1)! - instants[0]! + rules.step_ms;
  const unusual = Object.entries(rules).filter(([name, value]) => value !== usual[name as keyof Rules]);
  const lines = [
    `from ${new Date(instants[0]!).toISOString()}, ${lasts / rules.step_ms} instants every ${rules.step_ms}ms`,
    `rules ${unusual.map(([name, value]) => `${name}=${value}`).join(" ")}`,
    ...absencesOf(world),
    `regions ${world.regions.join(" ")}`,
    ...world.vantages.map(
      ({ region, holdsFrom, machine }) =>
        `${region} runs on ${machine ?? "several"} from ${(holdsFrom - instants[0]!) / 1000}s`,
    ),
  ];
  for (const venue of world.venues)
    for (const component of venue.components) lines.push(...linesOf(world, venue.id, component));
  return lines.join("\n");
}

function absencesOf({ instants, rules }: World): string[] {
  return instants.flatMap((at, place) => {
    const next = instants[place + 1] ?? at;
    if (next - at <= rules.step_ms) return [];
    const second = (then: number) => (then - instants[0]!) / 1000;
    return [`away from ${second(at + rules.step_ms)}s to ${second(next)}s`];
  });
}

function linesOf(world: World, venue: string, { id: component, cadenceMs, isNew, endsAt }: Component): string[] {
  const isOfIt = (one: { venue: string; component: string }) => one.venue === venue && one.component === component;
  const samples = world.samples.filter(isOfIt);
  const start = world.instants[0]!;
  const phaseMs = ((((samples[0]?.ts ?? start) - start) % cadenceMs) + cadenceMs) % cadenceMs;
  const lines = [
    [
      `${venue} ${component}, every ${cadenceMs}ms at ${phaseMs}ms`,
      ...(isNew ? ["new"] : []),
      ...(endsAt == null ? [] : [`ends at ${(endsAt - start) / 1000}s`]),
    ].join(", "),
    ...world.typical
      .filter(isOfIt)
      .map((one) => `  ${one.region} typical ${new Date(one.boundary).toISOString()} ${one.latencyUs / 1000}ms`),
    ...world.retractions.filter(isOfIt).map(({ at }) => `  operator retracts at ${(at - start) / 1000}s`),
  ];
  for (const region of world.regions) {
    const series = samples.filter((one) => one.region === region).toSorted((a, b) => a.ts - b.ts);
    if (series.length === 0) continue;
    const words: string[] = [];
    const first = series[0]!.ts;
    const at = new Map(series.map((one) => [one.ts, one]));
    for (let ts = first; ts <= series.at(-1)!.ts; ts += cadenceMs) words.push(wordOf(at.get(ts)));
    lines.push(`  ${region} from ${(first - phaseMs - start) / 1000}s ${inRuns(words)}`);
  }
  return lines;
}

function wordOf(sample: Sample | undefined): string {
  if (!sample) return "_";
  const { fault, unserved, latencyUs, receivedAfterS } = sample;
  const late = receivedAfterS === 0 ? "" : `@${receivedAfterS}`;
  const took = latencyUs === null ? "" : `${latencyUs / 1000}ms`;
  if (unserved) return `u${late}`;
  const letter = fault === "blocked" ? "b" : fault === "limited" ? "l" : "x";
  if (fault !== null) return `${letter}${took}${late}`;
  return latencyUs === null || latencyUs === goodUs ? `.${late}` : took + late;
}

function inRuns(words: string[]): string {
  const runs: { word: string; times: number }[] = [];
  for (const word of words) {
    const last = runs.at(-1);
    if (last?.word === word) last.times++;
    else runs.push({ word, times: 1 });
  }
  return runs
    .map(({ word, times }) => {
      const [what, late] = word.split("@");
      return `${what}${times > 1 ? `*${times}` : ""}${late ? `@${late}` : ""}`;
    })
    .join(" ");
}
