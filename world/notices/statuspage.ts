/** The documents of an Atlassian Statuspage. */
import { createHash } from "node:crypto";
import { changedAt, noticesAt, type PostedNotice, type ScriptedPost } from "./posts.js";
import { isOver } from "./words.js";

export interface Page {
  id: string;
  name: string;
  url: string;
  timeZone: string;
  /** Offset of its time stamps in hours: a page writes them in the time zone of its operators. */
  utcOffsetHours: number;
}

const perList = 50;
/** The time of the last change on a page that has posted nothing yet. */
const madeAt = new Date("2024-02-01T09:00:00Z");

/**
 * @param document its path below `/api/v2/`
 * @param number the number of the page in a list, fifty entries each, from 1
 * @returns undefined where a Statuspage has no such document
 */
export function statuspageDocument(
  document: string,
  number: number,
  page: Page,
  posts: readonly ScriptedPost[],
  at: Date,
): object | undefined {
  const notices = noticesAt(posts, "statuspage", at);
  const incidents = notices.filter(({ kind }) => kind === "incident");
  const maintenances = notices.filter(({ kind }) => kind === "maintenance");
  const stamp = stamper(page);
  const head = {
    page: {
      id: page.id,
      name: page.name,
      url: page.url,
      time_zone: page.timeZone,
      updated_at: stamp(changedAt(posts, "statuspage", at) ?? madeAt),
    },
  };
  const components = componentsAt(posts, notices, page);
  const entries = (list: PostedNotice[]) =>
    list.slice((number - 1) * perList, number * perList).map((notice) => entryOf(notice, page, components));
  const open = (list: PostedNotice[]) => list.filter(({ status }) => !isOver(status));
  const having = (...statuses: string[]) => maintenances.filter(({ status }) => statuses.includes(status));
  switch (document) {
    case "incidents.json":
      return { ...head, incidents: entries(incidents) };
    case "incidents/unresolved.json":
      return { ...head, incidents: entries(open(incidents)) };
    case "scheduled-maintenances.json":
      return { ...head, scheduled_maintenances: entries(maintenances) };
    case "scheduled-maintenances/upcoming.json":
      return { ...head, scheduled_maintenances: entries(having("scheduled")) };
    case "scheduled-maintenances/active.json":
      return {
        ...head,
        scheduled_maintenances: entries(having("in_progress", "verifying")),
      };
    case "components.json":
      return { ...head, components };
    case "status.json":
      return { ...head, status: statusOf(notices) };
    case "summary.json":
      return {
        ...head,
        components,
        incidents: entries(open(incidents)),
        scheduled_maintenances: entries(open(maintenances)),
        status: statusOf(notices),
      };
    default:
      return undefined;
  }
}

function entryOf(notice: PostedNotice, page: Page, components: Component[]) {
  const stamp = stamper(page);
  const orNull = (at: Date | null) => at && stamp(at);
  const { id, kind, startedAt, postedAt, resolvedAt, expectedEnd } = notice;
  const about = components.filter(({ name }) => notice.components.includes(name));
  return {
    id,
    name: notice.title,
    status: notice.status,
    created_at: stamp(postedAt),
    updated_at: stamp(notice.changedAt),
    monitoring_at: orNull(notice.monitoringAt),
    resolved_at: orNull(resolvedAt),
    impact: notice.impact,
    shortlink: `${page.url}#${id}`,
    started_at: stamp(startedAt),
    page_id: page.id,
    incident_updates: updatesOf(notice, about, stamp),
    components: about,
    ...(kind === "maintenance" && {
      scheduled_for: stamp(startedAt),
      scheduled_until: orNull(expectedEnd),
    }),
  };
}

/** Newest first. */
function updatesOf({ id, updates, title, indicator }: PostedNotice, about: Component[], stamp: (at: Date) => string) {
  return updates.toReversed().map(({ at, status }) => ({
    id: idOf(`${id} ${status} ${+at}`),
    status,
    body: `${title}: ${status.replace("_", " ")}.`,
    incident_id: id,
    created_at: stamp(at),
    updated_at: stamp(at),
    display_at: stamp(at),
    affected_components:
      isOver(status) || about.length === 0
        ? null
        : about.map((component) => ({
            code: component.id,
            name: component.name,
            old_status: "operational",
            new_status: levels[indicator]!.component,
          })),
    deliver_notifications: true,
    custom_tweet: null,
    tweet_id: null,
  }));
}

/** From the best to the worst. */
const levels: Record<string, { description: string; component: string }> = {
  none: { description: "All Systems Operational", component: "operational" },
  maintenance: {
    description: "Service Under Maintenance",
    component: "under_maintenance",
  },
  minor: {
    description: "Minor Service Outage",
    component: "degraded_performance",
  },
  major: {
    description: "Partial System Outage",
    component: "partial_outage",
  },
  critical: { description: "Major System Outage", component: "major_outage" },
};

function statusOf(notices: PostedNotice[]) {
  const indicator = worstOf(notices);
  return { indicator, description: levels[indicator]!.description };
}

/** A maintenance counts while it is in progress. */
function worstOf(notices: PostedNotice[]): string {
  const shown = notices
    .filter(({ status }) => !isOver(status) && status !== "scheduled")
    .map(({ indicator }) => indicator);
  return Object.keys(levels).findLast((level) => shown.includes(level)) ?? "none";
}

interface Component {
  id: string;
  name: string;
  status: string;
  [more: string]: unknown;
}

const everyPageHas = ["REST API", "WebSocket", "Website", "Deposits"];

/**
 * Returns all components that any post of the script names: components do not appear and disappear with the notices.
 */
function componentsAt(posts: readonly ScriptedPost[], notices: PostedNotice[], page: Page): Component[] {
  const names = new Set([...everyPageHas, ...posts.flatMap(({ components = [] }) => components)]);
  const since = stamper(page)(madeAt);
  return [...names].map((name, position) => ({
    id: idOf(`${page.id} ${name}`),
    name,
    status: levels[worstOf(notices.filter(({ components }) => components.includes(name)))]!.component,
    created_at: since,
    updated_at: since,
    position: position + 1,
    description: null,
    showcase: false,
    start_date: null,
    group_id: null,
    page_id: page.id,
    group: false,
    only_show_if_degraded: false,
  }));
}

function stamper({ utcOffsetHours }: Page) {
  return (at: Date) => {
    if (utcOffsetHours === 0) return at.toISOString();
    const local = new Date(+at + utcOffsetHours * 3_600_000).toISOString();
    const sign = utcOffsetHours < 0 ? "-" : "+";
    const hours = String(Math.abs(utcOffsetHours)).padStart(2, "0");
    return local.replace("Z", `${sign}${hours}:00`);
  };
}

/** Makes an id as short and opaque as a Statuspage's. */
function idOf(name: string): string {
  return createHash("sha256").update(name).digest("hex").slice(0, 12);
}
