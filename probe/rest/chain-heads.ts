import { limits } from "../../shared/measurement/probe-rules.js";
import type { Registry } from "../../shared/registry/registry.js";

/** The height of a chain as an answer named it. Times are `performance.now()`. */
export interface NamedHead {
  chain: string;
  /** The host that named it: several venues may read a chain there. */
  provider: string;
  head: number;
  askedMs: number;
  endedMs: number;
}

export interface ChainHeads {
  /** Remembers the head, and tells how old it is at least, milliseconds, where that is too old; else null. */
  staleMs(named: NamedHead): number | null;
}

/**
 * As in the lag that is published (docs/methodology.md): a head further off than this is of another chain, or made up.
 */
const farthest = 100_000;

/** For as long at least an answer tells how high a chain was. */
const rememberedMs = 3 * 60_000;

/** A chain may be quicker than its rhythm by so much. */
const quickest = 0.95;

/** How high a chain was at most at a time, by two providers. */
interface Ceiling {
  head: number;
  atMs: number;
}

/**
 * Compares the heads that this probe reads with each other. A head is as old as the answer that named it first, and
 * older by a block time for each block that this answer was above it. So a head that stands still is found as well as
 * one that trails behind others.
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
   * By the second of its provider's own answers that would make it oldest: one alone may be a slip. Or by the second of
   * the other providers: one that names heads which do not exist yet makes nobody else stale. Where there is but one
   * other, by the second of its answers that are borne out.
   */
  function ageMs({ provider, head, askedMs }: NamedHead): number {
    const before = remembered.filter((had) => had.endedMs <= askedMs && Math.abs(had.head - head) <= farthest);
    const ageBy = (had: NamedHead) => (had.head < head ? 0 : askedMs - had.endedMs + (had.head - head) * blockMs);
    const of = (one: string) => before.filter((had) => had.provider === one);
    const others = new Set(before.map((had) => had.provider));
    others.delete(provider);
    const [other] = others;
    return Math.max(
      second(of(provider).map(ageBy)),
      other !== undefined && others.size === 1
        ? second(borneOut(of(other)).map(ageBy))
        : second([...others].map((one) => Math.max(...of(one).map(ageBy)))),
    );
  }

  /**
   * After which the provider has gone on, and the chain may be as high. What slips, jumps or stands still is neither.
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
   * It stands where two providers agreed last, by the lower one: as long as they do not, it rises with the chain's
   * rhythm. Where they never agreed, by the higher one, so that one that trails is found by a probe that starts later.
   */
  function raise({ provider, head, endedMs }: NamedHead) {
    const newest = new Map<string, NamedHead>();
    for (const had of remembered)
      if (had.provider !== provider && Math.abs(had.head - head) <= farthest) newest.set(had.provider, had);
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

/** The second greatest; 0 where there is none. */
function second(numbers: number[]): number {
  return numbers.sort((a, b) => b - a)[1] ?? 0;
}
