/** What one region by itself sees of a venue, as `sql/views/028-region-views.sql` says it. */
import { component, presentFault } from "./incident.js";
import {
  instant,
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
  state,
  text,
  type TypeOf,
} from "./shapes.js";

/** A separate constant: as an argument, its words would be inferred as `string`. */
const reasons = oneOf(
  ["never", "ended", "blocked", "impaired", "silent", "unmeasured"],
  "never, ended, blocked: as in UnknownBecause. Of one region alone: impaired: its own network is in trouble. silent: no measurement has come from it of late. unmeasured: none is known.",
);

const unseen = object("Why a state is unknown, by quorum or to one region.", {
  reason: reasons,
  detail: text("The same in words.", "no measurement has come from us-east since 2026-01-31T11:40:05.000Z"),
});

/** The same as `unknownBecause` of other bodies, where the view may be that of one region. */
export const unseenBecause: Schema<TypeOf<typeof unseen> | null> = shownAs(
  {
    ...orNull(named("UnseenBecause", unseen)),
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

const dissent = object("A component that this region sees otherwise than all regions together.", {
  component,
  state: seenState,
  since: seenSince,
  fault: { ...presentFault, description: "Fault of the newest measurement there; null if it was good, or slow." },
});

const dissents = list(
  "The components that it sees otherwise than all regions together.",
  named("RegionDissent", dissent),
);

export const regionView = named(
  "RegionView",
  object("The venue as one region alone sees it. While the region is impaired, it is unknown.", {
    region: regionId,
    name: regionName,
    state: seenState,
    since: seenSince,
    unknownBecause: unseenBecause,
    dissent: dissents,
  }),
);

export type RegionView = TypeOf<typeof regionView>;

const quorum = object("The state.", { state, since });

/** Beside the view of one region, what all of them together decide. */
export const byQuorum: Schema<TypeOf<typeof quorum> | null> = shownAs(
  {
    ...orNull(quorum),
    description: "The venue by quorum over all regions; null where `state` is that itself, because no region is given.",
  },
  null,
);
