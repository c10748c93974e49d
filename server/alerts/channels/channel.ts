/** A channel as operators see it, built by queries/channels.sql. It contains no secret. */
export interface Channel {
  id: number;
  format: Format;
  serviceRegion: ServiceRegion | null;
  /** The host and the end of a URL, or the end of a key. */
  to: string;
  description: string;
  floor: Floor;
  /** Null: all. */
  venues: string[] | null;
  categories: string[] | null;
  state: "on" | "off" | "removed";
  offSince: string | null;
  offCause: "operator" | "failures" | "gone" | null;
  /** Failed attempts in a row, up to the latest. */
  failures: number;
  /** Due deliveries, without replays and tests. */
  waiting: number;
  /** Until then the previous secret also signs. */
  formerSecretUntil: string | null;
  createdAt: string;
  removedAt: string | null;
  lastAttempt: {
    delivery: number;
    startedAt: string;
    /** Null: in progress, or its end is not known yet. */
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
