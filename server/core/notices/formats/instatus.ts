/**
 * Instatus: `summary.json`, the only public JSON of such a page with notices. It lists what is open now, announced
 * maintenance included, without components and without history.
 *
 * Documented at https://instatus.com/help/api/public-data. Pages of 2026 also send ids, ISO times, and page statuses such as SOMEDEGRADEDPERFORMANCE.
 */

import { lastPart, plainText, rawText, webAddress } from "../../../../shared/text/untrusted-text.js";
import * as shape from "../expected-shape.js";
import {
  type Entries,
  type FeedFormat,
  type FeedSource,
  type Notice,
  notUnderstood,
  partitionValid,
  type Taken,
} from "../feed.js";
import { hostProblem } from "./statuspage.js";

export const instatus: FeedFormat = {
  pauseMs: 1000,
  documents: (source) => [{ url: source.api, pageUrl: null, takeApart: (body) => takeApart(body, source) }],
};

interface Body {
  page: { url: string; status: string };
  activeIncidents?: unknown[];
  activeMaintenances?: unknown[];
}

interface Entry {
  name: string;
  status: string;
  /** Ends with the id. Pages also send an `id`, but it is not documented. */
  url: string;
}

interface Incident extends Entry {
  started: string;
  impact: string;
}

interface Maintenance extends Entry {
  start: string;
  /** Minutes. */
  duration?: string | number | null;
}

/** A page omits a list that is empty. */
const bodyFault = shape.faultFinder(
  shape.object(
    "an object with page",
    {
      page: shape.object("a page with url and status", { url: shape.address, status: shape.text }),
      activeIncidents: shape.list("a list of incidents"),
      activeMaintenances: shape.list("a list of maintenances"),
    },
    ["activeIncidents", "activeMaintenances"],
  ),
);

const entry = { name: shape.text, status: shape.text, url: shape.addressOfId };

const incidentFault = shape.faultFinder(
  shape.object("an incident", { ...entry, started: shape.instantOrDateText, impact: shape.text }),
);

const maintenanceFault = shape.faultFinder(
  shape.object("a maintenance", { ...entry, start: shape.instantOrDateText, duration: shape.codeOrNull }, ["duration"]),
);

function takeApart(body: unknown, source: FeedSource): Taken {
  const fault = bodyFault(body);
  if (fault !== null) return notUnderstood(fault);
  const { page, activeIncidents = [], activeMaintenances = [] } = body as Body;
  const problem = hostProblem(page.url, source);
  if (problem !== null) return notUnderstood(problem);
  const incidents = partitionValid<Incident>(activeIncidents, "activeIncidents", incidentFault);
  const maintenances = partitionValid<Maintenance>(activeMaintenances, "activeMaintenances", maintenanceFault);
  return {
    problem: incidents.problem ?? maintenances.problem,
    list: { scope: "now", notices: noticesOf(page, incidents, maintenances), listedFrom: null },
    more: false,
    feedAt: null,
  };
}

function noticesOf(page: Body["page"], incidents: Entries<Incident>, maintenances: Entries<Maintenance>): Notice[] {
  const notices = [
    ...incidents.good.map((one) => noticeOf(one, "incident", one.started, one.impact, null)),
    ...maintenances.good.map((one) => noticeOf(one, "maintenance", one.start, null, plannedEndOf(one))),
  ];
  const hasEntries = notices.length > 0 || incidents.problem !== null || maintenances.problem !== null;
  return hasEntries || page.status === "UP" ? notices : [wordOf(page)];
}

const overWords = new Set(["RESOLVED", "COMPLETED"]);

/** A year is no maintenance, but a mistake of the page. */
const longestMinutes = 366 * 24 * 60;

function plannedEndOf({ start, duration }: Maintenance): Date | null {
  const minutes = Number(duration ?? 0);
  if (!(minutes > 0 && minutes <= longestMinutes)) return null;
  const end = new Date(Date.parse(start) + minutes * 60_000);
  return shape.isInstant(end.toISOString()) ? end : null;
}

function noticeOf(
  entry: Entry,
  kind: Notice["kind"],
  start: string,
  impact: string | null,
  plannedEndAt: Date | null,
): Notice {
  const { name, status, url } = entry;
  return {
    id: lastPart(url),
    kind,
    title: plainText(name, 500),
    url: webAddress(url),
    status: plainText(status, 100),
    impact: impact && plainText(impact, 100),
    startedAt: new Date(start),
    postedAt: null,
    resolvedAt: null,
    plannedEndAt,
    over: overWords.has(status),
    subjects: [],
    raw: rawText(entry),
  };
}

/**
 * Stands for a page that says that something is wrong, but lists nothing: a component is down without an incident, or
 * the lists were renamed. So a lost list never looks like silence.
 */
function wordOf(page: Body["page"]): Notice {
  const status = plainText(page.status, 100);
  return {
    id: null,
    kind: status.endsWith("UNDERMAINTENANCE") ? "maintenance" : "incident",
    title: status,
    url: null,
    status,
    impact: null,
    startedAt: null,
    postedAt: null,
    resolvedAt: null,
    plannedEndAt: null,
    over: false,
    subjects: [],
    raw: rawText(page),
  };
}
