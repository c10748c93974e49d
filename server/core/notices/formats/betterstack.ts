/**
 * Better Stack's `index.json` of a status page, in the format of JSON:API: `included` contains reports, their updates
 * and the page's resources side by side. We only know it from the vendor's documentation; a feed that differs from it
 * counts as unreadable.
 */

import { plainText, rawText } from "../../../../shared/text/untrusted-text.js";
import * as shape from "../expected-shape.js";
import {
  canBePosted,
  type Entries,
  type FeedFormat,
  type FeedSource,
  feedTimeProblem,
  type Notice,
  notUnderstood,
  partitionValid,
  type Taken,
} from "../feed.js";

export const betterstack: FeedFormat = {
  pauseMs: 1000,
  documents: (source) => [
    {
      url: source.api,
      pageUrl: null,
      takeApart: (body, at) => takeApart(body, source, at),
      asOf: (list, at) => ({
        ...list,
        notices: list.notices.map((notice) => asOf(notice, at)),
      }),
    },
  ],
};

interface Body {
  data: { attributes: PageAttributes };
  included: unknown[];
}

interface PageAttributes {
  subdomain?: string | null;
  custom_domain?: string | null;
  updated_at: string;
}

interface Report {
  id: string;
  attributes: {
    title: string;
    report_type: string;
    starts_at: string;
    ends_at?: string | null;
    aggregate_state?: string | null;
    affected_resources: { status_page_resource_id: string | number }[];
  };
}

interface Update {
  attributes: { published_at: string; status_report_id: string | number };
}

interface Resource {
  id: string;
  attributes: { public_name: string };
}

const bodyFault = shape.faultFinder(
  shape.object("an object with data and included", {
    data: shape.object("a status page", {
      type: { description: "status_page", enum: ["status_page"] },
      attributes: shape.object("a status page's attributes", {
        subdomain: shape.textOrNull,
        custom_domain: shape.textOrNull,
        updated_at: shape.instant,
      }),
    }),
    included: shape.list("a list of reports, updates and resources"),
  }),
);

const typeFault = shape.faultFinder(shape.object("an object with type", { type: shape.text }));

/** The used fields of each used type; there are others, too. */
const shapeFaults = new Map<string, shape.FaultOf>([
  [
    "status_report",
    shape.faultFinder(
      shape.object("a report", {
        id: shape.id,
        attributes: shape.object("a report's attributes", {
          title: shape.text,
          report_type: shape.text,
          starts_at: shape.instant,
          ends_at: shape.instantOrNull,
          aggregate_state: shape.textOrNull,
          affected_resources: shape.list(
            "a list of resources",
            shape.object("a resource", { status_page_resource_id: shape.code }),
          ),
        }),
      }),
    ),
  ],
  [
    "status_update",
    shape.faultFinder(
      shape.object("an update", {
        attributes: shape.object("an update's attributes", {
          published_at: shape.instant,
          status_report_id: shape.code,
        }),
      }),
    ),
  ],
  [
    "status_page_resource",
    shape.faultFinder(
      shape.object("a resource", {
        id: shape.id,
        attributes: shape.object("a resource's attributes", {
          public_name: shape.text,
        }),
      }),
    ),
  ],
]);

function takeApart(body: unknown, source: FeedSource, at: Date): Taken {
  const fault = bodyFault(body);
  if (fault !== null) return notUnderstood(fault);
  const { data, included } = body as Body;
  const feedAt = new Date(data.attributes.updated_at);
  const problem = hostProblem(data.attributes, source) ?? feedTimeProblem(feedAt, source, at);
  if (problem !== null) return notUnderstood(problem);
  const entries = partitionValid<{ type: string }>(included, "included", faultOf);
  return {
    problem: entries.problem,
    list: {
      scope: "notices",
      notices: noticesOf(entries, at),
      listedFrom: null,
    },
    more: false,
    feedAt,
  };
}

/** The domain of pages without a custom domain; each page has a subdomain (documented). */
const vendorsDomain = ".betteruptime.com";

/**
 * The problem if this is not the page that we asked for. `subdomain` identifies it only at the vendor's domain: a
 * custom domain may begin with any name.
 */
function hostProblem(page: PageAttributes, source: FeedSource): string | null {
  const host = new URL(source.api).hostname;
  const isVendors = host.endsWith(vendorsDomain);
  const property = isVendors ? "subdomain" : "custom_domain";
  const expected = isVendors ? host.slice(0, -vendorsDomain.length) : host;
  const name = page[property];
  if (name?.toLowerCase() === expected) return null;
  return shape.mismatch(
    `data.attributes.${property}`,
    `${expected}, whose feed this should be`,
    shape.shownValue(name),
  );
}

function faultOf(value: unknown, place?: string): string | null {
  const fault = typeFault(value, place);
  if (fault !== null) return fault;
  const { type } = value as { type: string };
  return shapeFaults.get(type)?.(value, place) ?? null;
}

function noticesOf({ good }: Entries<{ type: string }>, at: Date): Notice[] {
  const ofType = (type: string): unknown[] => good.filter((entry) => entry.type === type);
  const posted = firstUpdates(ofType("status_update") as Update[], at);
  // Cleaned once here, because thousands of reports may name one resource.
  const names = new Map(
    (ofType("status_page_resource") as Resource[]).map(
      ({ id, attributes }) => [id, plainText(attributes.public_name, 200)] as const,
    ),
  );
  return (ofType("status_report") as Report[]).map((report) => noticeOf(report, posted.get(report.id) ?? null, names));
}

/** A report is published with its first update. */
function firstUpdates(updates: Update[], at: Date): Map<string, number> {
  const first = new Map<string, number>();
  for (const { attributes } of updates) {
    const report = String(attributes.status_report_id);
    const ms = Date.parse(attributes.published_at);
    if (!canBePosted(ms, at)) continue;
    first.set(report, Math.min(ms, first.get(report) ?? Infinity));
  }
  return first;
}

const overWords = new Set(["resolved", "operational"]);

/** `resolvedAt` is the announced end, which may be in the future; see `asOf`. */
function noticeOf(report: Report, postedMs: number | null, names: Map<string, string>): Notice {
  const { title, report_type, starts_at, ends_at, aggregate_state } = report.attributes;
  return {
    id: report.id,
    kind: report_type === "maintenance" ? "maintenance" : "incident",
    title: plainText(title, 500),
    url: null,
    status: plainText(aggregate_state ?? "", 100) || plainText(report_type, 100),
    impact: null,
    startedAt: new Date(starts_at),
    postedAt: postedMs === null ? null : new Date(postedMs),
    resolvedAt: ends_at ? new Date(ends_at) : null,
    plannedEndAt: null,
    over: overWords.has(aggregate_state?.toLowerCase() ?? ""),
    subjects: report.attributes.affected_resources
      .slice(0, 100)
      .map(({ status_page_resource_id: id }) => names.get(String(id)))
      .filter((name) => name !== undefined),
    raw: rawText(report),
  };
}

/** Before its end, a notice has only a planned one. */
function asOf(notice: Notice, at: Date): Notice {
  if (notice.resolvedAt === null) return notice;
  const isPast = +notice.resolvedAt <= +at;
  return isPast ? { ...notice, over: true } : { ...notice, resolvedAt: null, plannedEndAt: notice.resolvedAt };
}
