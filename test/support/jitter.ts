/**
 * Whether and when an incident opens for one REST component, measured from three regions, whose requests sometimes fail
 * by chance. Implements only the parts of docs/rulebook.md, chapters 3, 5 and 6, that apply to such a component, so
 * that thousands of days take seconds: no region is silent or impaired, no sample is missing, and no incident was open
 * before. `jitter.test.ts` compares it with the whole rule book. Random worlds have such slots, too.
 */
import type { Rules } from "../second-opinion/world.js";

export const regions = ["eu-central", "ap-southeast", "us-east"];
const cadenceS = 5;
const timeoutMs = 4_500;

export interface Trouble {
  /** Share of all requests that are answered at once with an error. */
  errorShare: number;
  timeoutShare: number;
}

/** The usual failures on the public internet. */
export const jitter: Trouble = { errorShare: 0.01, timeoutShare: 0.005 };

/** The samples of one region, slot by slot. */
export interface Slots {
  /** 1 where the sample failed. */
  failed: Uint8Array;
  /** Time until the answer or the timeout, for good and failed samples. */
  latencyMs: Uint16Array;
}

/**
 * Makes answers with a log-normal latency around a median of 120 ms. One in fifty takes longer, by a heavy-tailed
 * factor that has no mean. The trouble begins at the given slot; before it, everything is well.
 */
export function randomSlots(random: () => number, count: number, trouble: Trouble, fromSlot = 0): Slots {
  const failed = new Uint8Array(count);
  const latencyMs = new Uint16Array(count);
  for (let slot = 0; slot < count; slot += 1) {
    const chance = slot < fromSlot ? 1 : random();
    const timesOut = chance < trouble.timeoutShare;
    if (timesOut || chance < trouble.timeoutShare + trouble.errorShare) failed[slot] = 1;
    latencyMs[slot] = timesOut ? timeoutMs : Math.min(latencyOf(random), timeoutMs - 1);
  }
  return { failed, latencyMs };
}

export const typicalMs = 120;

function latencyOf(random: () => number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const usual = typicalMs * Math.exp(0.5 * normal);
  return random() < 0.02 ? usual / (1 - random()) ** (1 / 0.9) : usual;
}

/** Returns the whole seconds after its slot at which a sample is known. */
export function knownAfterS(latencyMs: number): number {
  return Math.ceil((latencyMs + 1) / 1000);
}

/**
 * Returns when an incident first opens, in seconds after slot 0, which is `phaseS` after an instant of the engine;
 * null: never. The first three windows serve only as the past.
 */
export function firstOpeningS(seen: readonly Slots[], phaseS: number, rules: Rules): number | null {
  const views = seen.map((slots) => new View(slots, rules));
  const quorum = Math.floor(seen.length / 2) + 1;
  const stepS = rules.step_ms / 1000;
  for (let slot = views[0]!.firstSlot; slot < seen[0]!.failed.length; slot += 1)
    for (let afterS = 0; afterS < cadenceS; afterS += 1) {
      const atS = slot * cadenceS + afterS;
      if ((atS + phaseS) % stepS !== 0) continue;
      // only a bad region confirms
      const confirming = views.filter((view) => view.isBad(slot, afterS) && view.confirms(slot, afterS));
      if (confirming.length >= quorum) return atS;
    }
  return null;
}

/** One region's view, from running counts: only the newest slot may be unknown. */
class View {
  /** The first slot with enough past. */
  readonly firstSlot: number;
  private readonly inWindow: number;
  /** Counts failures in all slots before it. */
  private readonly failedBefore: Uint32Array;
  private readonly slowBefore: Uint32Array;
  /** Number of bad slots in a row, up to this one. */
  private readonly run: Uint32Array;

  constructor(
    private readonly slots: Slots,
    private readonly rules: Rules,
  ) {
    this.inWindow = rules.window_ms / 1000 / cadenceS;
    this.firstSlot = rules.partial_windows * this.inWindow;
    const { failed, latencyMs } = slots;
    const slowFromMs = Math.max(rules.slow_multiple * typicalMs, typicalMs + rules.slow_floor_ms);
    this.failedBefore = new Uint32Array(failed.length + 1);
    this.slowBefore = new Uint32Array(failed.length + 1);
    this.run = new Uint32Array(failed.length);
    for (let slot = 0; slot < failed.length; slot += 1) {
      const slow = !failed[slot] && latencyMs[slot]! >= slowFromMs ? 1 : 0;
      this.failedBefore[slot + 1] = this.failedBefore[slot]! + failed[slot]!;
      this.slowBefore[slot + 1] = this.slowBefore[slot]! + slow;
      if (failed[slot] || slow) this.run[slot] = (slot > 0 ? this.run[slot - 1]! : 0) + 1;
    }
  }

  isBad(newest: number, afterS: number): boolean {
    const end = this.endOfKnown(newest, afterS);
    const from = newest - this.inWindow + 1;
    const samples = end - from;
    const failed = this.failedBefore[end]! - this.failedBefore[from]!;
    const slow = this.slowBefore[end]! - this.slowBefore[from]!;
    return (
      failed / samples >= this.rules.degraded_bad_share ||
      (slow >= 1 && slow >= (samples - failed) / 2) ||
      this.failsInPart(newest, end)
    );
  }

  /** Applies to a bad component. */
  confirms(newest: number, afterS: number): boolean {
    const end = this.endOfKnown(newest, afterS);
    return this.run[end - 1]! >= this.rules.opening_bad_run || this.failsInPart(newest, end);
  }

  /** Returns the slot after the newest known one. Every earlier slot is known before the next one begins. */
  private endOfKnown(newest: number, afterS: number): number {
    return knownAfterS(this.slots.latencyMs[newest]!) <= afterS ? newest + 1 : newest;
  }

  private failsInPart(newest: number, end: number): boolean {
    const { partial_windows, degraded_bad_share } = this.rules;
    const first = newest - partial_windows * this.inWindow + 1;
    const failedIn = (from: number, to: number) => this.failedBefore[to]! - this.failedBefore[from]!;
    if (failedIn(first, end) / (end - first) < degraded_bad_share) return false;
    for (let from = first; from < end; from += this.inWindow) {
      const to = Math.min(from + this.inWindow, end);
      if (failedIn(from, to) / (to - from) < degraded_bad_share / 2) return false;
    }
    return true;
  }
}
