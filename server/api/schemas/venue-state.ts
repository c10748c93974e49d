import { component, presentFault } from "./incident.js";
import {
  category,
  freshness,
  integer,
  list,
  named,
  object,
  orNull,
  since,
  slug,
  state,
  unknownBecause,
  venueId,
  venueName,
} from "./shapes.js";

const componentVerdict = object("One component, by quorum over all regions.", {
  component,
  state,
  since,
  fault: presentFault,
  unknownBecause,
  agreeing: integer("Number of the counted regions that see this state, or for `degraded` an outage.", 2),
  counted: integer(
    "Number of regions whose votes count now: of those that report it, without impaired and refused ones and outliers.",
    2,
  ),
  reporting: integer("Number of regions that report it now, whether or not their votes count.", 3),
  incident: orNull({ ...slug, description: "Slug of its open incident; null if it has none." }),
});

export const venueStateResponse = named(
  "VenueStateResponse",
  object("The state of one venue.", {
    ...freshness,
    id: venueId,
    name: venueName,
    category,
    state,
    since,
    activeIncidents: integer("Open incidents.", 1),
    components: list("The components, in the registry's order.", named("ComponentVerdict", componentVerdict)),
  }),
);
