/** The result of `sql/queries/statuspage.sql`: a page of one venue or of all, in our own words. */
import { incident } from "../api/schemas/incident.js";
import { officialIncident } from "../api/schemas/official.js";
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
} from "../api/schemas/shapes.js";

const listed = object("An incident.", { component: text("Its id.", "kraken:rest:ticker"), venueName, incident });

export const statuspageData = object("A page.", {
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

export type StatuspageData = TypeOf<typeof statuspageData>;
export type ListedIncident = StatuspageData["incidents"][number];
export type ListedMaintenance = StatuspageData["maintenances"][number];

/** Where a page and what it links to are. */
export interface PageAddress {
  /** Of the service, without a slash at the end. */
  baseUrl: string;
  /** Null: all venues. */
  venue: string | null;
}
