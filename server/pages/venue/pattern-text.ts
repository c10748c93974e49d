/** When a component's incidents recur, in a sentence. All hours are in UTC. */
import { durationText } from "../format.js";
import { stateWords } from "../words.js";
import type { VenueDetail } from "./venue-view.js";

const weekdayNames = {
  monday: "Mondays",
  tuesday: "Tuesdays",
  wednesday: "Wednesdays",
  thursday: "Thursdays",
  friday: "Fridays",
  saturday: "Saturdays",
  sunday: "Sundays",
};

type Pattern = VenueDetail["incidentPatterns"][number];

/** @param label of the component, isolated */
export function patternText({ severity, count, totalSeconds, recurring }: Pattern, label: string): string {
  const head = `${label} ${stateWords[severity].toLowerCase()}`;
  const times = recurring.map((time) => recursText(time.incidents, count, whenText(time), time.days));
  const sum = `In ninety days ${count} ${count === 1 ? "incident" : "incidents"} lasted ${durationText(totalSeconds * 1_000)} together.`;
  return times.length > 0 ? `${head}: ${times.join("; ")}. ${sum}` : `${head}: no day or hour stands out. ${sum}`;
}

/** `on Saturdays between 11:00 and 12:00 UTC` */
function whenText({ weekday, hour }: Pattern["recurring"][number]): string {
  const parts: string[] = [];
  if (weekday !== null) parts.push(`on ${weekdayNames[weekday]}`);
  if (hour !== null) parts.push(`between ${clockText(hour)} and ${clockText((hour + 1) % 24)}`);
  return parts.join(" ");
}

function clockText(hour: number): string {
  return `${String(hour).padStart(2, "0")}:00`;
}

function recursText(incidents: number, count: number, when: string, days: number): string {
  return `${incidents} of ${count} incidents began ${when}${when.endsWith("0") ? " UTC" : " (UTC)"}, on ${days} ${days === 1 ? "day" : "days"}`;
}
