/** Pages in the format of Statuspage, for clients that read such pages. */
import { type RequestHandler, Router } from "express";
import { type Brand, ownBrand } from "../../../shared/config/brand.js";
import type { Registry } from "../../../shared/registry/registry.js";
import { answerJson, longCache } from "../api/answer.js";
import {
  category,
  flag,
  freshness,
  instant,
  list,
  object,
  orNull,
  since,
  state,
  text,
  type TypeOf,
  venueName,
} from "../api/shapes.js";
import { noSuchVenue, venueFinder } from "../api/venue-ids.js";
import { officialIncident } from "../board/detection.js";
import { incident } from "../board/incidents.js";
import { makeDerived, type Snapshots, dataOf } from "../board/snapshot.js";
import { durationText, exactText, isolated, sinceMs, ageInWords } from "../pages/format.js";
import { verbOf } from "../pages/words.js";
import {
  type StatuspageComponent,
  type StatuspageDocument,
  statuspageDocuments,
  type StatuspageIncident,
  type StatuspageMaintenance,
  type StatuspagePage,
  type StatuspageStatus,
} from "./schemas.js";

type Route = RequestHandler<{ venue?: string }>;

export interface StatuspageOptions {
  registry: Registry;
  baseUrl: string;
  brand?: Brand;
  snapshots: Snapshots;
}

const documentNames = Object.keys(statuspageDocuments) as StatuspageDocument[];

/**
 * Clients ask once a minute or less often, and every change of a state or an incident makes a new page anyway: polls of
 * all pages must not load the embedded database at every tick.
 */
const heldMs = 30_000;

/** Room for all documents of thirty venues with fifty incidents. */
const mostBytes = 8_000_000;

/** The routes by path: each document of all venues, and of one. */
export function statuspageRoutes(options: StatuspageOptions): [path: string, route: Route][] {
  const make = routeMaker(options);
  return documentNames.flatMap((name): [string, Route][] => [
    [`/statuspage/api/v2/${name}.json`, make(name)],
    [`/statuspage/:venue/api/v2/${name}.json`, make(name)],
  ]);
}

/** Clients that know only a host name look for these documents at its root. */
export function statuspageRedirects(): Router {
  const router = Router({ caseSensitive: true, strict: true });
  for (const name of documentNames)
    router.get(`/api/v2/${name}.json`, (_request, response) => {
      response.setHeader("Cache-Control", longCache);
      response.redirect(301, `/statuspage/api/v2/${name}.json`);
    });
  return router;
}

function routeMaker({ registry, baseUrl, brand = ownBrand, snapshots }: StatuspageOptions) {
  const venueOf = venueFinder(registry);
  const derived = makeDerived(mostBytes);
  return (name: StatuspageDocument): Route =>
    async (request, response) => {
      const asked = request.params.venue;
      const venue = asked === undefined ? null : venueOf(asked);
      const snapshot = await snapshots("statuspage", [venue], [venue], heldMs);
      if (!snapshot) throw noSuchVenue(venue!);
      const body = derived(JSON.stringify([venue, name]), [snapshot], () =>
        documentText(name, dataOf(statuspageData, snapshot), { baseUrl, venue, siteName: brand.name }),
      );
      await answerJson(response, { body });
    };
}

// The documents of a page in the format of Statuspage.

type Documents = { [Name in StatuspageDocument]: () => TypeOf<(typeof statuspageDocuments)[Name]> };

/** Makes the document of this name. */
function documentText(name: StatuspageDocument, data: StatuspageData, address: PageAddress): string {
  return JSON.stringify(documentsOf(data, address)[name]());
}

function documentsOf(data: StatuspageData, { baseUrl, venue, siteName }: PageAddress): Documents {
  const id = venue ?? "venuewatch";
  const page: StatuspagePage = {
    id,
    name: isolated(data.name ?? siteName),
    url: venue === null ? baseUrl : `${baseUrl}/venues/${venue}`,
    time_zone: "Etc/UTC",
    updated_at: data.generatedAt,
  };
  const components = knownComponents(data, id);
  const byId = new Map(components.map((component) => [component.id, component]));
  const incidents = (listed: readonly ListedIncident[]) => listed.map((one) => incidentOf(one, byId, id, baseUrl));
  const maintenances = () => data.maintenances.map((one) => maintenanceOf(one, byId, id, data.generatedAt));
  return {
    status: () => ({ page, status: statusOf(data) }),
    summary: () => ({
      page,
      components,
      incidents: incidents(data.unresolved),
      scheduled_maintenances: maintenances().filter(({ status }) => status !== "completed"),
      status: statusOf(data),
    }),
    components: () => ({ page, components }),
    incidents: () => ({ page, incidents: incidents(data.incidents) }),
    "incidents/unresolved": () => ({ page, incidents: incidents(data.unresolved) }),
    "scheduled-maintenances": () => ({ page, scheduled_maintenances: maintenances() }),
  };
}

