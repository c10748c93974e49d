/** A seed determines all numbers. Fast and good enough to choose faults; not for secrets. */
export interface SeededRandom {
  /** At least 0, below 1. */
  next: () => number;
  /** A whole number, at least `least` and at most `most`. */
  integer: (least: number, most: number) => number;
  /** True with this probability. */
  chance: (probability: number) => boolean;
  pick: <One>(from: readonly One[]) => One;
  bytes: (into: Uint8Array) => void;
  /** Another sequence of the same seed, so that what one part draws does not change what another part gets. */
  branch: (name: string) => SeededRandom;
}

export function makeSeededRandom(seed: string): SeededRandom {
  let state = hashOf(seed);

  // mulberry32
  function next(): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  const integer = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    integer,
    chance: (probability) => next() < probability,
    pick: (from) => from[integer(0, from.length - 1)]!,
    bytes(into) {
      for (let place = 0; place < into.length; place += 1) into[place] = integer(0, 255);
    },
    branch: (name) => makeSeededRandom(`${seed}/${name}`),
  };
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash;
}
