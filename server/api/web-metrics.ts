import { Histogram } from "prom-client";
import type { OwnMetrics } from "../../shared/log/own-metrics.js";
import type { AnsweredRequest } from "./request-log.js";

/** Metrics of a web program's response times. */
export function makeWebMetrics(registry: OwnMetrics): (answered: AnsweredRequest) => void {
  const requests = new Histogram({
    name: "venuewatch_web_request_seconds",
    help: "Duration of a request, from its headers to the end of the response, by route and status.",
    labelNames: ["route", "status"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  });
  // cached: checking the labels takes longer than counting, and there are only a few dozen
  const checked = new Map<string, { observe(seconds: number): void }>();
  return ({ route, status, tookMs }) => {
    const name = `${route} ${status}`;
    let labelled = checked.get(name);
    if (!labelled) checked.set(name, (labelled = requests.labels(route, status)));
    labelled.observe(tookMs / 1000);
  };
}
