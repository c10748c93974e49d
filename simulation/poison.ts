/** Times that venues say although they cannot be true. They are no trouble: what says nothing is left out. */

/** What the venue says instead of a right time, in milliseconds since 1970. */
const poisoned = {
  "time in microseconds": (ms: number) => ms * 1000,
  "time in seconds": (ms: number) => Math.floor(ms / 1000),
  "time in year 112596": () => 3_490_000_000_000_000,
  "time zero": () => 0,
  "time negative": (ms: number) => -ms,
  "time before 2009": () => Date.UTC(2001, 1, 3),
};

export type Poison = keyof typeof poisoned;

export const poisons = Object.keys(poisoned) as readonly Poison[];

/** The time of a trade or an event, of which none is older than Bitcoin. */
export function saidTime(ms: number, poison: Poison | null): number {
  return poison === null ? ms : poisoned[poison](ms);
}

/** The time of data. A past one can be true, and such data are stale: only a time that cannot be is said instead. */
export function saidDataTime(ms: number, poison: Poison | null): number {
  const said = saidTime(ms, poison);
  return said < 0 || said > ms ? said : ms;
}
