import { limits } from "../../shared/measurement/probe-rules.js";
import type { Registry } from "../../shared/registry/registry.js";

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
  /** Records the head. Returns its minimum age in milliseconds if that is too old; otherwise null. */
  staleMs(named: NamedHead): number | null;
}

/**
 * Where one provider's word stands against another's, a head that is further away than this belongs to another chain,
 * or is invented: nobody knows which of the two. The longer of the two applies: chains make from one to two thousand
 * blocks in ten minutes.
 */
const farthestMs = 24 * 60 * 60_000;
const farthestBlocks = 100_000;

/** How long an answer is remembered at least. */
const rememberedMs = 3 * 60_000;

/** A chain may be faster than its configured block time by this factor. */
const quickest = 0.95;

/** The maximum height of a chain at an instant, derived from two providers. */
interface Ceiling {
  head: number;
  atMs: number;
}

/**
 * Compares the heads that this probe reads with each other. If an earlier answer reported the same head or a higher
 * one, the head is as old as that answer, plus one block time for each block that the answer was ahead. So the
 * comparison finds a head that does not move as well as one that lags behind others.
 */
export function makeChainHeads(chains: NonNullable<Registry["chains"]>): ChainHeads {
  const byChain = new Map(Object.entries(chains).map(([chain, { blockMs }]) => [chain, makeChain(blockMs)]));
  return {
    staleMs: (named) => byChain.get(named.chain)?.staleMs(named) ?? null,
  };
}

function makeChain(blockMs: number): ChainHeads {
  const limitMs = Math.max(limits.stale_head_floor_ms, limits.stale_head_blocks * blockMs);
  let remembered: NamedHead[] = [];
  let ceiling: Ceiling | null = null;

  /**
   * The larger of two ages. The first is the second greatest age by answers of the same provider, because a single
   * answer may be an error. The second is the second greatest age by the other providers, so that one provider that
   * reports heads which do not exist yet makes no other stale. If there is only one other provider, it is the second
   * greatest age by its confirmed answers.
   *
   * Only a head far above may be invented: one that is far below what two others agree on is stale at any distance.
   */
  function ageMs({ provider, head, askedMs }: NamedHead): number {
    const earlier = remembered.filter((had) => had.endedMs <= askedMs);
    const before = earlier.filter((had) => isNear(had.head, head));
    const newest = new Map(earlier.filter((had) => had.provider !== provider).map((had) => [had.provider, had]));
    const farAbove = [...newest.values()].filter((had) => had.head > head && !isNear(had.head, head));
    const agreed = farAbove.filter((one) => farAbove.some((two) => two !== one && isNear(one.head, two.head)));
    const ageBy = (had: NamedHead) => (had.head < head ? 0 : askedMs - had.endedMs + (had.head - head) * blockMs);
    const of = (one: string) => before.filter((had) => had.provider === one);
    const others = new Set(before.map((had) => had.provider));
    others.delete(provider);
    const [other] = others;
    return Math.max(
      second(of(provider).map(ageBy)),
      second(agreed.map(ageBy)),
      other !== undefined && others.size === 1
        ? second(borneOut(of(other)).map(ageBy))
        : second([...others].map((one) => Math.max(...of(one).map(ageBy)))),
    );
  }

  function isNear(one: number, other: number): boolean {
    return Math.abs(one - other) * blockMs <= Math.max(farthestMs, farthestBlocks * blockMs);
  }

  /**
   * Answers whose height is possible below the ceiling, and after which the provider's head rose at a possible pace.
   * That excludes single errors, jumps, and a head that does not move.
   */
  function borneOut(answers: NamedHead[]): NamedHead[] {
    const possible = answers.filter((had) => ceiling && isWithin(ceiling, had));
    return possible.filter(({ head, endedMs }) =>
      possible.some(
        (later) => later.endedMs > endedMs && later.head > head && isWithin({ head, atMs: endedMs }, later),
      ),
    );
  }

  function isWithin({ head, atMs }: Ceiling, { head: named, endedMs }: NamedHead) {
    const mayGrowMs = (endedMs - atMs) / quickest + limitMs;
    return (named - head) * blockMs <= mayGrowMs;
  }

  /**
   * The ceiling is the lower head of two providers when they last agreed. While they disagree, it rises at the chain's
   * pace. If they have never agreed, it is the higher head, so that a probe that starts while a provider lags still
   * finds it.
   */
  function raise({ provider, head, endedMs }: NamedHead) {
    const newest = new Map<string, NamedHead>();
    for (const had of remembered)
      if (had.provider !== provider && isNear(had.head, head)) newest.set(had.provider, had);
    for (const had of newest.values()) {
      const expected = had.head + (endedMs - had.endedMs) / blockMs;
      const agree = Math.abs(head - expected) * blockMs <= limitMs;
      if (agree) ceiling = { head: Math.min(head, expected), atMs: endedMs };
      else ceiling ??= { head: Math.max(head, expected), atMs: endedMs };
    }
  }

  function remember(named: NamedHead) {
    const sinceMs = named.endedMs - Math.max(rememberedMs, 2 * limitMs);
    remembered = remembered.filter(({ endedMs }) => endedMs > sinceMs);
    raise(named);
    remembered.push(named);
  }

  return {
    staleMs(named) {
      const oldMs = ageMs(named);
      remember(named);
      return oldMs > limitMs ? Math.round(oldMs) : null;
    },
  };
}

/** The second greatest number; 0 if there is none. */
function second(numbers: number[]): number {
  return numbers.sort((a, b) => b - a)[1] ?? 0;
}
