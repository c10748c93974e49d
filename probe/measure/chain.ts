import { chainCadence, type ReadChain } from "../../shared/registry/chain-venues.js";
import { staleHeadMs } from "../../shared/rules/probe-rules.js";

/** A chain's height as an answer reported it. Times are by `performance.now()`. */
export interface NamedHead {
  chain: string;
  /** The host that reported it: several venues may read a chain there. */
  provider: string;
  head: number;
  askedMs: number;
  endedMs: number;
}

export interface ChainHeads {
  /**
   * Records the head. Returns its minimum age in milliseconds if that is too old, and not because the chain stands;
   * otherwise null.
   */
  staleMs(named: NamedHead): number | null;
  /** Whether a chain has new blocks; null if this probe has not seen enough of its providers to tell. */
  goesOn(chain: string, nowMs: number): boolean | null;
  /**
   * Whether a provider has named a new block since an instant, give or take the time that all need to name the same;
   * null if fewer than two were heard since.
   */
  wentOn(chain: string, sinceMs: number): boolean | null;
}

/** A head, as it was judged when it was reported. */
interface JudgedHead extends NamedHead {
  oldMs: number;
  /** It is too old, but so is that of another provider: the chain stands. */
  stands: boolean;
}

/**
 * Where one provider's word stands against another's and they differ by more than this, one of the heads belongs to
 * another chain or is invented, and nobody knows which, unless the two were nearer once. The distance is a time, so
 * that it suits any chain: a provider that falls behind passes through it as slowly as the chain makes blocks. Chains
 * that split from each other years ago, such as Bitcoin's, are only weeks of blocks apart.
 */
const farthestMs = 24 * 60 * 60_000;

/** How long an answer is remembered at least, and for how many slots of the slowest provider. */
const rememberedMs = 3 * 60_000;
const rememberedSlots = 3;

/** A provider that has reported no head for this many slots no longer says that the chain stands. */
const heardSlots = 3;

/** A chain may be faster than its configured block time by this factor. */
const quickestFactor = 0.95;

/** The maximum height of a chain at an instant, derived from two providers. */
interface Ceiling {
  head: number;
  atMs: number;
}

/**
 * Compares the heads that this probe reads with each other. If an earlier answer reported the same head or a higher
 * one, the head is as old as that answer, plus one block time for each block that the answer was ahead. So the
 * comparison finds a head that does not move as well as one that lags behind others.
 *
 * If a head is old at two providers and none goes on from it, the chain itself stands, or went back.
 */
export function makeChainHeads(chains: ReadonlyMap<string, ReadChain>): ChainHeads {
  const byChain = new Map([...chains].map(([chain, read]) => [chain, makeChain(read)]));
  return {
    staleMs: (named) => byChain.get(named.chain)?.staleMs(named) ?? null,
    goesOn: (chain, nowMs) => byChain.get(chain)?.goesOn(nowMs) ?? null,
    wentOn: (chain, sinceMs) => byChain.get(chain)?.wentOn(sinceMs) ?? null,
  };
}

