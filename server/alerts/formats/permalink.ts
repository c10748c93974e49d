import type { Alert } from "./alert.js";

/** Where the incident can be read, for as long as there is one of that name. */
export function permalinkOf({ incident }: Alert, baseUrl: string): string {
  return `${baseUrl}/v1/incidents/${encodeURIComponent(incident.slug)}`;
}
