/** The parts of the API's answers that end-to-end tests check. */
import type { Fault } from "../../shared/measurement/sample.js";

export interface Board {
  summary: object;
  venues: {
    id: string;
    state: string;
    activeIncidents: number;
    measuredDays: number;
    days: { measuredMinutes: number }[];
  }[];
  /** The newest incidents, open and closed. */
  incidents: Incident[];
}

export interface Incident {
  slug: string;
  venue: string;
  component: string;
  status: "open" | "closed";
  quorum: number;
  reporting: number;
  regions: string[];
  peakSeverity: "degraded" | "outage";
  flapping: boolean;
  startedAt: string;
  openedAt: string;
  closedAt: string | null;
}

export interface Evidence {
  opening: {
    quorum: number;
    votes: {
      region: string;
      vote: string;
      samples: number;
      bad: number;
      slow: number;
      p50Ms: number | null;
      typicalP50Ms: number | null;
      faults: Partial<Record<Fault, number>>;
    }[];
    notCounted: unknown[];
  };
  closing?: { state: string };
}

/** One region's view of one component. */
export interface Sight {
  component: string;
  regionState: string;
  newestFault: Fault | null;
}

/** @param url address of the web program, also in the functions below */
export function readBoard(url: string): Promise<Board> {
  return get<Board>(`${url}/v1/status`);
}

export function allOperational({ venues }: Board): boolean {
  return venues.every(({ state }) => state === "operational");
}

/** Returns open and closed incidents, newest first. */
export async function readIncidents(url: string): Promise<Incident[]> {
  return (await get<Board>(`${url}/v1/incidents?limit=200`)).incidents;
}

export interface Region {
  id: string;
  impaired: { venues: string[] } | null;
  impairments: {
    startedAt: string;
    recognisedAt: string;
    endedAt: string | null;
    venues: string[];
    measured: number;
  }[];
}

export async function readRegions(url: string): Promise<Region[]> {
  return (await get<{ regions: Region[] }>(`${url}/v1/regions`)).regions;
}

export async function readEvidence(url: string, slug: string): Promise<Evidence> {
  return (await get<{ evidence: Evidence }>(`${url}/v1/incidents/${slug}`)).evidence;
}

export async function readSights(url: string, venue: string, region: string): Promise<Sight[]> {
  const page = await get<{ endpoints: Sight[]; streams: Sight[] }>(`${url}/v1/exchanges/${venue}?region=${region}`);
  return [...page.endpoints, ...page.streams];
}

export class NotOk extends Error {
  constructor(
    url: string,
    readonly status: number,
  ) {
    super(`expected 200 of ${url}, got ${status}`);
  }
}

/** @throws NotOk for any answer but 200 */
export async function get<Body>(url: string): Promise<Body> {
  const response = await fetch(url);
  if (response.status !== 200) throw new NotOk(url, response.status);
  return (await response.json()) as Body;
}
