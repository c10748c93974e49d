/** What a badge says. */
import type { Fault } from "../../../shared/measurement/sample.js";
import { isolated } from "../parts/isolated.js";
import { msText, percentText } from "../format.js";
import { commonFault, lookOf } from "../parts/state-rank.js";
import { type State } from "../words.js";

const embedLabels = {
  state: (name: string) => name,
  uptime: (name: string) => `${name} uptime`,
  latency: (name: string) => `${name} latency`,
};

export interface BadgeContent {
  label: string;
  message: string;
  /** `figure` has no state and so no sign; an old one looks unknown. */
  look: State | "figure";
}

/** What a badge shows of a venue, from its row on the board, or as one region sees it. */
export interface BadgeVenue {
  name: string;
  /** The region's id; absent: by quorum. */
  seenFrom?: string;
  state: State;
  components: readonly { state: State; fault: Fault | null }[];
  uptimePct90d: number | null;
  typicalMs: number | null;
}

export type Show = keyof typeof embedLabels;

/** @param age how old the state is, in words; null while it is as new as it should be */
export function badgeContent(show: Show, venue: BadgeVenue, age: string | null): BadgeContent {
  const name = isolated(shortName(venue.name));
  const label = embedLabels[show](venue.seenFrom === undefined ? name : `${name} from ${shortName(venue.seenFrom)}`);
  if (show === "state") return { label, ...stateContent(venue, age) };
  const { uptimePct90d, typicalMs } = venue;
  const figure =
    show === "uptime"
      ? uptimePct90d !== null && `${percentText(uptimePct90d)} in 90 days`
      : typicalMs !== null && msText(typicalMs);
  if (figure === false) return { label, message: "Unknown", look: "unknown" };
  return { label, message: figure, look: age === null ? "figure" : "unknown" };
}

/** An old state is a fact of the past, so it has not the look of a present one. */
function stateContent(venue: BadgeVenue, age: string | null): Omit<BadgeContent, "label"> {
  const fault = commonFault(venue.components);
  const { state, word: usual } = lookOf(venue.state, fault);
  const isBlocked = venue.seenFrom !== undefined && venue.state === "outage" && fault === "blocked";
  const word = isBlocked ? "Blocked" : usual;
  if (age === null || state === "unknown") return { message: word, look: state };
  return { message: `${word} ${age} ago`, look: "unknown" };
}

/** Three copies of a longer name, with every character escaped, would not fit into 1.5 kB. */
const mostCharacters = 28;

/** Without characters that XML does not allow or that nobody sees, and cut to what fits. */
function shortName(name: string): string {
  const characters = [...name.replace(/[^\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]|\p{Cc}|\p{Zl}|\p{Zp}/gu, "")];
  if (characters.length <= mostCharacters) return characters.join("");
  return `${characters.slice(0, mostCharacters - 1).join("")}…`;
}
