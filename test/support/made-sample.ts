import { nothingMeasured } from "../../probe/measure/measurement.js";
import type { Sample } from "../../shared/measurement/sample.js";

/** Makes a good sample of kraken's ticker, taken now, with the given fields replaced. */
export function madeSample(given: Partial<Sample> = {}): Sample {
  return {
    ...nothingMeasured,
    ...{ venue: "kraken", component: "rest:ticker", slotAt: new Date(), lateMs: null },
    ...{ good: true, latencyUs: 80_000, httpStatus: 200 },
    ...given,
  };
}
