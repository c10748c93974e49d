/** The words of each kind of feed for faults, for maintenance, and for their progress. */
import type { Official } from "../../shared/registry/registry.js";

/** The kinds of feeds that the world plays. */
export type SimulatedFeedKind = Exclude<Official["kind"], "html" | "betterstack">;

export type PostedNoticeKind = "incident" | "maintenance";

interface Words {
  /** The words for how bad it is; each belongs to an incident or a maintenance. */
  impacts: Record<string, PostedNoticeKind>;
  /** The words for progress. Empty: the feed reports only what holds now, not the past or the future. */
  statuses: string[];
  incident: Course;
  maintenance: Course;
}

/** `announced` is the status of a notice that is posted before it begins; null: there is none. */
interface Course {
  announced: string | null;
  started: string;
  over: string;
}

const ownCourse: Course = {
  announced: "scheduled",
  started: "ongoing",
  over: "completed",
};

const statuspage: Words = {
  impacts: {
    none: "incident",
    minor: "incident",
    major: "incident",
    critical: "incident",
    maintenance: "maintenance",
  },
  statuses: [
    "investigating",
    "identified",
    "monitoring",
    "resolved",
    "postmortem",
    "scheduled",
    "in_progress",
    "verifying",
    "completed",
  ],
  incident: { announced: null, started: "investigating", over: "resolved" },
  maintenance: {
    announced: "scheduled",
    started: "in_progress",
    over: "completed",
  },
};

/** An announcement stays as it was published. */
const article: Course = { announced: null, started: "announced", over: "announced" };

export const wordsOf: Record<SimulatedFeedKind, Words> = {
  statuspage,
  "okx-system-status": {
    impacts: {
      scheduled: "maintenance",
      unscheduled: "maintenance",
      disruption: "incident",
    },
    statuses: ["scheduled", "ongoing", "pre_open", "completed", "canceled"],
    incident: ownCourse,
    maintenance: ownCourse,
  },
  "bybit-system-status": {
    impacts: {
      planned: "maintenance",
      temporary: "maintenance",
      incident: "incident",
    },
    statuses: ["scheduled", "ongoing", "completed", "canceled"],
    incident: ownCourse,
    maintenance: ownCourse,
  },
  "binance-system-status": {
    impacts: { maintenance: "maintenance" },
    statuses: [],
    incident: ownCourse,
    maintenance: ownCourse,
  },
  "kucoin-service-status": {
    impacts: { close: "incident", cancelonly: "incident" },
    statuses: [],
    incident: ownCourse,
    maintenance: ownCourse,
  },
  instatus: {
    impacts: {
      DEGRADEDPERFORMANCE: "incident",
      PARTIALOUTAGE: "incident",
      MAJOROUTAGE: "incident",
      UNDERMAINTENANCE: "maintenance",
    },
    statuses: ["INVESTIGATING", "IDENTIFIED", "MONITORING", "RESOLVED", "NOTSTARTEDYET", "INPROGRESS", "COMPLETED"],
    incident: { announced: null, started: "INVESTIGATING", over: "RESOLVED" },
    maintenance: { announced: "NOTSTARTEDYET", started: "INPROGRESS", over: "COMPLETED" },
  },
  "bitget-announcements": {
    impacts: {
      system_updates: "maintenance",
      spot_maintenance: "maintenance",
      futures_maintenance: "maintenance",
      asset_maintenance: "maintenance",
    },
    statuses: [],
    incident: article,
    maintenance: article,
  },
  "gate-announcements": {
    impacts: { engine_upgrade: "maintenance" },
    statuses: [],
    incident: article,
    maintenance: article,
  },
};

/** The statuses that end a notice. */
const overStatuses = ["resolved", "postmortem", "completed", "canceled"];

export function isOver(status: string): boolean {
  return overStatuses.includes(status.toLowerCase());
}

/**
 * Names of services, in the order of the numbers that the venue's API uses for them. The first has the number `first`.
 */
export const services: Partial<Record<SimulatedFeedKind, { first: number; names: string[] }>> = {
  "okx-system-status": {
    first: 0,
    names: ["WebSocket", "Spot", "Futures", "Perpetual", "Options", "Trading service"],
  },
  "bybit-system-status": {
    first: 1,
    names: ["Trading", "Trading over HTTP", "Trading over WebSocket", "Private stream", "Market data"],
  },
};

export function isPlayed(kind: Official["kind"]): kind is SimulatedFeedKind {
  return kind in wordsOf;
}
