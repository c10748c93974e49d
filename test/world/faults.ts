/** What can go wrong in the world, for whom, and from when to when. */
import type { Registry, Venue } from "../../server/registry.js";

/** Where a kind of fault acts: on REST answers, on connections of the socket, on the streams that flow through it. */
type Place = "rest" | "connection" | "stream";

interface KindRules {
  /** Empty: the whole venue, for every region alike. */
  places: Place[];
  /** Numbers and texts that this kind takes. */
  takes: (keyof FaultDetails)[];
}

const rules = {
  /** Nothing listens any more: connecting is refused. */
  refused: { places: [], takes: [] },
  /** The connection is reset (RST): at a request, at an upgrade, and sockets that are open. */
  reset: { places: ["rest", "connection"], takes: [] },
  /** Accepts a request or an upgrade, and never answers. */
  timeout: { places: ["rest", "connection"], takes: [] },
  /** Answers with `status` (default 503), upgrades too; a redirect goes to `location`. */
  status: { places: ["rest", "connection"], takes: ["status", "location"] },
  /** 429 with Retry-After of `retryAfterS` (default 30), upgrades too. */
  limited: { places: ["rest", "connection"], takes: ["retryAfterS"] },
  /** 200 with a page of HTML. */
  "wrong-body": { places: ["rest"], takes: [] },
  /** 200 with the error envelope of this venue. */
  "error-inside": { places: ["rest"], takes: [] },
  /** The good answer `latencyMs` later (default 3000), upgrades too. */
  slow: { places: ["rest", "connection"], takes: ["latencyMs"] },
  /** A body that comes byte by byte and never ends. */
  drip: { places: ["rest"], takes: [] },
  /** A body that comes as fast as the client reads and never ends. */
  endless: { places: ["rest"], takes: [] },
  /** No data, while the socket, its pings and its acknowledgements live. */
  silent: { places: ["stream"], takes: [] },
  /** Open sockets are closed, new ones right after opening, with `closeCode` (default 1012). */
  "socket-closed": { places: ["connection"], takes: ["closeCode"] },
  /** Upgrades are answered with `status` (default 503); open sockets live on. */
  "handshake-refused": { places: ["connection"], takes: ["status"] },
  /** The socket stays open, and nothing comes through it any more, pongs included. */
  "dead-socket": { places: ["connection"], takes: [] },
} satisfies Record<string, KindRules>;

export type FaultKind = keyof typeof rules;
export const faultKinds = Object.keys(rules) as FaultKind[];

interface FaultDetails {
  status?: number;
  location?: string;
  retryAfterS?: number;
  latencyMs?: number;
  closeCode?: number;
}

export interface ScriptedFault extends FaultDetails {
  kind: FaultKind;
  /** Registry id, or `*`. */
  venue: string;
  /** `rest:<name>`, `rest:*`, `ws:<name>`, `ws:conn`, `ws:*`. Absent: everything of the venue that this kind can befall. */
  component?: string;
  /** Absent: all, and clients that name no region. */
  regions?: string[];
  /** Absent: since ever. */
  from?: Date;
  /** Absent: for ever. */
  to?: Date;
  /** Comes back this long after each beginning. */
  everyMs?: number;
}

export interface Target {
  venue: string;
  component: string;
  region: string | null;
}

/** The first of `faults` that is under way and befalls the target. */
export function faultOf(
  faults: readonly ScriptedFault[],
  target: Target,
  at: Date,
  among?: readonly FaultKind[],
): ScriptedFault | undefined {
  return faults.find(
    (fault) =>
      (!among || among.includes(fault.kind)) &&
      befalls(fault, target) &&
      underWay(fault, at),
  );
}

function befalls(fault: ScriptedFault, { venue, component, region }: Target) {
  if (fault.venue !== "*" && fault.venue !== venue) return false;
  if (fault.regions && !(region && fault.regions.includes(region)))
    return false;
  if (rules[fault.kind].places.length === 0) return true;
  return (
    placeOf(component).some((place) => actsOn(fault.kind, place)) &&
    covers(fault.component, component)
  );
}

function covers(pattern: string | undefined, component: string): boolean {
  if (pattern === undefined) return true;
  return pattern.endsWith("*")
    ? component.startsWith(pattern.slice(0, -1))
    : component === pattern;
}

/** `ws:*` may mean connections and streams. */
function placeOf(component: string): Place[] {
  if (component.startsWith("rest:")) return ["rest"];
  if (component === "ws:conn") return ["connection"];
  return component === "ws:*" ? ["connection", "stream"] : ["stream"];
}

