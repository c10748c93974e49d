/** One measured number and what it is compared with. */
export interface Figure {
  what: string;
  value: number;
  unit: string;
  /** The lowest possible value on this machine, measured in the same run; or the promised value. */
  floor?: { value: number; what: string };
}

/** Prints a table: value, floor, and how many times the floor the value is. */
export function printFigures(title: string, figures: readonly Figure[]): void {
  const rows = figures.map(({ what, value, unit, floor }) => [
    what,
    `${short(value)} ${unit}`,
    floor ? `${short(floor.value)} ${unit}` : "",
    floor ? `× ${short(value / floor.value)}` : "",
    floor?.what ?? "",
  ]);
  const all = [[title, "measured", "against", "ratio", "which is"], ...rows];
  const widths = all[0]!.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
  for (const row of all) console.log(row.map((cell, column) => cell.padEnd(widths[column]!)).join("  "));
  console.log();
}

export interface Spread {
  p50: number;
  p95: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(share * sorted.length)]!;
  return { p50: at(0.5), p95: at(0.95) };
}

/** Returns the milliseconds of each of `times` runs. */
export async function timesMs(
  times: number,
  run: () => Promise<unknown>,
  /** Runs before each measurement, untimed. */
  prepare: () => Promise<unknown> = () => Promise.resolve(),
): Promise<number[]> {
  const tookMs: number[] = [];
  for (let i = 0; i < times; i += 1) {
    await prepare();
    const startMs = performance.now();
    await run();
    tookMs.push(performance.now() - startMs);
  }
  return tookMs;
}

/** Formats a number with three digits. */
export function short(value: number): string {
  return value >= 1000 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}
