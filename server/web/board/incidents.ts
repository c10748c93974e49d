import type { RequestHandler } from "express";
import type { Registry } from "../../../shared/registry/registry.js";
import { answerJson } from "../api/answer.js";
import {
  categoryFilter,
  choice,
  instantParameter,
  integerParameter,
  parameterReader,
  type Values,
  venueFilter,
} from "../api/parameters.js";
import type { BadParameter } from "../api/problem.js";
import { queryOf } from "../api/request.js";
import {
  flag,
  freshness,
  instant,
  integer,
  list,
  named,
  object,
  oneOf,
  orNull,
  regionId,
  type Schema,
  severity,
  shownAs,
  slug,
  text,
  venueId,
} from "../api/shapes.js";
import { startedAt, openedAt, component, kind, componentLabel, fault } from "./component.js";
import { officialIncident } from "./detection.js";
import { announcedMaintenance } from "./maintenance.js";
import type { Snapshot, Snapshots } from "./snapshot.js";
import {
  type AnswerTable,
  formReader,
  type TableFormat,
  ofTheWindow,
  propertiesOf,
  type TableSchema,
} from "./tables.js";

/** `/v1/incidents`: history by pages, newest first; with an ending, as a table. */
export function incidentsRoute(
  registry: Registry,
  snapshots: Snapshots,
  answerTable: AnswerTable,
  ending: TableFormat | null = null,
): RequestHandler {
  const usual = incidentsParameters(registry);
  const read = formReader(usual, ending, tiesWithoutCursor);
  return async (request, response) => {
    const { format, decimal, ...page } = read(queryOf(request));
    if (format === "json") return answerJson(response, await incidentsOf(page, snapshots));
    const name = fileNameOf(page, usual);
    const table = { file: "incidents_csv", values: valuesOf(page), schema: incidentsTable, name };
    await answerTable(response, { format, decimal }, table);
  };
}

export function incidentsParameters(registry: Registry) {
  return {
    venue: venueFilter(registry),
    category: categoryFilter,
    status: choice("Only open or only closed incidents, or all.", ["open", "closed", "all"], "all"),
    days: integerParameter(
      "Length of the window in UTC days, today included: incidents that started in it.",
      1,
      365,
      90,
    ),
    limit: integerParameter("Rows per page; a shorter page is the last one.", 1, 200, 50),
    before: instantParameter(
      "Cursor: only incidents that started strictly before this instant. Several may have started at one instant: paging by `before` alone skips those that did not fit into a page. Paging with `beforeId` too skips none.",
    ),
    beforeId: integerParameter(
      "The id of the last incident received, whose startedAt is `before`: includes incidents that started at that instant and have a smaller id.",
      1,
      Number.MAX_SAFE_INTEGER,
      null,
    ),
  };
}

/** Which page of the history. */
export type IncidentsQuery = Values<Usual>;

type Usual = ReturnType<typeof incidentsParameters>;

/** @throws (the reader) Problem 400 that names every invalid parameter */
export function incidentsReader(registry: Registry): (query: URLSearchParams) => IncidentsQuery {
  return parameterReader(incidentsParameters(registry), tiesWithoutCursor);
}

function tiesWithoutCursor({ before, beforeId }: IncidentsQuery): BadParameter[] {
  if (beforeId === null || before !== null) return [];
  return [{ parameter: "beforeId", message: "expected together with before, whose ties it breaks; before is missing" }];
}

export async function incidentsOf(page: IncidentsQuery, snapshots: Snapshots): Promise<Snapshot> {
  const values = valuesOf(page);
  return (await snapshots("incidents", values, values))!;
}

function valuesOf({ venue, category, status, days, limit, before, beforeId }: IncidentsQuery) {
  return [venue, category, status, days, limit, before, beforeId];
}

/** Different pages and filters have different names; default values are left out. */
function fileNameOf({ venue, category, status, days, limit, before, beforeId }: IncidentsQuery, usual: Usual): string {
  return [
    venue ?? category ?? "all",
    "incidents",
    ...(status === usual.status.absent ? [] : [status]),
    `days-${days}`,
    ...(limit === usual.limit.absent ? [] : [`limit-${limit}`]),
    // Windows does not allow colons in file names
    ...(before === null ? [] : [`before-${before.replaceAll(":", "")}`]),
    ...(beforeId === null ? [] : [beforeId]),
  ].join("-");
}

