import { incident } from "./incident.js";
import { officialIncident } from "./official.js";
import { reliabilityVenue } from "./reliability.js";
import { generatedAt, instant, integer, orNull, type Schema, text, venueId } from "./shapes.js";
import { uptimeDay } from "./status.js";
import type { TableSchema } from "./table.js";

/** Columns of every row that describe the window. */
const ofTheWindow = {
  generatedAt: {
    ...generatedAt,
    description: "The instant that the table shows.",
  },
  windowDays: integer("Length of the window in days.", 90, 1),
  windowFrom: instant("Start of the window.", "2025-11-03T00:00:00.000Z"),
  windowTo: instant("End of the window: generatedAt."),
  windowMeasuredDays: integer("UTC days of the window with a measured minute of the row's venue.", 90),
  windowMeasuredMinutes: integer("Measured minutes in them.", 128_880),
  methodologyUrl: text("The page that defines each number.", "https://api.example.org/methodology"),
};

/** `/v1/targets/{venue}` as a table. */
export const venueTable: TableSchema = {
  sheet: "days",
  rows: "One row per day of ninety, oldest first, including unmeasured days",
  columns: {
    ...ofTheWindow,
    venue: venueId,
    ...propertiesOf(uptimeDay, [
      "date",
      "uptimePct",
      "measuredMinutes",
      "scheduledMinutes",
      "coveragePct",
      "uptimePctLow",
      "uptimePctHigh",
      "downMinutes",
      "degradedMinutes",
    ]),
  },
};

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
  },
};

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
  },
};

/** A field of the uptime of REST, or of the streams. */
function partOf(part: string, name: string, of: string): Schema {
  const schema = (reliabilityVenue.properties![part] as Schema).properties![name] as Schema;
  return { ...schema, description: `${of} ${schema.description}` };
}

/** A field of the notice beside an incident. */
function ofNotice(name: string): Schema {
  const schema = officialIncident.properties![name] as Schema;
  return {
    ...(schema.anyOf ? schema : orNull(schema)),
    description: `${schema.description} Empty if there is no notice.`,
  };
}

function propertiesOf(schema: Schema, names: string[]): TableSchema["columns"] {
  return Object.fromEntries(names.map((name) => [name, schema.properties![name] as Schema]));
}
