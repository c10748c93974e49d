/** Refuses faults that the world cannot play. */
import { componentsOf } from "../shared/registry/components.js";
import type { Registry, Venue } from "../shared/registry/registry.js";
import { ofChains } from "./chain-heads.js";
import {
  actsOn,
  covers,
  faultKinds,
  type FaultPlace,
  placesOf,
  rules,
  type FaultDetails,
  type ScriptedFault,
} from "./faults.js";
import { measuredHosts, nodeHosts } from "./loopback-registry.js";
import { feedServer } from "./notices/feed-server.js";
import { transferComponents } from "./transfers.js";
import { hasWordsFor, isSpoken } from "./venue-words.js";

/** @throws Error that names every problem of the faults */
export function checkFaults(faults: readonly ScriptedFault[], registry: Registry): void {
  const problems = faults.flatMap((fault, index) =>
    problemsOf(fault, registry).map(
      (problem) => `fault ${index + 1} (${fault.venue} ${fault.component ?? "*"} ${fault.kind}): ${problem}`,
    ),
  );
  if (problems.length > 0) throw new Error(`The world cannot play its script:\n${problems.join("\n")}`);
}

function problemsOf(fault: ScriptedFault, registry: Registry): string[] {
  if (!(fault.kind in rules)) return [`the kind is unknown; expected one of ${faultKinds.join(", ")}`];
  return [
    ...venueProblems(fault, registry.venues),
    ...chainProblems(fault, registry.venues),
    ...wordProblems(fault, registry.venues),
    ...hostProblems(fault, registry.venues),
    ...regionProblems(fault, registry),
    ...reachProblems(fault),
    ...timeProblems(fault),
    ...detailProblems(fault),
  ];
}

function venueProblems({ venue, component }: ScriptedFault, venues: Venue[]) {
  const meant = meantBy(venue, venues);
  if (meant.length === 0)
    return [`the venue is not in the registry; expected * or one of ${venues.map(({ id }) => id).join(", ")}`];
  const known = new Set(meant.flatMap((one) => namesOf(one, venues)));
  if (component === undefined || known.has(component)) return [];
  return [`${venue} has no component ${component}; expected one of ${[...known].join(", ")}`];
}

function chainProblems({ kind, venue }: ScriptedFault, venues: Venue[]) {
  if (!ofChains.includes(kind)) return [];
  const readers = venues.filter(({ chain }) => chain !== null);
  return venue === "*" || readers.some(({ id }) => id === venue)
    ? []
    : [`${venue} reads no chain; expected * or one of ${readers.map(({ id }) => id).join(", ")}`];
}

/** A venue whose entry has no such words says nothing. */
function wordProblems({ kind, venue, component }: ScriptedFault, venues: Venue[]) {
  if (!isSpoken(kind)) return [];
  const says = ({ rest, socket }: Venue) =>
    rest.some((endpoint) => covers(component, `rest:${endpoint.name}`) && hasWordsFor(kind, endpoint)) ||
    (socket !== null && covers(component, "ws:conn") && hasWordsFor(kind, socket));
  return meantBy(venue, venues).some(says)
    ? []
    : [`the registry has no words for it of ${venue} ${component ?? ""}`.trimEnd()];
}

function hostProblems({ kind, venue, component, host }: ScriptedFault, venues: Venue[]) {
  if (host === undefined) return [];
  const nodes = nodeHosts(venues);
  const hosts = [...new Set(meantBy(venue, venues).flatMap(measuredHosts))];
  const closable = hosts.filter((one) => nodes.has(one));
  if (!hosts.includes(host)) return [`${venue} has no host ${host}; expected one of ${hosts.join(", ")}`];
  if (component === "official") return ["a status feed is served at one host only; leave host out"];
  return kind === "refused" && !nodes.has(host)
    ? [`only nodes of third parties refuse alone (${closable.join(", ") || "there are none"}); use reset or status`]
    : [];
}

function meantBy(venue: string, venues: Venue[]): Venue[] {
  return venues.filter(({ id }) => venue === "*" || id === venue);
}

function namesOf(venue: Venue, venues: Venue[]): string[] {
  const ids = componentsOf(venue).map(({ id }) => id);
  const places = new Set(ids.map((id) => id.replace(/:.*/, ":*")));
  // a shared feed belongs to the venue that serves it
  const servesFeed = feedServer(venue, venues) === venue;
  return [...places, ...ids, ...(servesFeed ? ["official"] : []), ...transferComponents(venue)];
}

function regionProblems({ regions }: ScriptedFault, registry: Registry) {
  const known = registry.regions.map(({ id }) => id);
  return (regions ?? [])
    .filter((region) => !known.includes(region))
    .map((region) => `the region ${region} is not in the registry; expected some of ${known.join(", ")}`);
}

function reachProblems({ kind, component, regions }: ScriptedFault) {
  const { places } = rules[kind];
  if (places.length === 0)
    return component || regions
      ? ["a closed listener refuses every region and the whole venue; leave regions and component out, or use reset"]
      : [];
  const isApart = component === "official" || component?.startsWith("transfers");
  if (isApart && regions) return [`clients of ${component} name no region; leave regions out`];
  if (component === undefined)
    return mustBeNamed.has(String(places)) ? [`${kind} acts on ${String(places)} only: name it as the component`] : [];
  return placesOf(component).some((place) => actsOn(kind, place))
    ? []
    : [`${kind} acts on ${places.join(" and ")} only, not on ${component}`];
}

/** Places that a fault without a component does not reach. */
const mustBeNamed: ReadonlySet<string> = new Set(["official", "list", "line"] satisfies FaultPlace[]);

function timeProblems({ from, to, everyMs }: ScriptedFault): string[] {
  if (from && to && to <= from) return ["it ends before it begins"];
  if (everyMs === undefined) return [];
  return from && to && to.getTime() - from.getTime() < everyMs
    ? []
    : ["a repeating fault needs a beginning, and an end within the period"];
}

function detailProblems(fault: ScriptedFault): string[] {
  const takes = rules[fault.kind].takes as (keyof FaultDetails)[];
  return (Object.keys(isFine) as (keyof FaultDetails)[])
    .filter((name) => fault[name] !== undefined)
    .flatMap((name) => {
      if (!takes.includes(name)) return [`${fault.kind} takes no ${name}`];
      return isFine[name](Number(fault[name])) ? [] : [`${name} is out of range: ${fault[name]}`];
    });
}

const isFine: Record<keyof FaultDetails, (value: number) => boolean> = {
  // 1xx is not a final answer.
  status: (value) => value >= 200 && value <= 599,
  location: () => true,
  text: () => true,
  retryAfterS: (value) => value >= 0,
  latencyMs: (value) => value >= 0 && value < 2 ** 31,
  behindMs: (value) => value > 0,
  blocks: (value) => Number.isSafeInteger(value) && value > 0,
  // The codes that a WebSocket may send.
  closeCode: (value) =>
    (value >= 1000 && value <= 1014 && ![1004, 1005, 1006].includes(value)) || (value >= 3000 && value <= 4999),
};
