/**
 * Times that venues state although they cannot be true. They cause no trouble: such a time says nothing, and is left
 * out.
 */

/** What the venue states instead of the correct time, in milliseconds since 1970. */
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

/** The time of a trade or an event; none is older than Bitcoin. */
export function saidTime(ms: number, poison: Poison | null): number {
  return poison === null ? ms : poisoned[poison](ms);
}

/** The time of data. A past time can be true, and such data are stale, so only an impossible time is stated instead. */
export function saidDataTime(ms: number, poison: Poison | null): number {
  const said = saidTime(ms, poison);
  return said < 0 || said > ms ? said : ms;
}