function actsOn(kind: FaultKind, place: Place): boolean {
  return (rules[kind].places as Place[]).includes(place);
}

function underWay(fault: ScriptedFault, at: Date): boolean {
  const { from, to } = phaseOf(fault, at);
  return from <= at.getTime() && at.getTime() < to;
}

/** When a fault next begins or ends after `at`, Unix milliseconds; Infinity: never. */
export function nextChange(fault: ScriptedFault, at: Date): number {
  const { from, to, next } = phaseOf(fault, at);
  if (at.getTime() < from) return from;
  return at.getTime() < to ? to : next;
}

/** Beginning and end of the occurrence that is under way or, between two, that is over; and the beginning of the next. */
function phaseOf({ from, to, everyMs }: ScriptedFault, at: Date) {
  const first = {
    from: from?.getTime() ?? -Infinity,
    to: to?.getTime() ?? Infinity,
  };
  if (everyMs === undefined || at.getTime() < first.from)
    return { ...first, next: Infinity };
  const passed = Math.floor((at.getTime() - first.from) / everyMs) * everyMs;
  return {
    from: first.from + passed,
    to: first.to + passed,
    next: first.from + passed + everyMs,
  };
}

/** @throws Error that names everything that is wrong with the faults */
export function checkFaults(
  faults: readonly ScriptedFault[],
  registry: Registry,
): void {
  const problems = faults.flatMap((fault, index) =>
    problemsOf(fault, registry).map(
      (problem) =>
        `fault ${index + 1} (${fault.venue} ${fault.component ?? "*"} ${fault.kind}): ${problem}`,
    ),
  );
  if (problems.length > 0)
    throw new Error(
      `The world cannot play its script:\n${problems.join("\n")}`,
    );
}

function problemsOf(fault: ScriptedFault, registry: Registry): string[] {
  if (!(fault.kind in rules))
    return [`the kind is unknown; expected one of ${faultKinds.join(", ")}`];
  return [
    ...venueProblems(fault, registry.venues),
    ...regionProblems(fault, registry),
    ...reachProblems(fault),
    ...timeProblems(fault),
    ...detailProblems(fault),
  ];
}

function venueProblems({ venue, component }: ScriptedFault, venues: Venue[]) {
  const meant = venues.filter(({ id }) => venue === "*" || id === venue);
  if (meant.length === 0)
    return [
      `the venue is not in the registry; expected * or one of ${venues.map(({ id }) => id).join(", ")}`,
    ];
  const known = new Set(meant.flatMap(componentsOf));
  if (component === undefined || known.has(component)) return [];
  return [
    `${venue} has no component ${component}; expected one of ${[...known].join(", ")}`,
  ];
}

function componentsOf({ rest, socket }: Venue): string[] {
  const streams = socket?.streams.map(({ name }) => `ws:${name}`) ?? [];
  return [
    ...(rest.length > 0 ? ["rest:*"] : []),
    ...rest.map(({ name }) => `rest:${name}`),
    ...(socket ? ["ws:*", "ws:conn"] : []),
    ...streams,
  ];
}

function regionProblems({ regions }: ScriptedFault, registry: Registry) {
  const known = registry.regions.map(({ id }) => id);
  return (regions ?? [])
    .filter((region) => !known.includes(region))
    .map(
      (region) =>
        `the region ${region} is not in the registry; expected some of ${known.join(", ")}`,
    );
}

function reachProblems({ kind, component, regions }: ScriptedFault) {
  const { places } = rules[kind];
  if (places.length === 0)
    return component || regions
      ? [
          "a closed listener refuses every region and the whole venue; leave regions and component out, or use reset",
        ]
      : [];
  if (component === undefined) return [];
  return placeOf(component).some((place) => actsOn(kind, place))
    ? []
    : [`${kind} acts on ${places.join(" and ")} only, not on ${component}`];
}

function timeProblems({ from, to, everyMs }: ScriptedFault): string[] {
  if (from && to && to <= from) return ["it ends before it begins"];
  if (everyMs === undefined) return [];
  return from && to && to.getTime() - from.getTime() < everyMs
    ? []
    : ["what repeats needs a beginning, and an end within the period"];
}

function detailProblems(fault: ScriptedFault): string[] {
  const takes: string[] = rules[fault.kind].takes;
  return (
    ["status", "location", "retryAfterS", "latencyMs", "closeCode"] as const
  )
    .filter((name) => fault[name] !== undefined && !takes.includes(name))
    .map((name) => `${fault.kind} takes no ${name}`);
}