// eslint-disable-next-line max-lines-per-function -- all steps share the memory of one chain
function makeChain({ blockMs, hosts }: ReadChain) {
  const limitMs = staleHeadMs(blockMs);
  const pace = { blockMs, limitMs };
  const rememberMs = Math.max(rememberedMs, 2 * limitMs, rememberedSlots * Math.max(...hosts.values(), 0));
  const heardMs = heardSlots * (chainCadence({ hosts }) ?? 0);
  let remembered: JudgedHead[] = [];
  let ceiling: Ceiling | null = null;
  /** Pairs of providers whose heads were near each other once. */
  const met = new Set<string>();

  /**
   * The larger of two ages. The first is the second greatest age by answers of the same provider, because a single
   * answer may be an error. The second is the second greatest age by the other providers, so that one provider that
   * reports heads which do not exist yet makes no other stale. If there is only one other provider, it is the second
   * greatest age by its confirmed answers.
   *
   * Only a head far above may be invented: one that is far below what two others agree on is stale at any distance. So
   * is one that falls behind the only other provider, if this probe has seen the two near each other.
   */
  function ageMs({ provider, head, askedMs }: NamedHead): number {
    const earlier = remembered.filter((had) => had.endedMs <= askedMs);
    const newest = new Map(earlier.filter((had) => had.provider !== provider).map((had) => [had.provider, had]));
    const compared = [...newest.values()].filter(
      (had) => isNear(had.head, head, pace) || met.has(pairOf(provider, had.provider)),
    );
    const only = compared.length === 1 ? compared[0]!.provider : null;
    const before = earlier.filter(
      (had) => isNear(had.head, head, pace) || (had.provider === only && met.has(pairOf(provider, only))),
    );
    const farAbove = [...newest.values()].filter((had) => had.head > head && !isNear(had.head, head, pace));
    const agreed = farAbove.filter((one) => farAbove.some((two) => two !== one && isNear(one.head, two.head, pace)));
    const ageBy = (had: NamedHead) => (had.head < head ? 0 : askedMs - had.endedMs + (had.head - head) * blockMs);
    const of = (one: string) => before.filter((had) => had.provider === one);
    const others = new Set(before.map((had) => had.provider));
    others.delete(provider);
    const [other] = others;
    return Math.max(
      secondGreatest(of(provider).map(ageBy)),
      secondGreatest(agreed.map(ageBy)),
      other !== undefined && others.size === 1
        ? secondGreatest(borneOut(of(other)).map(ageBy))
        : secondGreatest([...others].map((one) => Math.max(...of(one).map(ageBy)))),
    );
  }

  /** Whether the height is old because the chain stands: another has the same, and too few went on from it. */
  function isOfChain({ provider, head, endedMs }: NamedHead): boolean {
    const others = answersByProvider(provider);
    const agree = others.filter((answers) => {
      const newest = answers.at(-1)!;
      return endedMs - newest.endedMs <= heardMs && Math.abs(newest.head - head) * blockMs <= limitMs;
    });
    const past = others.filter((answers) => isPast(answers, head, pace));
    return agree.length > 0 && !outweigh(past.length, agree.length + 1);
  }

  /** The answers of each of the chain's providers but `except`. */
  function answersByProvider(except?: string): JudgedHead[][] {
    return [...hosts.keys()]
      .filter((host) => host !== except)
      .map((host) => remembered.filter(({ provider }) => provider === host))
      .filter((answers) => answers.length > 0);
  }

  /**
   * Answers whose height is possible below the ceiling, and after which the provider's head rose at a possible pace.
   * That excludes single errors, jumps, and a head that does not move.
   */
  function borneOut(answers: NamedHead[]): NamedHead[] {
    const possible = answers.filter((had) => ceiling && isWithin(ceiling, had, pace));
    return possible.filter(({ head, endedMs }) =>
      possible.some(
        (later) => later.endedMs > endedMs && later.head > head && isWithin({ head, atMs: endedMs }, later, pace),
      ),
    );
  }

  /**
   * The ceiling is the lower head of two providers when they last agreed. While they disagree, it rises at the chain's
   * pace. If they have never agreed, it is the higher head, so that a probe that starts while a provider lags still
   * finds it.
   */
  function raise({ provider, head, endedMs }: NamedHead) {
    const newest = new Map<string, NamedHead>();
    for (const had of remembered)
      if (had.provider !== provider && isNear(had.head, head, pace)) newest.set(had.provider, had);
    for (const had of newest.values()) {
      met.add(pairOf(provider, had.provider));
      const expected = had.head + (endedMs - had.endedMs) / blockMs;
      const agree = Math.abs(head - expected) * blockMs <= limitMs;
      if (agree) ceiling = { head: Math.min(head, expected), atMs: endedMs };
      else ceiling ??= { head: Math.max(head, expected), atMs: endedMs };
    }
  }

  /**
   * Whether a provider has named a new block within the limit: one above its own earlier heads, and above what some
   * other provider had first, because a node that is behind rises while the chain stands. After the start of this
   * probe, a head that stands is as fresh as one that moves.
   */
  function hasRisen(provider: string): boolean {
    const answers = remembered.filter((had) => had.provider === provider);
    const { head, endedMs } = answers.at(-1)!;
    const reached = answers.findIndex((had) => had.head >= head);
    const others = answersByProvider(provider).flatMap(([first]) => (isNear(first!.head, head, pace) ? first! : []));
    return (
      reached > 0 &&
      endedMs - answers[reached]!.endedMs <= limitMs &&
      (others.length === 0 || others.some((first) => first.head < head))
    );
  }

  function remember(judged: JudgedHead) {
    const sinceMs = judged.endedMs - rememberMs;
    remembered = remembered.filter(({ endedMs }) => endedMs > sinceMs);
    raise(judged);
    remembered.push(judged);
  }

  return {
    staleMs(named: NamedHead): number | null {
      const oldMs = ageMs(named);
      const stands = oldMs > limitMs && isOfChain(named);
      remember({ ...named, oldMs, stands });
      return oldMs > limitMs && !stands ? Math.round(oldMs) : null;
    },
    goesOn(nowMs: number): boolean | null {
      const heard = answersByProvider()
        .map((answers) => answers.at(-1)!)
        .filter(({ endedMs }) => nowMs - endedMs <= heardMs);
      const standing = heard.filter(({ stands }) => stands);
      const fresh = heard.filter(({ oldMs }) => oldMs <= limitMs);
      // a head above that the chain cannot have reached since is invented
      const goOn = (one: JudgedHead) =>
        standing.some(
          ({ head, endedMs, oldMs }) => one.head > head && isWithin({ head, atMs: endedMs - oldMs }, one, pace),
        );
      if (standing.length > 1 && !outweigh(fresh.filter(goOn).length, standing.length)) return false;
      const risen = fresh.filter(({ provider }) => hasRisen(provider));
      return outweigh(risen.length, fresh.length - risen.length) ? true : null;
    },
    wentOn(sinceMs: number): boolean | null {
      const fromMs = sinceMs + heardMs;
      const heard = answersByProvider().flatMap((answers) => {
        const later = answers.filter(({ askedMs }) => askedMs > fromMs);
        const known = Math.max(answers[0]!.head, ...answers.flatMap((had) => (had.endedMs > fromMs ? [] : had.head)));
        const last = later.at(-1);
        if (!last) return [];
        // the heads of a node that is behind rise while the chain stands
        if (last.oldMs > limitMs && !last.stands) return "behind";
        return later.some(({ head, oldMs }) => head > known && oldMs <= limitMs) ? "rose" : "stood";
      });
      const count = (of: (typeof heard)[number]) => heard.filter((one) => one === of).length;
      if (outweigh(count("rose"), count("stood"))) return true;
      return heard.length > 1 ? false : null;
    },
  };
}

