import type { Alert } from "./alert.js";

/** The page of the incident, for people. */
export function permalinkOf({ incident }: Alert, baseUrl: string): string {
  return `${baseUrl}/incidents/${encodeURIComponent(incident.slug)}`;
}

/** The same incident as JSON, for programs. */
export function jsonUrlOf({ incident }: Alert, baseUrl: string): string {
  return `${baseUrl}/v1/incidents/${encodeURIComponent(incident.slug)}`;
}
