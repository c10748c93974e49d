import { type State } from "./world.js";

export interface RegionView {
  venue: string;
  component: string;
  region: string;
  state: State;
  reporting: boolean;
  /** Within the window; so are the next two. */
  samples: number;
  failed: number;
  slow: number;
  badRun: number;
  /** Slot of the first sample of the bad run; null where there is none. */
  runFrom: number | null;
  failsInPart: boolean;
  confirms: boolean;
  /** Slot of the newest bad sample in the window. */
  newestBadAt: number | null;
  /** Slot of the newest sample in the window. */
  newestAt: number | null;
}