const indicatorOf = { operational: "none", degraded: "minor", outage: "critical", unknown: null } as const;

/** Statuspage's own words, which some clients compare with. */
const stateDescriptions = {
  operational: "All Systems Operational",
  degraded: "Partially Degraded Service",
  outage: "Major Service Outage",
};

/** The overall state of a page, how much of it is unknown, and for how long, if the engine is silent. */
function statusOf(page: StatuspageData): StatuspageStatus {
  const { state, name, stale, components } = page;
  const description = descriptionOf(state, name === null, components);
  const age = ageInWords(page);
  if (!stale || age === null) return { indicator: indicatorOf[state], description };
  const before = state === "unknown" ? "" : ` Before that: ${description}`;
  return { indicator: null, description: `Unknown: nothing was decided for the last ${age}.${before}` };
}

function descriptionOf(
  state: StatuspageData["state"],
  isOfVenues: boolean,
  components: StatuspageData["components"],
): string {
  const unknown = components.filter((component) => component.state === "unknown").length;
  const [one, many] = isOfVenues ? ["venue", "venues"] : ["component", "components"];
  const of = `of ${components.length} ${components.length === 1 ? one : many}`;
  if (state === "unknown") return `Unknown: no state ${of} is known at present, so none is listed`;
  if (unknown === 0) return stateDescriptions[state];
  const left = `the state of ${unknown} is unknown, so ${unknown === 1 ? "it is" : "they are"} not listed`;
  if (state === "operational") return `${components.length - unknown} ${of} operational; ${left}`;
  return `${stateDescriptions[state]}; ${of.replace(/^of/, "of the")}, ${left}`;
}

const componentStatuses = {
  operational: "operational",
  degraded: "degraded_performance",
  outage: "major_outage",
} as const;

/**
 * The components of known state; none while the engine is silent. The format has no word for unknown, and its clients
 * take every status but `operational` for trouble.
 */
function knownComponents(
  { stale, components }: Pick<StatuspageData, "stale" | "components">,
  pageId: string,
): StatuspageComponent[] {
  if (stale) return [];
  return components.flatMap(({ state, ...component }, at) => {
    if (state === "unknown") return [];
    return {
      id: component.id,
      name: nameOf(component.name, component.part),
      status: componentStatuses[state],
      created_at: component.createdAt,
      updated_at: component.since,
      position: at + 1,
      description: null,
      showcase: false,
      group_id: null,
      page_id: pageId,
      group: false,
      only_show_if_degraded: false,
    };
  });
}

/** With its id, since clients tell components apart by their names, and an endpoint and a stream may share a label. */
function nameOf(name: string, part: string | null): string {
  return part === null ? isolated(name) : `${isolated(name)} (${part})`;
}

type OurIncident = ListedIncident["incident"];
type Update = StatuspageIncident["incident_updates"][number];
type Severity = OurIncident["severity"];

const severityImpacts = { degraded: "minor", outage: "critical" } as const;
const severityWords = { degraded: "degraded", outage: "down" };

/** @param components the known ones of the page, by id */
function incidentOf(
  { incident, component, venueName }: ListedIncident,
  components: ReadonlyMap<string, StatuspageComponent>,
  pageId: string,
  baseUrl: string,
): StatuspageIncident {
  const { slug, severity, fault, openedAt, closedAt } = incident;
  const updates = updatesOf(incident);
  const affected = components.get(component);
  return {
    id: slug,
    name: `${isolated(venueName)}: ${nameOf(incident.label, incident.component)} ${verbOf(fault)?.does ?? severityWords[severity]}`,
    status: closedAt === null ? "investigating" : "resolved",
    impact: severityImpacts[severity],
    created_at: openedAt,
    updated_at: updates[0]!.created_at,
    started_at: incident.startedAt,
    monitoring_at: null,
    resolved_at: closedAt,
    shortlink: `${baseUrl}/incidents/${slug}`,
    page_id: pageId,
    incident_updates: updates,
    components: affected === undefined ? [] : [affected],
  };
}

/** Newest first. */
function updatesOf(incident: OurIncident): Update[] {
  const { openedAt, escalatedAt, closedAt, peakSeverity } = incident;
  const opened: Severity = escalatedAt === null ? peakSeverity : "degraded";
  const updates = [updateOf(incident, "opened", openedAt, openingText(incident, opened))];
  if (escalatedAt !== null)
    updates.unshift(updateOf(incident, "escalated", escalatedAt, `Escalated: ${severityWords.outage}.`));
  if (closedAt !== null) updates.unshift(updateOf(incident, "closed", closedAt, closingText(incident)));
  return updates;
}

