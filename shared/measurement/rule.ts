/** What a published constant says of itself. The lists of them stand with whatever applies them. */
export interface Rule {
  /** Of the engine's: a field of `engine.rules`. */
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
  "incidents",
  "venues",
  "share",
  "times",
] as const;