const incidentObject = object("An incident, the same object everywhere.", {
  id: integer("Number of the incident; breaks ties between cursors.", 4711, 1),
  slug,
  venue: venueId,
  component,
  kind,
  label: componentLabel,
  severity: {
    ...severity,
    description: "Current severity; for a closed incident the worst that it reached, equal to peakSeverity.",
  },
  peakSeverity: { ...severity, description: "The worst that it reached." },
  status: oneOf(["open", "closed"], "A closed incident no longer changes."),
  startedAt: instant("The first bad sample of the run that a quorum confirmed.", startedAt),
  openedAt: instant("The tick at which the quorum confirmed it.", openedAt),
  escalatedAt: shownAs(
    orNull(instant("The tick at which it first became an outage, if it opened as degraded; null otherwise.")),
    null,
  ),
  lastBadAt: instant("The last bad sample. The recovery hold follows it, so closedAt is later."),
  closedAt: shownAs(orNull(instant("The tick that ended the recovery hold; null while open.")), null),
  endedAt: shownAs(orNull(instant("When the trouble ended: lastBadAt, once the incident is closed; else null.")), null),
  flapping: flag(
    "Whether it was at least the third incident of its component within an hour. It then closes only after a longer hold, so a relapse extends it.",
    false,
  ),
  fault: {
    ...orNull(fault),
    description:
      "The fault of more than half of the failed and slow samples in the votes that opened it, or that made it an outage. With `limited` the venue limits our requests, and is not down. Null if no fault has so many, as of one that was only slow, or if no votes are on record.",
  },
  durationSeconds: shownAs(
    orNull(integer("From startedAt to endedAt, without the recovery hold. Null while open.", 1_134)),
    null,
  ),
  quorum: integer("Number of regions that had to agree at the opening.", 2, 1),
  reporting: integer("Number of regions that reported the component then.", 3, 1),
  counted: integer("Number of these whose votes counted.", 2, 1),
  regions: shownAs(
    list(
      "The regions that voted degraded or outage at the opening, without those that followed later. Empty if no votes are on record.",
      regionId,
    ),
    ["eu-central", "us-east"],
  ),
  official: {
    ...orNull(officialIncident),
    description:
      "The same venue's notice of kind incident that began nearest to it, at most 6 hours before or after; null if there is none, and officialObserved says whether we would know of one. Several incidents may have the same notice. Venues write and change notices later, so it may change after the incident closed.",
  },
  officialObserved: orNull(
    flag(
      "Whether we know what the venue's feed said when the incident started: a reading without problems covers that time, or ended at most 15 minutes before it. Only then does a missing notice mean something. Null if the venue has no feed.",
      true,
    ),
  ),
  maintenance: shownAs(
    {
      ...orNull(announcedMaintenance),
      description:
        "Maintenance that the venue had announced and that covers the opening: it was under way at some time between startedAt and openedAt. Of several, the one that ends last. Null if there is none.",
    },
    null,
  ),
});
export const incident = named("Incident", incidentObject);

export const incidentsResponse = named(
  "IncidentsResponse",
  object("History of incidents, newest first.", {
    ...freshness,
    incidents: list("One page; a page shorter than the limit is the last.", incident),
  }),
);

/** `/v1/incidents` as a table. */
export const incidentsTable: TableSchema = {
  sheet: "incidents",
  rows: "One row per incident, newest first; one page, as in JSON",
  columns: {
    ...ofTheWindow,
    ...propertiesOf(incident, [
      "id",
      "slug",
      "venue",
      "component",
      "kind",
      "label",
      "severity",
      "peakSeverity",
      "status",
      "startedAt",
      "openedAt",
      "escalatedAt",
      "lastBadAt",
      "closedAt",
      "endedAt",
      "flapping",
      "fault",
      "durationSeconds",
      "quorum",
      "reporting",
    ]),
    regions: orNull(
      text(
        "The regions that voted degraded or outage at the opening, separated by spaces; null if no votes are on record.",
        "eu-central us-east",
      ),
    ),
    officialId: ofNotice("id"),
    officialTitle: ofNotice("title"),
    officialUrl: ofNotice("url"),
    officialStartedAt: ofNotice("startedAt"),
    officialResolvedAt: ofNotice("resolvedAt"),
    subjectMatched: ofNotice("subjectMatched"),
    officialStatus: ofNotice("status"),
    officialImpact: ofNotice("impact"),
    officialPostedAt: ofNotice("postedAt"),
    officialVanished: ofNotice("vanished"),
    aheadUncorrelated: ofNotice("aheadUncorrelated"),
    ...propertiesOf(incident, ["officialObserved", "counted"]),
    maintenanceTitle: ofMaintenance("title"),
    maintenanceUrl: ofMaintenance("url"),
    maintenanceFrom: ofMaintenance("from"),
    maintenanceUntil: ofMaintenance("until"),
    maintenanceAnnouncedAt: ofMaintenance("announcedAt"),
    maintenanceOverran: ofMaintenance("overran"),
  },
};

/** A field of the notice beside an incident. */
function ofNotice(name: string): Schema {
  return orEmpty(officialIncident.properties![name] as Schema, "Empty if there is no notice.");
}

/** A field of the announced maintenance beside an incident. */
function ofMaintenance(name: string): Schema {
  return orEmpty(announcedMaintenance.properties![name] as Schema, "Empty if there is none.");
}

function orEmpty(schema: Schema, when: string): Schema {
  return { ...(schema.anyOf ? schema : orNull(schema)), description: `${schema.description} ${when}` };
}
