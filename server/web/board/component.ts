import { type Fault, faults } from "../../../shared/measurement/sample.js";
import { integer, named, oneOf, orNull, type Schema, shownAs, text } from "../api/shapes.js";

/** The examples describe one incident, which is open at their `generatedAt`. */
export const startedAt = "2026-01-31T11:41:06.000Z";

export const openedAt = "2026-01-31T11:41:20.000Z";

export const component = text("rest:<name> or ws:<name>; ws:conn is the socket shared by the streams.", "rest:ticker");

export const kind = oneOf(["rest", "ws"], "Kind of the component.");

export const componentLabel = text("Its name for people.", "Ticker");

export const target = text(
  "The measured address if it is in the catalogue; of an operator's own only the origin.",
  "https://api.kraken.com/0/public/Ticker?pair=XBTUSD",
);

export const fault = named(
  "Fault",
  shownAs(
    oneOf(
      faults,
      "Why a sample is bad. blocked: 403, 451 and similar, the venue refuses our region; limited: 429, 418, 402, or an answer in these words, the venue limits our requests, which is no outage; halted: the venue itself says that it does not trade; stall: a silent stream on a live socket; stale: data whose own time stands still or is far behind.",
    ),
    "timeout",
  ),
);

/** Of a component that is degraded or down. */
export const presentFault: Schema<Fault | null> = {
  ...orNull(fault),
  description:
    "What it mostly is while it is degraded or in outage: what most regions that see it so saw last, or else the fault of its open incident. With `limited` the venue limits our requests, and is not down. Null if it is neither, and if there is no such fault.",
};

export const agreeing = integer("Number of the counted regions that see this state, or for `degraded` an outage.", 2);

export const counted = integer(
  "Number of regions whose votes count now: of those that report it, without impaired and refused ones and outliers.",
  2,
);

export const stallBasisShape = oneOf(
  ["measured", "documented", "probed", "estimate"],
  "The basis of the threshold: measured silences, or the stream's usual rate, which the venue documents (documented), which was counted by hand (probed), or which is only estimated (estimate).",
);
