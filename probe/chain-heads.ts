import { limits } from "../server/probe-rules.js";
import type { Registry } from "../server/registry.js";

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

/** As in the lag that is published (METHODOLOGY.md): a head further off than this is of another chain, or made up. */
const farthest = 100_000;

/** For as long at least an answer tells how high a chain was. */
const rememberedMs = 3 * 60_000;

/**
 * Compares the heads that this probe reads with each other. A head is as old as
 * the answer that named it first, and older by a block time for each block that
 * this answer was above it. So a head that stands still is found as well as one
 * that trails behind others.
 */
export function makeChainHeads(
  chains: NonNullable<Registry["chains"]>,
): ChainHeads {
  const remembered = new Map<string, NamedHead[]>();

  /**
   * By the second of its provider's own answers that would make it oldest: one
   * alone may be a slip. Or by the second of the other providers: one that names
   * heads which do not exist yet makes nobody else stale.
   */
  function ageMs(named: NamedHead, blockMs: number): number {
    const { chain, provider, head, askedMs } = named;
    const own: number[] = [];
    const others = new Map<string, number>();
    for (const had of remembered.get(chain) ?? []) {
      if (had.endedMs > askedMs || had.head < head) continue;
      if (had.head - head > farthest) continue;
      const ms = askedMs - had.endedMs + (had.head - head) * blockMs;
      if (had.provider === provider) own.push(ms);
      else
        others.set(had.provider, Math.max(ms, others.get(had.provider) ?? 0));
    }
    return Math.max(second(own), second([...others.values()]));
  }

  function remember(named: NamedHead, forMs: number) {
    const sinceMs = named.endedMs - Math.max(rememberedMs, forMs);
    const known = remembered.get(named.chain) ?? [];
    const kept = known.filter(({ endedMs }) => endedMs > sinceMs);
    remembered.set(named.chain, [...kept, named]);
  }

  return {
    staleMs(named) {
      const rhythm = chains[named.chain];
      if (!rhythm) return null;
      const { blockMs } = rhythm;
      const limitMs = Math.max(
        limits.stale_head_floor_ms,
        limits.stale_head_blocks * blockMs,
      );
      const oldMs = ageMs(named, blockMs);
      remember(named, 2 * limitMs);
      return oldMs > limitMs ? Math.round(oldMs) : null;
    },
  };
}

/** The second greatest; 0 where there is none. */
function second(numbers: number[]): number {
  return numbers.sort((a, b) => b - a)[1] ?? 0;
}
