/** The state of one venue, by quorum over all regions, or as one region alone sees it. */
import type { RequestHandler } from "express";
import type { Registry } from "../../../shared/registry/registry.js";
import { answerJson } from "../api/answer.js";
import { parameterReader, viewOf } from "../api/parameters.js";
import { queryOf } from "../api/request.js";
import {
  category,
  freshness,
  instant,
  integer,
  list,
  named,
  object,
  oneOf,
  orNull,
  regionId,
  regionName,
  type Schema,
  shownAs,
  since,
  slug,
  state,
  text,
  type TypeOf,
  venueId,
  venueName,
} from "../api/shapes.js";
import { noSuchVenue, noSuchView, venueFinder } from "../api/venue-ids.js";
import { agreeing, component, counted, presentFault } from "./component.js";
import { maintenanceNow } from "./maintenance.js";
import { type Boards } from "./snapshot.js";

/** `/v1/targets/{venue}/state`, and the same bytes below `/v1/exchanges`: for programs that ask often. */
export function venueStateRoute(registry: Registry, boards: Boards): RequestHandler<{ venue: string }> {
  const read = parameterReader(venueStateParameters(registry));
  const venueOf = venueFinder(registry);
  return async (request, response) => {
    const venue = venueOf(request.params.venue);
    const { region } = read(queryOf(request));
    const snapshot = await boards.state(venue, region);
    if (!snapshot) throw region === null ? noSuchVenue(venue) : noSuchView(venue, region);
    await answerJson(response, snapshot);
  };
}

export function venueStateParameters(registry: Registry) {
  return {
    region: viewOf(
      registry,
      "As this region alone sees it: `state`, `since`, and those of the components. Absent: by quorum over all regions.",
    ),
  };
}

/** A separate constant: as an argument, its words would be inferred as `string`. */
const unseenReasons = oneOf(
  ["never", "ended", "blocked", "impaired", "silent", "unmeasured"],
  "never, ended, blocked: as in UnknownBecause. Of one region alone: impaired: its own network is in trouble. silent: no measurement has come from it of late. unmeasured: none is known.",
);

const unseenReason = object("Why a state is unknown, by quorum or to one region.", {
  reason: unseenReasons,
  detail: text("The same in words.", "no measurement has come from us-east since 2026-01-31T11:40:05.000Z"),
});

/** The same as `unknownBecause` of other bodies, where the view may be that of one region. */
const unseenBecause: Schema<TypeOf<typeof unseenReason> | null> = shownAs(
  {
    ...orNull(named("UnseenBecause", unseenReason)),
    description:
      "Why it is unknown. Null if it is not, or for want of measurements or of a decision: `stale` says whether the engine decides.",
  },
  null,
);

const seenState: Schema<TypeOf<typeof state>> = {
  ...state,
  description: "What this region alone sees; no decision depends on it.",
};

const seenSince = instant("The tick since which this region sees it so.", "2026-01-31T11:41:20.000Z");

const regionDissent = object("A component that this region sees otherwise than all regions together.", {
  component,
  state: seenState,
  since: seenSince,
  fault: { ...presentFault, description: "Fault of the newest measurement there; null if it was good, or slow." },
});

const regionDissents = list(
  "The components that it sees otherwise than all regions together.",
  named("RegionDissent", regionDissent),
);

export const regionView = named(
  "RegionView",
  object("The venue as one region alone sees it. While the region is impaired, it is unknown.", {
    region: regionId,
    name: regionName,
    state: seenState,
    since: seenSince,
    unknownBecause: unseenBecause,
    dissent: regionDissents,
  }),
);

export type RegionView = TypeOf<typeof regionView>;

const quorumState = object("The state.", { state, since });

/** Beside the view of one region, what all of them together decide. */
const byQuorum: Schema<TypeOf<typeof quorumState> | null> = shownAs(
  {
    ...orNull(quorumState),
    description: "The venue by quorum over all regions; null where `state` is that itself, because no region is given.",
  },
  null,
);

const componentVerdict = object("One component, by quorum over all regions, or as `region` sees it.", {
  component,
  state,
  since,
  fault: presentFault,
  unknownBecause: unseenBecause,
  agreeing,
  counted,
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
    maintenance: maintenanceNow,
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
