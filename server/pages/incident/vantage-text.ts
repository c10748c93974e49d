import { isolated } from "../board/headline.js";
import { incidentPageWords } from "../words.js";
import type { DecisionVotes } from "./incident-detail.js";

/** Where a region measured from, as its operator named it. */
export function vantageText({ name, place, network }: DecisionVotes["votes"][number]["vantage"]): string {
  const known = [name, place, network].filter((part) => part !== null);
  return known.length === 0 ? incidentPageWords.vantageUnknown : known.map(isolated).join(", ");
}
