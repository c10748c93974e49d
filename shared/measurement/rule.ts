/** A published constant. Each list of them is in the folder that applies it. */
export interface Rule {
  /** For an engine rule, a field of `engine.rules`. */
  name: string;
  value: number;
  unit: (typeof units)[number];
  reason: string;
}

export const units = [
  "ms",
  "hours",
  "days",
  "samples",
  "cadences",
  "windows",
  "regions",
  "vantages",
  "incidents",
  "venues",
  "share",
  "times",
] as const;
