/** The format of Atlassian Statuspage, version 2, as its clients read it. Its field names are not ours. */
import { jsonType, type Operation, perTick } from "../api/operation.js";
import {
  flag,
  instant,
  integer,
  list,
  named,
  object,
  oneOf,
  orNull,
  type Schema,
  shownAs,
  slug,
  text,
  type TypeOf,
} from "../api/shapes.js";

const openedAt = "2026-01-31T11:41:20.000Z";
const pageId = text("`venuewatch` for all venues, or the id of the venue.", "kraken");
const componentId = text(
  "On the page of all venues the id of a venue; on that of one venue `{venue}:{component}`.",
  "kraken:rest:ticker",
);
/** What the format has and we do not, with the type that it has there. */
const alwaysNull = shownAs(orNull(text("Always null.", "")), null);
const neverInstant = shownAs(orNull(instant("Always null.")), null);

const pageHead = named(
  "StatuspagePage",
  object("The page.", {
    id: pageId,
    name: text("Name of the venue, or of this service.", "Kraken"),
    url: text("Its page for people.", "https://status.example.org/venues/kraken"),
    time_zone: text("Always Etc/UTC.", "Etc/UTC"),
    updated_at: instant("The instant that this body shows, like `generatedAt` of other bodies."),
  }),
);

/** What clients take for trouble: everything but none. */
const pageIndicator = orNull(
  oneOf(
    ["none", "minor", "critical"],
    "none: operational; minor: degraded; critical: outage; null: unknown, for which the format has no word, also while nothing is decided for half a minute or longer.",
  ),
);

const statusObject = named(
  "StatuspageStatus",
  object("All components together.", {
    indicator: shownAs(pageIndicator, "minor"),
    description: text(
      "The same in words. Says how many components are not listed because their state is unknown, and for how long nothing was decided.",
      "Partially Degraded Service",
    ),
  }),
);

const pageComponent = named(
  "StatuspageComponent",
  object("A component whose state is known. Those of unknown state are left out.", {
    id: componentId,
    name: text(
      "Name of the venue, or of the component with its id. The registry's text: escape it.",
      "Ticker (rest:ticker)",
    ),
    status: shownAs(
      oneOf(
        ["operational", "degraded_performance", "major_outage"],
        "degraded_performance: degraded; major_outage: outage.",
      ),
      "degraded_performance",
    ),
    created_at: instant("Since when it has been watched.", "2025-11-02T09:00:00.000Z"),
    updated_at: instant("Since when it has been in this state.", openedAt),
    position: integer("Its place in the list, from 1.", 1, 1),
    description: alwaysNull,
    showcase: flag("Always false.", false),
    group_id: alwaysNull,
    page_id: pageId,
    group: flag("Always false.", false),
    only_show_if_degraded: flag("Always false.", false),
  }),
);

function updateOf<Words extends string>(status: Schema<Words>) {
  return object("One update, by this service and not by people.", {
    id: text("Unique and permanent.", "kraken-2026-01-31-rest-degraded-opened"),
    incident_id: slug,
    status,
    body: text("What happened.", "2 of 3 regions with a vote saw Ticker (rest:ticker) fail: degraded."),
    created_at: instant("When.", openedAt),
    updated_at: instant("The same: an update is never edited.", openedAt),
    display_at: instant("The same.", openedAt),
  });
}

const affectedComponents = list("The component that it affects; empty while its state is unknown.", pageComponent);

const incidentStatus = oneOf(
  ["investigating", "resolved"],
  "investigating while it is open, resolved once it has closed. Nothing else is known of what a venue does about it.",
);

const pageIncident = named(
  "StatuspageIncident",
  object("An incident of this service.", {
    id: shownAs(slug, "kraken-2026-01-31-rest-degraded"),
    name: text("Venue, component, and how bad it is.", "Kraken: Ticker (rest:ticker) degraded"),
    status: incidentStatus,
    impact: oneOf(["minor", "critical"], "minor: degraded; critical: outage. Of a closed incident, the worst."),
    created_at: instant("When it opened: a quorum had confirmed it.", openedAt),
    updated_at: instant("When it last opened, escalated or closed.", openedAt),
    started_at: instant("The first bad sample of the run that was confirmed.", "2026-01-31T11:41:06.000Z"),
    monitoring_at: neverInstant,
    resolved_at: shownAs(
      orNull(
        instant(
          "When it closed; null while it is open. The trouble ended before that, at the time given in the last update.",
        ),
      ),
      null,
    ),
    shortlink: text("Its page.", "https://status.example.org/incidents/kraken-2026-01-31-rest-degraded"),
    page_id: pageId,
    incident_updates: list(
      "Opened, escalated, closed; newest first.",
      named("StatuspageUpdate", updateOf(incidentStatus)),
    ),
    components: affectedComponents,
  }),
);

const maintenanceStatus = oneOf(
  ["scheduled", "in_progress", "completed"],
  "By its time, and by whether the venue has ended it.",
);

