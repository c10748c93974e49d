/** Nothing is painted green: no good sample is taken while its venue fails, or while the probe cannot reach it. */
import { chainVenues } from "../../shared/registry/chain-venues.js";
import type { Cluster } from "../cluster.js";
import { isTouched, type Period, type Taken } from "../ledger.js";
import { hasCounterpart, headComponent, isProvider } from "../venue.js";

/** A request that was under way when a fault began may have been answered before it. */
const beginsMs = 1_000;
/** A request of the last seconds may be answered after the fault. */
const endsMs = 7_000;
/** Silence of a stream is a fault after ten seconds, and a slot looks back over its cadence. */
const streamBeginsMs = 25_000;
/** Data that the network held up arrive later. */
const heldUpMs = 60_000;

/** A head is compared with others of the same probe, which it has read since a lag began. */
const comparedMs = 15_000;
/** Others must have been right for as long as a probe remembers their answers. */
const rememberedMs = 180_000;

/** A chain is judged by heads of the last fifteen seconds, and by the second answer with an old head. */
export const chainReadMs = 20_000;

const failingRest = ["errors", "silent", "slow", "nonsense", "limit", "ban", "halt", "down"];
/** While a venue is silent, no counterpart shows whether there were trades. */
const failingStream = (venue: string) => (hasCounterpart(venue) ? ["quiet stream"] : ["quiet stream", "silent"]);

export function checkGreen({ ledger, registry, probes, chain }: Cluster): Promise<string[]> {
  const standsAfterMs = Math.max(...chainVenues(registry).map(({ heads }) => heads!.standsAfterMs));
  const stands = ledger.periods.get(chain.name) ?? [];
  const goodHeads = goodHeadsOf(ledger);
  const problems = [...ledger.taken].flatMap(([key, takers]) =>
    takers.filter(isPaintedGreen).map(({ probe }) => `painted green: ${key} from ${probe}`),
  );
  return Promise.resolve(problems);

  function isPaintedGreen({ probe, region, sample }: Taken): boolean {
    if (sample.fault !== null) return false;
    const { venue, component } = sample;
    const slotMs = +sample.slotAt;
    const isRest = component.startsWith("rest:");
    const ofVenue = ledger.periods.get(venue) ?? [];
    const during = (periods: readonly Period[] = [], kinds: readonly string[], afterMs: number) =>
      periods.some(
        ({ what, fromMs, toMs }) => kinds.includes(what) && fromMs + afterMs < slotMs && slotMs < toMs - endsMs,
      );
    // slots by a wrong clock belong to another time
    const wrongClocks = (ledger.periods.get(probe) ?? []).filter(({ what }) => what === "clock");
    if (isTouched(wrongClocks, slotMs - heldUpMs, slotMs + heldUpMs)) return false;
    if (venue === chain.name)
      return during(ledger.periods.get(probe), ["cut"], chainReadMs) || hasStood(probe, region, slotMs);
    // the latest fault of a venue replaces the one before
    const replaced = ofVenue.filter(({ fromMs, toMs }) => fromMs < slotMs + endsMs && toMs > slotMs - streamBeginsMs);
    if (replaced.length > 1) return false;
    const ofWay = ledger.periods.get(`${probe} ${venue}`) ?? [];
    const isCutOff = during(ledger.periods.get(probe), ["cut"], beginsMs) || during(ofWay, ["part"], beginsMs);
    if (!isRest && isTouched(ofWay, slotMs - streamBeginsMs, slotMs)) return false;
    if (component === headComponent && isProvider(venue) && during(ofVenue, ["lag"], comparedMs))
      return hasOthers(probe, sample);
    return isRest
      ? during(ofVenue, failingRest, beginsMs) || isCutOff
      : component !== "ws:conn" &&
          !isTouched(ledger.periods.get(probe), slotMs - heldUpMs, slotMs) &&
          // a chain without blocks explains a quiet stream of a provider
          !(isProvider(venue) && isTouched(stands, slotMs - heldUpMs, slotMs)) &&
          during(ofVenue, failingStream(venue), streamBeginsMs);
  }

  /** Whether the chain has stood so long that the probe must know it, by two providers at least. */
  function hasStood(probe: string, region: string, slotMs: number): boolean {
    const providers = registry.venues.filter(({ id }) => isProvider(id)).map(({ id }) => id);
    const involved = ["database", ...probes.filter((one) => one.region === region).map(({ name }) => name)];
    return stands.some(({ fromMs, toMs }) => {
      if (slotMs <= fromMs + standsAfterMs + chainReadMs || slotMs >= toMs) return false;
      const isUndisturbed = (of: string) => !isTouched(ledger.periods.get(of), fromMs - chainReadMs, slotMs);
      const read = providers.filter((id) => isUndisturbed(id) && isUndisturbed(`${probe} ${id}`));
      return read.length >= 2 && involved.every(isUndisturbed);
    });
  }

  /** Whether the probe has recently read the heads of two other providers, none of which lags. */
  function hasOthers(probe: string, { venue, slotAt }: Taken["sample"]): boolean {
    const providers = registry.venues.filter(({ id }) => id !== venue && isProvider(id)).map(({ id }) => id);
    const right = providers.filter((id) => {
      const lags = (ledger.periods.get(id) ?? []).filter(({ what }) => what === "lag");
      const readMs = goodHeads.get(`${probe} ${id}`) ?? [];
      const isRead = readMs.some((ms) => ms < +slotAt - 1_000 && ms > +slotAt - comparedMs + 5_000);
      return isRead && !isTouched(lags, +slotAt - rememberedMs, +slotAt);
    });
    return right.length >= 2;
  }
}

/** The slots of good heads, by probe and venue. */
function goodHeadsOf({ taken }: Cluster["ledger"]): ReadonlyMap<string, number[]> {
  const slots = new Map<string, number[]>();
  for (const { probe, sample } of [...taken.values()].flat()) {
    if (sample.component !== headComponent || sample.fault !== null) continue;
    const of = `${probe} ${sample.venue}`;
    slots
      .set(of, slots.get(of) ?? [])
      .get(of)!
      .push(+sample.slotAt);
  }
  return slots;
}
