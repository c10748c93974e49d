/**
 * Each slot is measured at its instant, as long as one probe of its region is well and has had the time
 * to take over what others left. A takeover needs the database; measuring does not. A probe whose clock is wrong
 * notices it, and measures nothing.
 */
import { makePhases } from "../../probe/schedule/schedule.js";
import { watchedVenues } from "../../shared/registry/chain-venues.js";
import { componentsOf } from "../../shared/registry/components.js";
import type { Venue } from "../../shared/registry/registry.js";
import type { Cluster } from "../cluster.js";
import { isTouched, keyOf } from "../ledger.js";
import { chainReadMs } from "./green.js";
import { refusals } from "./pauses.js";

/** A lease expires after six seconds, and its venues are taken over within another six. */
const takenOverMs = 30_000;
const afterMs = 10_000;
/** A socket's backoff is at most twenty seconds. */
const subscribedMs = 90_000;
/** A disk holds up delivery only, and so does the way to the database; without a way to its venue, a slot is bad. */
const harmless = ["disk", "part", "reconnect"];
/** Within this time a probe compares its clock with enough hosts. */
const clockNoticedMs = 30_000;
/** Excluded after the start and before the end. */
const marginMs = 60_000;
/** The longest pause of a probe that a venue limits or bans. */
const longestPauseMs = 130_000;

export function checkCoverage(cluster: Cluster): Promise<string[]> {
  const { largerRegistry, ledger, nowMs } = cluster;
  const problems: string[] = [];
  for (const { id: region } of largerRegistry.regions) {
    const phaseOf = makePhases(largerRegistry, region);
    for (const entry of watchedVenues(largerRegistry))
      for (const { id: component, cadenceMs } of componentsOf(entry)) {
        const { id: venue, heads } = entry;
        const isAnswered = heads ? isReadAt(heads) : isMeasured;
        const isServed = component.startsWith("rest:") ? isAnswered : isReceived;
        const phaseMs = phaseOf({ venue, component, cadenceMs });
        const knownMs = knownSinceMs(cluster, venue);
        const firstMs = Math.ceil((knownMs + marginMs - phaseMs) / cadenceMs) * cadenceMs + phaseMs;
        for (let slotMs = firstMs; slotMs < nowMs() - marginMs; slotMs += cadenceMs) {
          const key = keyOf(region, { venue, component, slotAt: new Date(slotMs) });
          if (!ledger.taken.has(key) && isServed(cluster, region, slotMs, venue)) problems.push(`not measured: ${key}`);
        }
      }
  }
  return Promise.resolve([...problems, ...offTheGrid(cluster), ...byWrongClocks(cluster)]);
}

/** Infinity: it never was. */
function knownSinceMs({ registry, ledger, startMs }: Cluster, venue: string): number {
  if (watchedVenues(registry).some(({ id }) => id === venue)) return startMs;
  const [firstRollout] = ledger.periods.get("registry") ?? [];
  return firstRollout?.toMs ?? Infinity;
}

/** Whether nothing has disturbed streams from the venue: after a fault, a socket needs a while to have subscribed. */
function isReceived({ ledger, probes }: Cluster, region: string, slotMs: number, venue: string): boolean {
  const here = probes.filter((one) => one.region === region).map(({ name }) => name);
  const involved = ["database", venue, ...here, ...here.map((name) => `${name} ${venue}`)];
  return involved.every((of) => !isTouched(ledger.periods.get(of), slotMs - subscribedMs, slotMs + afterMs));
}

/**
 * A chain is read by the answers of its providers. While it goes on, those of one provider must have been undisturbed
 * for a while. While it stands, two must name the same head, and a probe that has just started does not know how old
 * that is. For a moment after the limit, it is old at one provider only.
 */
