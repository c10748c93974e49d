/** A fault of ours, and how it is found. */
import type { Profile } from "../script.js";

export interface Mutant {
  name: string;
  /** A compiled module below `dist/`, or a file of functions below `sql/`. */
  file: string;
  /** Occurs once in it. */
  from: string;
  to: string;
  /** The profile whose faults find it soon; by default the usual one. */
  profile?: Profile;
  /** One of simulation/shape.ts; small by default. */
  shape?: "small" | "pairs" | "usual";
  /** Lines of a script that finds it, instead of the faults of seeds. */
  faults?: string;
  /** This many days of upkeep find it, instead of a history. */
  days?: number;
}
