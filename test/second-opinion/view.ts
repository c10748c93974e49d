import { type State } from "./world.js";

export interface RegionView {
  venue: string;
  component: string;
  region: string;
  state: State;
  reporting: boolean;
  /** Number of samples in the window; the next two fields also cover the window. */
  samples: number;
  failed: number;
  slow: number;
  /** At least half of what failed was refused. */
  isRefused: boolean;
  /** At least half of what is bad has a cause that the region's network can have. */
  mayBeOurs: boolean;
  /** At least half of what is bad was not answered; also where nothing is bad. */
  isUnanswered: boolean;
  /** The newest sample is a bad answer, and no refusal that stands while the probe pauses. */
  answersBadly: boolean;
  badRun: number;
  /** Slot of the first sample of the bad run; null where there is none. */
  runFrom: number | null;
  failsInPart: boolean;
  confirms: boolean;
  /** Slot of the newest bad sample in the window. */
  newestBadAt: number | null;
  /** Slot of the newest sample in the window. */
  newestAt: number | null;
  /** Whether the newest sample is bad by a cause that the region's network can have. */
  newestMayBeOurs: boolean;
  /** How the newest sample in the window failed; null if it did not. */
  newestFault: string | null;
}
