import type { Alert } from "./alert.js";

/** One sentence about the event. Its length is not bounded, as it contains names of the registry. */
export function headline({ test, kind, severity, venue, component }: Alert) {
  const what = severity === "outage" ? "outage" : "degradation";
  const line = `Incident ${kind}: ${what} at ${venue.name}, ${component.label} (${component.id})`;
  return test ? `Test alert, nothing happened. ${line}` : line;
}