const pageMaintenance = named(
  "StatuspageMaintenance",
  object(
    "Maintenance that a venue announced on its own status page. Its texts and times are the venue's: escape them.",
    {
      id: text("Unique and permanent.", "kraken-maintenance-17"),
      name: text("Title of the venue's notice.", "Kraken: Upgrade of the matching engine"),
      status: maintenanceStatus,
      impact: oneOf(["maintenance"], "Always maintenance."),
      created_at: instant("When the venue published it; if that is not known, when we first saw it."),
      updated_at: instant("When it ended, if it has; else its created_at."),
      monitoring_at: neverInstant,
      resolved_at: shownAs(orNull(instant("When it was over, according to the venue.")), null),
      scheduled_for: instant("When it begins, according to the venue.", "2026-02-01T06:00:00.000Z"),
      scheduled_until: shownAs(
        orNull(instant("When it will be over, as the venue planned it; null if it gives no end.")),
        null,
      ),
      shortlink: orNull(text("The venue's notice.", "https://stspg.io/x1b2c3")),
      page_id: pageId,
      incident_updates: list(
        "One: that the venue announced it.",
        named("StatuspageMaintenanceUpdate", updateOf(maintenanceStatus)),
      ),
      components: {
        ...affectedComponents,
        description: "The venue; on the page of one venue, and while its state is unknown, empty.",
      },
    },
  ),
);

const newestIncidents = {
  ...list("The fifty newest.", pageIncident),
  maxItems: 50,
};
const unresolvedIncidents = list("All open ones, newest first.", pageIncident);
const announcedMaintenances = {
  ...list("The newest that were announced for the last ninety days and later.", pageMaintenance),
  maxItems: 50,
};

/** Each document by its name, which is its path below `api/v2/`, without `.json`. */
export const statuspageDocuments = {
  status: named("StatuspageStatusBody", object("The state in short.", { page: pageHead, status: statusObject })),
  summary: named(
    "StatuspageSummaryBody",
    object("Everything at present.", {
      page: pageHead,
      components: list("In the registry's order.", pageComponent),
      incidents: unresolvedIncidents,
      scheduled_maintenances: {
        ...list("Those that are scheduled or in progress.", pageMaintenance),
        maxItems: 50,
      },
      status: statusObject,
    }),
  ),
  components: named(
    "StatuspageComponentsBody",
    object("The components.", { page: pageHead, components: list("In the registry's order.", pageComponent) }),
  ),
  incidents: named(
    "StatuspageIncidentsBody",
    object("The newest incidents.", { page: pageHead, incidents: newestIncidents }),
  ),
  "incidents/unresolved": named(
    "StatuspageUnresolvedBody",
    object("The open incidents.", { page: pageHead, incidents: unresolvedIncidents }),
  ),
  "scheduled-maintenances": named(
    "StatuspageMaintenancesBody",
    object("Announced maintenance.", { page: pageHead, scheduled_maintenances: announcedMaintenances }),
  ),
};

export type StatuspageDocument = keyof typeof statuspageDocuments;
export type StatuspagePage = TypeOf<typeof pageHead>;
export type StatuspageStatus = TypeOf<typeof statusObject>;
export type StatuspageComponent = TypeOf<typeof pageComponent>;
export type StatuspageIncident = TypeOf<typeof pageIncident>;
export type StatuspageMaintenance = TypeOf<typeof pageMaintenance>;

const documentSummaries: Record<StatuspageDocument, string> = {
  status: "the state in short",
  summary: "everything at present",
  components: "the components",
  incidents: "the newest incidents",
  "incidents/unresolved": "the open incidents",
  "scheduled-maintenances": "announced maintenance",
};

const formatExplained =
  "As Statuspage publishes it, so that its clients read it unchanged; the field names are not ours, and `page.updated_at` is the instant. While nothing changes, a page may be up to half a minute old. The format has no word for unknown, and clients take everything that is not operational for trouble. So components of unknown state are left out, and `status.description` says how many; if nothing is known, `status.indicator` is null.";

/** The documents in the format of Statuspage, of all venues and of one. */
export function statuspageOperations(venue: Schema<string>): Operation[] {
  const names = Object.keys(statuspageDocuments) as StatuspageDocument[];
  return names.flatMap((name): Operation[] => {
    const id = name.replace(/(?:^|[/-])(\w)/g, (_, letter: string) => letter.toUpperCase());
    const answers = { [jsonType]: statuspageDocuments[name] };
    return [
      {
        id: `getStatuspage${id}`,
        path: `/statuspage/api/v2/${name}.json`,
        group: "formats",
        summary: `All venues in the format of Statuspage: ${documentSummaries[name]}`,
        description: `Each venue is a component. ${formatExplained} \`/api/v2/${name}.json\` redirects here.`,
        answers,
        ...perTick,
      },
      {
        id: `getVenueStatuspage${id}`,
        path: `/statuspage/{venue}/api/v2/${name}.json`,
        group: "formats",
        summary: `One venue in the format of Statuspage: ${documentSummaries[name]}`,
        description: `The components are the venue's own. ${formatExplained}`,
        names: { venue },
        answers,
        ...perTick,
      },
    ];
  });
}
