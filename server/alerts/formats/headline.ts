import type { Alert } from "./alert.js";

/** What happened, in a sentence of unbounded length: the names in it are the registry's. */
export function headline({ test, kind, severity, venue, component }: Alert) {
  const what = severity === "outage" ? "outage" : "degradation";
  const line = `Incident ${kind}: ${what} at ${venue.name}, ${component.label} (${component.id})`;
  return test ? `Test alert, nothing happened. ${line}` : line;
}
