import type { Log } from "../../shared/log/log.js";
import type { Fault } from "../../shared/measurement/sample.js";

const words: Partial<Record<Fault, { begins: string; over: string }>> = {
  stall: { begins: "a stream is silent", over: "data is fresh again" },
  stale: { begins: "data is stale", over: "data is fresh again" },
  halted: {
    begins: "the venue says that it does not trade",
    over: "the venue no longer says that it does not trade",
  },
};

/** Logs when a component has one of these faults, and when that is over. Samples record every slot. */
export function makeVerdictLog(
  log: Log,
  of: { venue: string; component: string },
): (fault: Fault | null, why: Record<string, unknown>) => void {
  let logged: Fault | null = null;
  return (fault, why) => {
    const verdict = fault && words[fault] ? fault : null;
    if (verdict === logged) return;
    if (verdict) log.warn(words[verdict]!.begins, { ...of, ...why });
    else log.info(words[logged!]!.over, of);
    logged = verdict;
  };
}
