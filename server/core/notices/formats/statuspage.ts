/**
 * Atlassian Statuspage: `incidents.json` and, beside it, `scheduled-maintenances.json`.
 *
 * The page's indicator is never used, because pages show "operational" during critical incidents.
 */

import { plainText, rawText, webAddress } from "../../../../shared/text/untrusted-text.js";
import * as shape from "../expected-shape.js";
import {
  type Entries,
  type FeedDocument,
  type FeedFormat,
  type FeedSource,
  feedTimeProblem,
  type Notice,
  type NoticeKind,
  type NoticeList,
  notUnderstood,
  partitionValid,
  reachOf,
  type Taken,
} from "../feed.js";

/** The document beside the incidents. */
export const scheduledMaintenances = "scheduled-maintenances.json";

export const statuspage: FeedFormat = {
  pauseMs: 1000,
  documents: (source) => [
    documentOfKind(source, source.api, incidents),
    documentOfKind(source, new URL(scheduledMaintenances, source.api).href, maintenances),
  ],
};

/** The number of entries at which a list may have been cut. A shorter list goes back to the beginning. */
const fullPage = 50;

interface Page {
  id: string;
  url: string;
  updated_at: string;
}

interface Entry {
  id: string;
  page_id: string;
  name: string;
  status: string;
  impact?: string | null;
  shortlink?: string | null;
  created_at: string;
  /** Missing on pages from before 2019. */
  started_at?: string | null;
  resolved_at?: string | null;
  components?: { name: string }[];
}

interface Maintenance extends Entry {
  scheduled_for?: string | null;
  scheduled_until?: string | null;
}

/** The differences between the two lists: their names, and the start of an entry. */
interface Kind {
  kind: NoticeKind;
  scope: "incidents" | "maintenances";
  property: "incidents" | "scheduled_maintenances";
  bodyFault: shape.FaultOf;
  entryFault: shape.FaultOf;
  startOf(entry: Entry): string;
}

const page = shape.object("a page", {
  id: shape.id,
  url: shape.address,
  updated_at: shape.instant,
});

const entry: Record<string, shape.NoticeSchema> = {
  id: shape.id,
  page_id: shape.id,
  name: shape.text,
  status: shape.text,
  impact: shape.textOrNull,
  shortlink: shape.textOrNull,
  created_at: shape.instant,
  started_at: shape.instantOrNull,
  resolved_at: shape.instantOrNull,
  components: shape.list("a list of components", shape.object("a component", { name: shape.text })),
};

const optionalFields = ["components"];

const incidents: Kind = {
  kind: "incident",
  scope: "incidents",
  property: "incidents",
  bodyFault: shape.faultFinder(
    shape.object("an object with page and incidents", {
      page,
      incidents: shape.list("a list of incidents"),
    }),
  ),
  entryFault: shape.faultFinder(shape.object("an incident", entry, optionalFields)),
  startOf: ({ started_at, created_at }) => started_at ?? created_at,
};

const maintenances: Kind = {
  kind: "maintenance",
  scope: "maintenances",
  property: "scheduled_maintenances",
  bodyFault: shape.faultFinder(
    shape.object("an object with page and scheduled_maintenances", {
      page,
      scheduled_maintenances: shape.list("a list of maintenances"),
    }),
  ),
  entryFault: shape.faultFinder(
    shape.object(
      "a maintenance",
      { ...entry, scheduled_for: shape.instantOrNull, scheduled_until: shape.instantOrNull },
      [...optionalFields, "scheduled_until"],
    ),
  ),
  startOf: (entry) => (entry as Maintenance).scheduled_for ?? entry.started_at ?? entry.created_at,
};

function documentOfKind(source: FeedSource, url: string, kind: Kind): FeedDocument {
  return {
    url,
    // The parameter is not documented, and some servers ignore it. So the reader checks whether a page has new notices.
    pageUrl(number) {
      const address = new URL(url);
      address.searchParams.set("page", String(number));
      return address.href;
    },
    takeApart: (body, at) => takeApart(body, source, at, kind),
  };
}

function takeApart(body: unknown, source: FeedSource, at: Date, kind: Kind): Taken {
  const fault = kind.bodyFault(body);
  if (fault !== null) return notUnderstood(fault);
  const { page } = body as { page: Page };
  const feedAt = new Date(page.updated_at);
  const problem = hostProblem(page.url, source) ?? feedTimeProblem(feedAt, source, at);
  if (problem !== null) return notUnderstood(problem);
  const values = (body as Record<Kind["property"], unknown[]>)[kind.property];
  const entries = partitionValid<Entry>(values, kind.property, (value, place) => entryFault(value, place!, page, kind));
  return {
    problem: entries.problem,
    list: listOf(entries, values.length < fullPage, page, kind, at),
    more: values.length >= fullPage,
    feedAt,
  };
}

/** The problem if this is not the page that we asked for. */
export function hostProblem(url: string, source: FeedSource): string | null {
  const host = hostOrNull(url);
  const hosts = [source.page, source.api].map((own) => own && hostOrNull(own));
  if (host !== null && hosts.includes(host)) return null;
  const expected = `an address at ${hosts.find((own) => own !== null)}, whose feed this should be`;
  return shape.mismatch("page.url", expected, shape.shownValue(url));
}

function hostOrNull(url: string): string | null {
  return URL.canParse(url) ? new URL(url).host : null;
}

function entryFault(value: unknown, place: string, page: Page, kind: Kind): string | null {
  const fault = kind.entryFault(value, place);
  if (fault !== null) return fault;
  const { page_id } = value as Entry;
  if (page_id === page.id) return null;
  const expected = `the page's id ${shape.shownValue(page.id)}`;
  return shape.mismatch(`${place}.page_id`, expected, shape.shownValue(page_id));
}

function listOf({ good, problem }: Entries<Entry>, isWhole: boolean, page: Page, kind: Kind, at: Date): NoticeList {
  const posted = good.map(({ created_at }) => Date.parse(created_at));
  const base = withoutSlashes(page.url);
  return {
    scope: kind.scope,
    notices: good.map((entry) => noticeOf(entry, base, kind)),
    // An entry that was not understood is missing from the list, and may be from any time.
    listedFrom: problem !== null ? null : isWhole ? new Date(0) : reachOf(posted, at),
  };
}

const overWords = new Set(["resolved", "postmortem", "completed"]);

/** @param base the page's address */
function noticeOf(entry: Entry, base: string, kind: Kind): Notice {
  const { id, status, impact, shortlink, created_at, resolved_at, scheduled_until } = entry as Maintenance;
  return {
    id,
    kind: kind.kind,
    title: plainText(entry.name, 500),
    url: webAddress(shortlink ?? null) ?? webAddress(`${base}/incidents/${encodeURIComponent(id)}`),
    status: plainText(status, 100),
    impact: plainText(impact ?? "", 100) || null,
    startedAt: new Date(kind.startOf(entry)),
    postedAt: new Date(created_at),
    resolvedAt: resolved_at ? new Date(resolved_at) : null,
    plannedEndAt: scheduled_until ? new Date(scheduled_until) : null,
    over: overWords.has(status),
    subjects: (entry.components ?? []).slice(0, 100).map(({ name }) => plainText(name, 200)),
    raw: rawText(entry),
  };
}

/** Not a regular expression, which would retry at each of a thousand slashes. */
function withoutSlashes(url: string): string {
  let end = url.length;
  while (url.charAt(end - 1) === "/") end -= 1;
  return url.slice(0, end);
}
