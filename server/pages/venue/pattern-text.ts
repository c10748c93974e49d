/** When a component's incidents recur, in a sentence. All hours are in UTC. */
import { durationText } from "../format.js";
import { patternWords, stateWords } from "../words.js";
import type { VenueDetail } from "./venue-view.js";

type Pattern = VenueDetail["incidentPatterns"][number];

/** @param label of the component, isolated */
export function patternText({ severity, count, totalSeconds, recurring }: Pattern, label: string): string {
  const head = patternWords.head(label, stateWords[severity].toLowerCase());
  const times = recurring.map((time) => patternWords.recurs(time.incidents, count, whenText(time), time.days));
  const sum = patternWords.sum(count, durationText(totalSeconds * 1_000));
  return times.length > 0 ? `${head}: ${times.join("; ")}. ${sum}` : `${head}: ${patternWords.none}. ${sum}`;
}

/** `on Saturdays between 11:00 and 12:00 UTC` */
function whenText({ weekday, hour }: Pattern["recurring"][number]): string {
  const parts: string[] = [];
  if (weekday !== null) parts.push(patternWords.on(patternWords.weekdays[weekday]));
  if (hour !== null) parts.push(patternWords.between(clockText(hour), clockText((hour + 1) % 24)));
  return parts.join(" ");
}

function clockText(hour: number): string {
  return `${String(hour).padStart(2, "0")}:00`;
}
