import { component, presentFault } from "./incident.js";
import {
  category,
  freshness,
  integer,
  list,
  named,
  object,
  orNull,
  shownAs,
  since,
  slug,
  state,
  venueId,
  venueName,
} from "./shapes.js";
import { byQuorum, regionView, unseenBecause } from "./region-view.js";

const componentVerdict = object("One component, by quorum over all regions, or as `region` sees it.", {
  component,
  state,
  since,
  fault: presentFault,
  unknownBecause: unseenBecause,
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
  object("The state of one venue, by quorum over all regions, or as `region` sees it.", {
    ...freshness,
    id: venueId,
    name: venueName,
    category,
    state,
    since,
    activeIncidents: integer("Open incidents.", 1),
    components: list("The components, in the registry's order.", named("ComponentVerdict", componentVerdict)),
    byQuorum,
    region: shownAs(
      {
        ...orNull(regionView),
        description: "The region whose view `state`, `since` and the components' are; null: they are by quorum.",
      },
      null,
    ),
    regions: list(
      "The regions that see the venue or one of its components otherwise than all together, or cannot tell. Empty if all agree.",
      regionView,
    ),
  }),
);