function updateOf({ slug }: OurIncident, event: string, at: string, body: string): Update {
  return {
    id: `${slug}-${event}`,
    incident_id: slug,
    status: event === "closed" ? "resolved" : "investigating",
    body,
    created_at: at,
    updated_at: at,
    display_at: at,
  };
}

function openingText(incident: OurIncident, severity: Severity): string {
  const { label, component, fault, regions, counted, maintenance } = incident;
  const witnesses =
    regions.length === 0 ? "A quorum of regions" : `${regions.length} of ${counted} regions with a vote`;
  const verb = verbOf(fault);
  const name = nameOf(label, component);
  const announced = maintenance === null ? "" : ` The venue had announced maintenance: ${isolated(maintenance.title)}.`;
  return verb
    ? `${witnesses} saw that ${name} ${verb.does}.${announced}`
    : `${witnesses} saw ${name} fail: ${severityWords[severity]}.${announced}`;
}

function closingText({ startedAt, lastBadAt }: OurIncident): string {
  const after = durationText(sinceMs(startedAt, lastBadAt));
  return `Closed. The trouble was last seen at ${exactText(lastBadAt)}, ${after} after it began.`;
}

/**
 * @param components the known ones of the page, by id
 * @param now the instant of the page
 */
function maintenanceOf(
  { id, component, venueName, over, plannedEnd, modifiedAt, notice }: ListedMaintenance,
  components: ReadonlyMap<string, StatuspageComponent>,
  pageId: string,
  now: string,
): StatuspageMaintenance {
  const { startedAt, resolvedAt } = notice;
  const venue = isolated(venueName);
  const title = isolated(notice.title);
  const createdAt = notice.postedAt ?? notice.firstSeenAt;
  // an unchanged notice is as old as its announcement, though we may have read it later
  const changedAt = modifiedAt === notice.firstSeenAt ? createdAt : modifiedAt;
  const updatedAt = over ? (resolvedAt ?? changedAt) : changedAt;
  const status = over ? "completed" : startedAt > now ? "scheduled" : "in_progress";
  const affected = component === null ? undefined : components.get(component);
  return {
    id,
    name: component === null ? title : `${venue}: ${title}`,
    status,
    impact: "maintenance",
    created_at: createdAt,
    updated_at: updatedAt,
    monitoring_at: null,
    resolved_at: over ? resolvedAt : null,
    scheduled_for: startedAt,
    scheduled_until: plannedEnd,
    shortlink: notice.url,
    page_id: pageId,
    incident_updates: [
      {
        id: `${id}-announced`,
        incident_id: id,
        status,
        body: `Announced by ${venue}; its own word for the state of it: ${isolated(notice.status)}.`,
        created_at: createdAt,
        updated_at: updatedAt,
        display_at: createdAt,
      },
    ],
    components: affected === undefined ? [] : [affected],
  };
}

// The result of `sql/board/statuspage.sql`: a page of one venue or of all, in our own words.

const listed = object("An incident.", { component: text("Its id.", "kraken:rest:ticker"), venueName, incident });

const statuspageData = object("A page.", {
  ...freshness,
  name: orNull(venueName),
  state,
  components: list(
    "In the registry's order.",
    object("A component, known or not.", {
      id: text("Its id.", "kraken:rest:ticker"),
      name: text("Its name.", "Ticker"),
      part: orNull(text("Of a venue.", "rest:ticker")),
      category,
      state,
      since,
      createdAt: instant("Since when it has been watched."),
    }),
  ),
  incidents: list("The newest.", listed),
  unresolved: list("All that are open.", listed),
  maintenances: list(
    "The newest.",
    object("An announcement.", {
      id: text("Its id.", "kraken-maintenance-17"),
      component: orNull(text("Its venue, on the page of all.", "kraken")),
      venueName,
      over: flag("Whether it is over.", false),
      plannedEnd: orNull(instant("When it will be over, as the venue planned it.")),
      modifiedAt: instant("When the venue last changed what it says, or took it down."),
      notice: officialIncident,
    }),
  ),
});

type StatuspageData = TypeOf<typeof statuspageData>;
type ListedIncident = StatuspageData["incidents"][number];
type ListedMaintenance = StatuspageData["maintenances"][number];

/** Where a page and what it links to are. */
interface PageAddress {
  /** Of the service, without a slash at the end. */
  baseUrl: string;
  /** Null: all venues. */
  venue: string | null;
  /** The name of the page of all venues. */
  siteName: string;
}
