import type { Log } from "../../shared/log/log.js";
import type { Fault } from "../../shared/measurement/sample.js";

const words: Partial<Record<Fault, string>> = {
  stall: "a stream is silent",
  stale: "data is stale",
};

/** Logs when a component becomes silent or its data stale, and when that is over. Samples record every slot. */
export function makeVerdictLog(
  log: Log,
  of: { venue: string; component: string },
): (fault: Fault | null, why: Record<string, unknown>) => void {
  let logged: Fault | null = null;
  return (fault, why) => {
    const verdict = fault && words[fault] ? fault : null;
    if (verdict === logged) return;
    logged = verdict;
    if (verdict) log.warn(words[verdict]!, { ...of, ...why });
    else log.info("data is fresh again", of);
  };
}