/** A chain's block time, and the age beyond which its heads are too old. */
interface Pace {
  blockMs: number;
  limitMs: number;
}

/**
 * Whether a provider, whose heads rose at a possible pace to the present one, has been above a height for too long. A
 * long wait for one block does not count in full: once the chain goes on, a provider that is two blocks behind has been
 * so for the whole wait.
 */
function isPast(answers: readonly NamedHead[], from: number, pace: Pace): boolean {
  const { blockMs, limitMs } = pace;
  const newest = answers.at(-1)!;
  const rises: { head: number; atMs: number; countedMs: number }[] = [];
  for (const { head, endedMs } of answers) {
    const last = rises.at(-1);
    if (head > newest.head || (last && head <= last.head)) continue;
    const countedMs = last ? last.countedMs + Math.min(endedMs - last.atMs, limitMs / 2) : 0;
    rises.push({ head, atMs: endedMs, countedMs });
  }
  const { countedMs } = rises.at(-1)!;
  return rises.some(
    (rise) =>
      rise.head > from &&
      rise.head < newest.head &&
      countedMs - rise.countedMs + (rise.head - from) * blockMs > limitMs &&
      isWithin(rise, newest, pace),
  );
}

/** Two outweigh any number, and one a single other: no provider decides alone against two. */
function outweigh(some: number, others: number): boolean {
  return some > 0 && some >= Math.min(2, others);
}

function pairOf(one: string, other: string): string {
  return [one, other].sort().join(" ");
}

function isNear(one: number, other: number, { blockMs }: Pace): boolean {
  return Math.abs(one - other) * blockMs <= farthestMs;
}

function isWithin({ head, atMs }: Ceiling, { head: named, endedMs }: NamedHead, { blockMs, limitMs }: Pace): boolean {
  const mayGrowMs = (endedMs - atMs) / quickestFactor + limitMs;
  return (named - head) * blockMs <= mayGrowMs;
}

/** The second greatest number; 0 if there is none. */
function secondGreatest(numbers: number[]): number {
  return numbers.sort((a, b) => b - a)[1] ?? 0;
}
