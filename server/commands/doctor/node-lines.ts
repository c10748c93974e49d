/** The Node release lines that this release supports, and their end of life. */

export interface NodeLine {
  major: number;
  /** The last day with security fixes, in UTC: `2028-04-30`. */
  endOfLife: string;
}

/**
 * Even majors, from the oldest that `engines` in package.json allows: odd ones are maintained only for half a year.
 * `make test-node-lines` runs the core tests on each.
 *
 * Source: https://github.com/nodejs/Release#release-schedule, as of 2026-11-23.
 */
export const nodeLines: readonly NodeLine[] = [
  { major: 20, endOfLife: "2026-04-30" },
  { major: 22, endOfLife: "2027-04-30" },
  { major: 24, endOfLife: "2028-04-30" },
  { major: 26, endOfLife: "2029-04-30" },
];

/** @returns the supported lines that are still maintained at that time, oldest first */
export function maintainedLines(now: Date): NodeLine[] {
  return nodeLines.filter((line) => isMaintained(line, now));
}

export function isMaintained({ endOfLife }: NodeLine, now: Date): boolean {
  return now.toISOString().slice(0, 10) <= endOfLife;
}
