import type { Fault } from "../../../shared/measurement/sample.js";
import type { Alert } from "./alert.js";

/** What a venue does, or did, if that says more than that it fails: one that limits our requests is not down. */
const deeds: Partial<Record<Fault, [does: string, did: string]>> = {
  limited: ["limits our requests", "limited our requests"],
  halted: ["says that it does not trade", "said that it did not trade"],
  blocked: ["refuses our region", "refused our region"],
};

/** One sentence about the event. Its length is not bounded, as it contains names of the registry. */
export function headline(alert: Alert) {
  const { test, kind, component } = alert;
  const line = `Incident ${kind}: ${whatOf(alert)}, ${component.label} (${component.id})`;
  return test ? `Test alert, nothing happened. ${line}` : line;
}

function whatOf({ kind, severity, incident: { fault }, venue }: Alert): string {
  const deed = fault === null ? undefined : deeds[fault];
  if (deed) return `${venue.name} ${deed[kind === "closed" ? 1 : 0]}`;
  return `${severity === "outage" ? "outage" : "degradation"} at ${venue.name}`;
}
