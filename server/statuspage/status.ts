import type { StatuspageStatus } from "../api/schemas/statuspage.js";
import { ageText } from "../pages/data-age.js";
import type { StatuspageData } from "./statuspage-data.js";

const indicators = { operational: "none", degraded: "minor", outage: "critical", unknown: null } as const;

/** Statuspage's own words, which some clients compare with. */
const descriptions = {
  operational: "All Systems Operational",
  degraded: "Partially Degraded Service",
  outage: "Major Service Outage",
};

/** The overall state of a page, how much of it is unknown, and for how long, if the engine is silent. */
export function statusOf(page: StatuspageData): StatuspageStatus {
  const { state, name, stale, components } = page;
  const description = descriptionOf(state, name === null, components);
  const age = ageText(page);
  if (!stale || age === null) return { indicator: indicators[state], description };
  const before = state === "unknown" ? "" : ` Before that: ${description}`;
  return { indicator: null, description: `Unknown: nothing was decided for the last ${age}.${before}` };
}

function descriptionOf(
  state: StatuspageData["state"],
  isOfVenues: boolean,
  components: StatuspageData["components"],
): string {
  const unknown = components.filter((component) => component.state === "unknown").length;
  const [one, many] = isOfVenues ? ["venue", "venues"] : ["component", "components"];
  const of = `of ${components.length} ${components.length === 1 ? one : many}`;
  if (state === "unknown") return `Unknown: no state ${of} is known at present, so none is listed`;
  if (unknown === 0) return descriptions[state];
  const left = `the state of ${unknown} is unknown, so ${unknown === 1 ? "it is" : "they are"} not listed`;
  if (state === "operational") return `${components.length - unknown} ${of} operational; ${left}`;
  return `${descriptions[state]}; ${of.replace(/^of/, "of the")}, ${left}`;
}
