import type { RestEndpoint, Venue } from "../../shared/registry/registry.js";
import type { AnswerVerdict } from "../rest/answer-verdict.js";
import { makeFreshConnectionShare } from "./fresh-connection-share.js";
import { tolerableMs, type EventLoopWatch } from "./event-loop-watch.js";
import type { Rest } from "../rest/rest.js";
import type { Task } from "./schedule.js";

/**
 * The REST endpoints of one venue, as tasks for the schedule. Measurements across a standstill of this process are
 * withheld.
 *
 * @param verdictOn judges the age of an endpoint's data; absent: any age is good
 */
export function restTasks(
  venue: Venue,
  rest: Rest,
  watch: EventLoopWatch,
  verdictOn?: (endpoint: RestEndpoint) => AnswerVerdict,
): Task[] {
  return venue.rest.map((endpoint, place) => {
    const measure = rest.endpoint(endpoint, verdictOn?.(endpoint));
    const isFresh = makeFreshConnectionShare(endpoint, place);
    return {
      venue: venue.id,
      component: `rest:${endpoint.name}`,
      cadenceMs: endpoint.cadenceMs,
      async measure(slotAt, signal) {
        const startMs = performance.now();
        const outcome = await measure(signal, isFresh(slotAt));
        return watch.stalledSince(startMs, tolerableMs.answer) ? { unmeasured: "starved" } : outcome;
      },
    };
  });
}
