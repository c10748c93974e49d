/** Medians and rounding as PostgreSQL does them. */

/** Interpolates like percentile_cont: the mean of the two middle values. */
export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const place = (sorted.length - 1) / 2;
  const [low, high] = [sorted[Math.floor(place)]!, sorted[Math.ceil(place)]!];
  return low + (high - low) * (place % 1);
}

/** Rounds as PostgreSQL rounds a double precision. */
export function roundHalfEven(value: number): number {
  const down = Math.floor(value);
  return value - down === 0.5 ? down + (down % 2) : Math.round(value);
}
