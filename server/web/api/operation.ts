import { dataCache, longCache } from "./answer.js";
import type { Parameters } from "./parameters.js";
import type { Schema } from "./shapes.js";

/** One public operation. `/openapi.json` is generated from these alone. */
export interface Operation {
  id: string;
  /** As OpenAPI writes it: `/v1/incidents/{slug}`. */
  path: string;
  group: keyof typeof operationGroups;
  summary: string;
  description?: string;
  /** Path parameters: always required; an unknown value gives 404. */
  names?: Record<string, Schema<string>>;
  /** Query parameters, as the route reads them. */
  parameters?: Parameters;
  /** Schemas of the 200 response, by media type. */
  answers: Record<string, Schema>;
  /** Content-Disposition with default parameters; only of tables. */
  attachment?: string;
  /** Possible Cache-Control values of a 200 response. */
  cache: string[];
  /** Whether a 404 may report a retraction. */
  retractable?: boolean;
  /** Whether it needs the database, and answers 503 without it. */
  asksDatabase: boolean;
  /** Whether it counts against the rate limit. */
  limited: boolean;
}

export const operationGroups = {
  board: "Current states.",
  history: "Incidents and statistics of the past.",
  feeds: "Incidents for feed readers, and announced maintenance for calendars.",
  method: "The probe fleet and the rules.",
  formats: "The same for programs that read other formats: Statuspage, badges and embedded cards.",
  alerts: "Alerts sent to subscribers, which operators set up.",
  agents: "For agents of language models.",
  service: "The service itself.",
};

export const jsonType = "application/json";

/** Made once per engine tick from the database. */
export const perTick = { cache: [dataCache], asksDatabase: true, limited: true };

/** Does not change until the next deployment. */
export const perDeployment = { cache: [longCache], asksDatabase: false };
