import { incident } from "./incident.js";
import { reliabilityVenue } from "./reliability.js";
import {
  flag,
  generatedAt,
  instant,
  integer,
  orNull,
  type Schema,
  text,
  venueId,
} from "./shapes.js";
import { uptimeDay } from "./status.js";
import type { Table } from "./table.js";

/** What every row says of when and of what it is. */
const ofTheWindow = {
  generatedAt: {
    ...generatedAt,
    description: "The instant that the table shows: the engine's last tick.",
  },
  windowDays: integer("Length of the window in days.", 90, 1),
  windowFrom: instant("Start of the window.", "2025-11-03T00:00:00.000Z"),
  windowTo: instant("End of the window: generatedAt."),
  windowMeasuredDays: integer(
    "UTC days of the window with any measurement of the row's venue.",
    90,
  ),
  windowMeasuredMinutes: integer(
    "Minutes in them with any measurement of it.",
    128_880,
  ),
  methodologyUrl: text(
    "Where it is said how each number is made.",
    "https://api.example.org/methodology",
  ),
};

/** `/v1/targets/{venue}` as a table. */
export const venueTable: Table = {
  rows: "One row a day of ninety, oldest first, also for a day that nobody measured",
  columns: {
    ...ofTheWindow,
    venue: venueId,
    ...propertiesOf(uptimeDay, [
      "date",
      "uptimePct",
      "measuredMinutes",
      "downMinutes",
      "degradedMinutes",
    ]),
  },
};

/** `/v1/reliability` as a table. */
export const reliabilityTable: Table = {
  rows: "One row a venue, the most available first",
  columns: {
    ...ofTheWindow,
    venue: venueId,
    ...propertiesOf(reliabilityVenue, [
      "name",
      "category",
      "uptimePct",
      "downMinutes",
      "degradedMinutes",
      "typicalP50Ms",
      "typicalP95Ms",
      "incidents",
      "outages",
      "openIncidents",
      "meanIncidentSeconds",
      "longestIncidentSeconds",
    ]),
  },
};

/** `/v1/incidents` as a table. */
export const incidentsTable: Table = {
  rows: "One row an incident, newest first; a page of them, as in JSON",
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
      "flapping",
      "durationSeconds",
      "quorum",
      "reporting",
    ]),
    regions: orNull(
      text(
        "The regions that agreed at the opening, with spaces between; null where none is on record.",
        "eu-central us-east",
      ),
    ),
    ...noticeBeside({
      officialId: text("Name that the venue gave its own notice", "x1b2c3"),
      officialTitle: text("Title of that notice", "Degraded REST API"),
      officialUrl: text("Its page", "https://status.kraken.com/incidents/x1"),
      officialStartedAt: instant("When it began, as the venue says"),
      officialResolvedAt: instant("When it was over, as the venue says"),
      subjectMatched: flag(
        "Always false beside a notice: nothing tests that it describes the same fault",
        false,
      ),
    }),
  },
};

/** No notice is read yet, so that all of them are empty. */
function noticeBeside(columns: Table["columns"]): Table["columns"] {
  return Object.fromEntries(
    Object.entries(columns).map(([name, schema]) => [
      name,
      {
        ...orNull({
          ...schema,
          description: `${schema.description}; null where there is none. None is read yet.`,
        }),
        examples: [null],
      },
    ]),
  );
}

function propertiesOf(schema: Schema, names: string[]): Table["columns"] {
  return Object.fromEntries(
    names.map((name) => [name, schema.properties![name] as Schema]),
  );
}
