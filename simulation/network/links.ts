/**
 * The links between machines: how long a segment takes, and which links are cut. Each direction is a link of its own.
 */
import type { SeededRandom } from "../seeded-random.js";
import type { Machine } from "../virtual-time.js";

export interface LinkQuality {
  /** The least time that a segment takes. */
  delayMs: number;
  /** Each segment takes up to this much longer. */
  jitterMs: number;
  /** The probability that a segment is lost, and has to be sent again. */
  lossShare: number;
  /** The probability that a segment arrives as two: TCP has no boundaries within its stream. */
  splitShare: number;
  /** The probability that a connection is reset when only a part of a segment has arrived. */
  cutShare: number;
}

export interface Link {
  readonly from: Machine;
  readonly to: Machine;
  /** Nothing passes. */
  isCut: () => boolean;
  /** How long the next segment takes, with its retransmissions. */
  nextDelayMs: () => number;
  /** Where the next segment of `length` bytes is divided, and why; null: it stays whole. */
  nextDivision: (length: number) => { at: number; thenReset: boolean } | null;
}

export interface Links {
  between: (from: Machine, to: Machine) => Link;
  set: (from: Machine, to: Machine, quality: Partial<LinkQuality>) => void;
  cut: (from: Machine, to: Machine) => void;
  mend: (from: Machine, to: Machine) => void;
  /** Of the next segment, only a part arrives. */
  cutNextSegment: (from: Machine, to: Machine) => void;
}

export const usualQuality: LinkQuality = {
  ...{ delayMs: 0.2, jitterMs: 0.8, lossShare: 0, splitShare: 0.05, cutShare: 0 },
};

/** Within a machine nothing is lost. */
const loopbackQuality: LinkQuality = {
  ...{ delayMs: 0.02, jitterMs: 0.03, lossShare: 0, splitShare: 0, cutShare: 0 },
};

/** As in Linux: the least time after which a segment is sent again. It doubles with each loss of the same segment. */
export const firstRetransmissionMs = 200;
/** A limit, so that a link that loses everything causes no endless loop. */
const mostLosses = 9;

interface State extends Link {
  quality: LinkQuality;
  isBroken: boolean;
  cutsNext: boolean;
}

export function makeLinks(random: SeededRandom): Links {
  const links = new Map<Machine, Map<Machine, State>>();

  function between(from: Machine, to: Machine): State {
    let some = links.get(from);
    if (!some) links.set(from, (some = new Map<Machine, State>()));
    let link = some.get(to);
    if (!link) some.set(to, (link = makeLink(from, to, random)));
    return link;
  }

  return {
    between,
    set(from, to, quality) {
      const link = between(from, to);
      link.quality = { ...link.quality, ...quality };
    },
    cut: (from, to) => void (between(from, to).isBroken = from !== to),
    mend: (from, to) => void (between(from, to).isBroken = false),
    cutNextSegment: (from, to) => void (between(from, to).cutsNext = true),
  };
}

function makeLink(from: Machine, to: Machine, random: SeededRandom): State {
  const link: State = {
    ...{ from, to, quality: from === to ? loopbackQuality : usualQuality, isBroken: false, cutsNext: false },
    isCut: () => link.isBroken,
    nextDelayMs() {
      const { delayMs, jitterMs, lossShare } = link.quality;
      let retransmissionsMs = 0;
      for (let losses = 0; losses < mostLosses && lossShare > 0 && random.chance(lossShare); losses += 1)
        retransmissionsMs += firstRetransmissionMs * 2 ** losses;
      return delayMs + random.next() * jitterMs + retransmissionsMs;
    },
    nextDivision(length) {
      if (length < 2) return null;
      const { splitShare, cutShare } = link.quality;
      const thenReset = link.cutsNext || (cutShare > 0 && random.chance(cutShare));
      if (!thenReset && !(splitShare > 0 && random.chance(splitShare))) return null;
      link.cutsNext = false;
      return { at: random.integer(1, length - 1), thenReset };
    },
  };
  return link;
}
