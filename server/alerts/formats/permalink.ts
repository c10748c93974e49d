import type { Alert } from "./alert.js";

/** The address of the incident in the API. */
export function permalinkOf({ incident }: Alert, baseUrl: string): string {
  return `${baseUrl}/v1/incidents/${encodeURIComponent(incident.slug)}`;
}
