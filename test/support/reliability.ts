/** The parts of `/v1/reliability` that tests read. */
import type { Api } from "./api.js";

export interface Reliability {
  generatedAt: string;
  days: number;
  fleet: { venues: number; uptimePct: number | null; incidents: number };
  venues: Row[];
}

export interface Row {
  id: string;
  category: string;
  measuredMinutes: number;
  downMinutes: number;
  uptimePct: number | null;
  incidents: number;
  meanIncidentSeconds: number | null;
  longestIncidentSeconds: number | null;
  components: { component: string }[];
}

export async function comparison(api: Api, query = ""): Promise<Reliability> {
  return (await api.ask<Reliability>(`/v1/reliability${query}`)).body;
}

export function rowOf({ venues }: Reliability, id: string): Row {
  return venues.find((row) => row.id === id)!;
}
