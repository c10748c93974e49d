/** A channel as an operator sees it, made by queries/channels.sql. Nothing in it is secret. */
export interface Channel {
  id: number;
  format: Format;
  serviceRegion: ServiceRegion | null;
  /** Of a URL the host and the end, of a key the end. */
  to: string;
  description: string;
  floor: Floor;
  /** Null: all. */
  venues: string[] | null;
  categories: string[] | null;
  state: "on" | "off" | "removed";
  offSince: string | null;
  offCause: "operator" | "failures" | "gone" | null;
  /** Attempts in a row that failed, up to the newest. */
  failures: number;
  /** Deliveries that are due; those that an operator asked for are not among them. */
  waiting: number;
  /** Until then the secret before the present one signs too. */
  formerSecretUntil: string | null;
  createdAt: string;
  removedAt: string | null;
  lastAttempt: {
    delivery: number;
    startedAt: string;
    /** Null: it is under way, or its end is unknown yet. */
    result: string | null;
    status: number | null;
    error: string | null;
  } | null;
}

export const formats = ["native", "chat", "paging"] as const;
export type Format = (typeof formats)[number];

export const serviceRegions = ["us", "eu"] as const;
export type ServiceRegion = (typeof serviceRegions)[number];

export const floors = ["degraded", "outage"] as const;
export type Floor = (typeof floors)[number];
