/** How reliable venues were over a window of days, compared with each other. */
import type { RequestHandler } from "express";
import { answerJson } from "../api/answer.js";
import { categoryFilter, integerParameter } from "../api/parameters.js";
import { queryOf } from "../api/request.js";
import {
  category,
  freshness,
  integer,
  list,
  named,
  object,
  orNull,
  shownAs,
  venueId,
  venueName,
  type Schema,
} from "../api/shapes.js";
import { component, componentLabel } from "./component.js";
import { reliabilityHeldMs, type Windows } from "./snapshot.js";
import {
  type AnswerTable,
  formReader,
  type TableFormat,
  ofTheWindow,
  propertiesOf,
  type TableSchema,
} from "./tables.js";
import { excluded, tableWithoutMaintenance, uptimeBasis, uptimePct, withoutMaintenance } from "./uptime.js";

/**
 * `/v1/reliability`: the venues compared over a window; with an ending, as a table.
 *
 * A venue that was never measured keeps its row, without a rank: minutes and coverage are 0, uptimes, their bounds and
 * down minutes null. In a table, null is an empty cell (tables.ts).
 */
export function reliabilityRoute(
  windows: Windows,
  answerTable: AnswerTable,
  ending: TableFormat | null = null,
): RequestHandler {
  const read = formReader(reliabilityParameters, ending);
  return async (request, response) => {
    const { days, category, format, decimal } = read(queryOf(request));
    if (format === "json") return answerJson(response, await windows.reliability(days, category));
    const name = `${category ?? "all"}-reliability-days-${days}`;
    const table = {
      file: "reliability_csv",
      values: [days, category],
      schema: reliabilityTable,
      name,
      holdMs: reliabilityHeldMs,
    };
    await answerTable(response, { format, decimal }, table);
  };
}

export const reliabilityParameters = {
  days: integerParameter("Length of the window in UTC days, today included.", 1, 90, 90),
  category: categoryFilter,
};

/** An uptime with its basis. */
const uptimeWithBasis = { uptimePct, ...uptimeBasis };

const downMinutes = orNull(integer("Measured minutes that were down; null if none was measured.", 18));

/** The uptime of REST, or of the streams. */
function uptimePart(description: string) {
  return object(description, { ...uptimeWithBasis, downMinutes });
}

const componentUptime = object("The uptime of one component.", {
  component,
  label: componentLabel,
  ...uptimeWithBasis,
  withoutMaintenance,
  downMinutes,
  degradedMinutes: orNull(integer("Measured minutes that were degraded; null if none was measured.", 0)),
});

const windowDays = integer("Length of the window in UTC days, today included.", 90, 1);
const typicalP50Ms = orNull(
  integer(
    "Latency of the median hour: the median of the exact hourly medians of REST in the window, over all endpoints and regions; null if there were fewer than 3 hours. Another figure than the typical latency of the board (typicalMs), which is that of the median minute of seven days.",
    84,
  ),
);
const typicalP95Ms = orNull(
  integer(
    "The median of the 95th percentiles of the same hours: in the median hour, a twentieth of the responses take longer; null if typicalP50Ms is.",
    210,
  ),
);

const typicalHours = integer(
  "Hours that both are computed from: those with at least 10 responses, per endpoint and region.",
  19_440,
);

export const reliabilityVenue = named(
  "ReliabilityVenue",
  object("How reliable a venue was over the window. All values cover the same UTC days.", {
    id: venueId,
    name: venueName,
    category,
    days: windowDays,
    measuredDays: integer("Days of the window with a measured minute.", 90),
    ...uptimeBasis,
    downMinutes: orNull(integer("Measured minutes that were down; null if nothing was measured.", 18)),
    degradedMinutes: orNull(integer("Measured minutes that were degraded; null if nothing was measured.", 0)),
    uptimePct,
    withoutMaintenance,
    rest: uptimePart("REST alone: down when at least half of the published endpoints are down."),
    streams: uptimePart("The socket and its streams alone: down when at least half of them are down."),
    components: list(
      "Each component by itself, in the registry's order: an outage of one component is not always an outage of the venue.",
      componentUptime,
    ),
    typicalP50Ms,
    typicalP95Ms,
    typicalHours,
    incidents: integer("Incidents that started in the window.", 1),
    outages: integer("Number of these that reached outage.", 1),
    openIncidents: integer("Number of these that are still open.", 1),
    meanIncidentSeconds: shownAs(
      orNull(integer("Mean length of the closed ones, from startedAt to endedAt; null if there is none.", 1_134)),
      null,
    ),
    longestIncidentSeconds: orNull(
      integer("The longest, from startedAt to endedAt, or to generatedAt if still open; null if there is none.", 1_134),
    ),
  }),
);

export const reliabilityResponse = named(
  "ReliabilityResponse",
  object("The venues compared.", {
    ...freshness,
    days: windowDays,
    fleet: object("Only the rows of this response, together.", {
      venues: integer("Rows.", 1),
      uptimePct: {
        ...uptimePct,
        description:
          "Over the measured minutes of all rows together; null if less than half of the scheduled ones were measured.",
      },
      ...uptimeBasis,
      withoutMaintenance,
      typicalP50Ms: {
        ...typicalP50Ms,
        description: "The median over the hours of all rows, not a mean of the rows' medians.",
      },
      typicalP95Ms: {
        ...typicalP95Ms,
        description: "The median of the 95th percentiles of those hours.",
      },
      typicalHours,
      incidents: integer("Incidents of all rows.", 1),
    }),
    venues: list("The most available first; those without an uptime last.", reliabilityVenue),
    ranks: list(
      "The rows by rank, first rank first; unmeasured rows have none. A row's rank is one more than the number of rows whose uptimePctLow is above its uptimePctHigh, which were more available whatever happened in the unmeasured minutes. The bounds of rows that share a rank overlap.",
      object("Rows of one rank.", {
        rank: integer("The rank.", 1, 1),
        venues: list("The venues with this rank, in the registry's order.", venueId),
      }),
    ),
    excluded,
  }),
);

/** `/v1/reliability` as a table. */
export const reliabilityTable: TableSchema = {
  sheet: "venues",
  rows: "One row per venue, the most available first",
  columns: {
    ...ofTheWindow,
    venue: venueId,
    ...propertiesOf(reliabilityVenue, [
      "name",
      "category",
      "uptimePct",
      "scheduledMinutes",
      "coveragePct",
      "uptimePctLow",
      "uptimePctHigh",
      "downMinutes",
      "degradedMinutes",
    ]),
    restUptimePct: partOf("rest", "uptimePct", "REST alone."),
    restDownMinutes: partOf("rest", "downMinutes", "REST alone."),
    streamsUptimePct: partOf("streams", "uptimePct", "The streams alone."),
    streamsDownMinutes: partOf("streams", "downMinutes", "The streams alone."),
    ...propertiesOf(reliabilityVenue, [
      "typicalP50Ms",
      "typicalP95Ms",
      "typicalHours",
      "incidents",
      "outages",
      "openIncidents",
      "meanIncidentSeconds",
      "longestIncidentSeconds",
    ]),
    ...tableWithoutMaintenance,
  },
};

/** A field of the uptime of REST, or of the streams. */
function partOf(part: string, name: string, of: string): Schema {
  const schema = (reliabilityVenue.properties![part] as Schema).properties![name] as Schema;
  return { ...schema, description: `${of} ${schema.description}` };
}
