/** What venues announced: maintenance beside our incidents and states, and all of it as a list. */
import type { RequestHandler } from "express";
import type { Registry } from "../../../shared/registry/registry.js";
import { answerJson } from "../api/answer.js";
import { categoryFilter, choice, venueFilter, type Values } from "../api/parameters.js";
import { queryOf } from "../api/request.js";
import {
  flag,
  freshness,
  instant,
  list,
  named,
  object,
  oneOf,
  orNull,
  type Schema,
  shownAs,
  text,
  type TypeOf,
  venueId,
  venueName,
} from "../api/shapes.js";
import type { Snapshots } from "./snapshot.js";
import { type AnswerTable, formReader, type TableFormat, propertiesOf, type TableSchema } from "./tables.js";

const title = text("The venue's title.", "Scheduled system upgrade");
const from = instant("Start, by the venue.", "2026-01-31T11:30:00.000Z");
const until = "2026-01-31T13:30:00.000Z";
const page = "https://status.kraken.com/incidents/m1";

const announcedAt = instant(
  "When our reading of the venue's feed first saw this start, which had not come yet.",
  "2026-01-29T09:00:12.000Z",
);

/** Beside an incident or a state. */
export const announcedMaintenance = named(
  "AnnouncedMaintenance",
  object("Maintenance that the venue announced before it began. It changes no vote, no state and no measured figure.", {
    title,
    url: orNull(text("The venue's page about it; null if it names none.", page)),
    from,
    until: orNull(
      instant("End as announced before it came, or when the venue said that it was over; null: not stated.", until),
    ),
    announcedAt,
    overran: flag("Whether our incident was seen after its end.", false),
  }),
);

export type AnnouncedMaintenance = TypeOf<typeof announcedMaintenance>;

export const maintenanceNow: Schema<AnnouncedMaintenance | null> = shownAs(
  {
    ...orNull(announcedMaintenance),
    description:
      "The announced maintenance that is under way, or that covers the opening of an open incident and overran; null if there is none.",
  },
  null,
);

const states = ["planned", "underway", "over", "cancelled"] as const;

const maintenanceItem = object("Maintenance in a venue's own feed.", {
  id: text("The same as the UID in the calendar.", "c62a4f0e-4d1c-8b5e-a7d2-9f3f64a3c1b7"),
  venue: venueId,
  venueName,
  title,
  url: orNull(text("The venue's page about it, or its status page; null if it has none.", page)),
  from,
  until: orNull(instant("End, by the venue's latest plan or word; null if it names none.", until)),
  state: oneOf(
    states,
    "planned: it has not begun. underway: it began, and the venue has not said that it ended. cancelled: called off, or taken down before it began.",
  ),
  status: text("The venue's own word.", "scheduled"),
  announcedAt: orNull({
    ...announcedAt,
    description: `${announcedAt.description} Null: no reading saw it before it began, or it was called off.`,
  }),
  counts: flag(
    "Whether incidents, states and uptimes without maintenance take it into account: it was announced before it began, lasts at most 24 hours, and is about what we measure.",
    true,
  ),
});

export const maintenance = named("Maintenance", maintenanceItem);

export type Maintenance = TypeOf<typeof maintenance>;

export const maintenanceResponse = named(
  "MaintenanceResponse",
  object("Maintenance in the venues' own feeds.", {
    ...freshness,
    maintenance: list("Newest start first, at most 500.", maintenance),
  }),
);

export function maintenanceParameters(registry: Registry) {
  return {
    venue: venueFilter(registry),
    category: categoryFilter,
    state: choice(
      "all: that began in the last ninety days or is to come; ahead: under way, or planned for the next 48 hours.",
      ["all", "ahead"],
      "all",
    ),
  };
}

type MaintenanceQuery = Values<ReturnType<typeof maintenanceParameters>>;

/** `/v1/maintenance`; with an ending, as a table. */
export function maintenanceRoute(
  registry: Registry,
  snapshots: Snapshots,
  answerTable: AnswerTable,
  ending: TableFormat | null = null,
): RequestHandler {
  const read = formReader(maintenanceParameters(registry), ending);
  return async (request, response) => {
    const { format, decimal, ...query } = read(queryOf(request));
    const values = valuesOf(query);
    if (format === "json") return answerJson(response, (await snapshots("maintenance", values, values))!);
    const name = `${query.venue ?? query.category ?? "all"}-maintenance${query.state === "ahead" ? "-ahead" : ""}`;
    await answerTable(
      response,
      { format, decimal },
      { file: "maintenance_csv", values, schema: maintenanceTable, name },
    );
  };
}

function valuesOf({ venue, category, state }: MaintenanceQuery) {
  return [venue, category, state === "ahead"];
}

/** `/v1/maintenance` as a table. */
export const maintenanceTable: TableSchema = {
  sheet: "maintenance",
  rows: "One row per maintenance, newest start first",
  columns: {
    generatedAt: freshness.generatedAt,
    ...propertiesOf(maintenanceItem, Object.keys(maintenanceItem.properties!)),
  },
};
