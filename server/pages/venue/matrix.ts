/** How each region sees each component of a venue: the body of `sql/queries/venue_matrix.sql`. */
import { componentLabel, component, fault, presentFault } from "../../api/schemas/incident.js";
import {
  generatedAt,
  instant,
  integer,
  list,
  object,
  oneOf,
  orNull,
  regionId,
  regionName,
  since,
  state,
  type TypeOf,
  unknownBecause,
} from "../../api/schemas/shapes.js";

const kinds = ["rest", "ws"] as const;
const reasons = ["engine", "impaired", "outlier", "refused", "never", "late"] as const;

const cell = object("One component in one region.", {
  region: regionId,
  state: { ...state, description: "As this region alone sees it." },
  notCounted: orNull(oneOf(reasons, "Why its vote is not counted; null if it is.")),
  samples: orNull(integer("Samples by which it is judged; null if the region does not report it.", 12)),
  bad: orNull(integer("Samples among them that failed.", 7)),
  slow: orNull(integer("Good samples among them that were slow.", 0)),
  newestAt: orNull(instant("Slot of the newest sample.")),
  newestFault: orNull(fault),
});

const row = object("One component.", {
  component,
  kind: oneOf(kinds, "Kind of the component."),
  label: componentLabel,
  state,
  since,
  fault: presentFault,
  unknownBecause,
  quorum: orNull(integer("Number of regions that must agree; null if nothing was decided yet.", 2)),
  cells: list("Every region, in the order of `regions`.", cell),
});

export const venueMatrix = object("The components of a venue by region.", {
  generatedAt,
  state,
  since,
  regions: list("In the registry's order.", object("One region.", { id: regionId, name: regionName })),
  components: list("In the registry's order.", row),
});

export type VenueMatrix = TypeOf<typeof venueMatrix>;
export type MatrixRow = VenueMatrix["components"][number];
export type MatrixCell = MatrixRow["cells"][number];