function isReadAt({ providers, standsAfterMs }: NonNullable<Venue["heads"]>): typeof isMeasured {
  return (cluster, region, slotMs, venue) => {
    const { chain, ledger, probes } = cluster;
    const here = probes.filter((one) => one.region === region).map(({ name }) => name);
    const isUndisturbed = (name: string) =>
      !isTouched(ledger.periods.get(name), slotMs - longestPauseMs, slotMs + afterMs);
    const read = providers.filter((one) => [one, ...here.map((name) => `${name} ${one}`)].every(isUndisturbed));
    const stands = ledger.periods.get(chain.name) ?? [];
    if (stands.some(({ fromMs }) => slotMs > fromMs && slotMs <= fromMs + standsAfterMs + chainReadMs)) return false;
    const isRead = isUndisturbed(chain.name) ? read.length > 0 : read.length > 1 && here.every(isUndisturbed);
    return isRead && isMeasured(cluster, region, slotMs, venue);
  };
}

/** Whether one of the region's probes is well, and has had the time and the means to take over. */
function isMeasured({ ledger, probes }: Cluster, region: string, slotMs: number, venue: string): boolean {
  if (isTouched(refusals(ledger.periods.get(venue)), slotMs - longestPauseMs, slotMs)) return false;
  const here = probes.filter((one) => one.region === region).map(({ name }) => name);
  const fromMs = slotMs - takenOverMs;
  const toMs = slotMs + afterMs;
  const troubles = (name: string) => (ledger.periods.get(name) ?? []).filter(({ what }) => !harmless.includes(what));
  const isWell = (name: string) => !isTouched(troubles(name), fromMs, toMs);
  if (here.every(isWell)) return true;
  const hasChanged = (name: string) =>
    (ledger.periods.get(name) ?? []).some((one) => [one.fromMs, one.toMs].some((at) => at >= fromMs && at <= toMs));
  // a probe that resolves no names keeps its venues: it needs them for new connections only
  const mayLackNames = here.some((name) =>
    isTouched(
      (ledger.periods.get(name) ?? []).filter(({ what }) => what === "dns"),
      slotMs,
      slotMs,
    ),
  );
  if (mayLackNames) return false;
  // without the database nobody learns that a probe is gone, until a while after it is back
  const couldTakeOver = !isTouched(ledger.periods.get("database"), fromMs - takenOverMs, toMs);
  return !here.some(hasChanged) && couldTakeOver && here.some(isWell);
}

function offTheGrid({ largerRegistry, ledger }: Cluster): string[] {
  const cadences = new Map(
    watchedVenues(largerRegistry).flatMap((venue) =>
      componentsOf(venue).map(({ id, cadenceMs }) => [`${venue.id} ${id}`, cadenceMs] as const),
    ),
  );
  const phases = new Map(largerRegistry.regions.map(({ id }) => [id, makePhases(largerRegistry, id)]));
  return [...ledger.taken.values()].flatMap((takers) =>
    takers.flatMap(({ region, sample }) => {
      const cadenceMs = cadences.get(`${sample.venue} ${sample.component}`);
      if (cadenceMs === undefined) return [];
      const isOn = (+sample.slotAt - phases.get(region)!({ ...sample, cadenceMs })) % cadenceMs === 0;
      return isOn ? [] : [`measured beside its slots: ${keyOf(region, sample)}`];
    }),
  );
}

function byWrongClocks({ ledger }: Cluster): string[] {
  return [...ledger.taken].flatMap(([key, takers]) =>
    takers.flatMap(({ probe, atMs }) => {
      const periods = ledger.periods.get(probe) ?? [];
      const isWrong = periods.some(
        ({ what, fromMs, toMs }) => what === "clock" && fromMs + clockNoticedMs < atMs && atMs < toMs,
      );
      // after a restart it compares its clock from the beginning, and without a network it cannot
      const others = periods.filter(({ what }) => what !== "clock");
      return isWrong && !isTouched(others, atMs - clockNoticedMs, atMs) ? [`measured by a wrong clock: ${key}`] : [];
    }),
  );
}
