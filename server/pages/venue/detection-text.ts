/** How our incidents compare with the venue's notices, in sentences. */
import { durationText } from "../format.js";
import { detectionSentenceWords as words } from "../words.js";
import type { VenueDetail } from "./venue-view.js";

type Compared = VenueDetail["detection"];

export function comparedSentences(detection: Compared): string[] {
  const { paired, oursCompared, oursNear, oursOnly, theirsCompared, theirsNear, theirsOnly } = detection;
  if (detection.venuesCompared === 0) return [whyNot(detection)];
  const sentences = [
    words.days(detection.measuredDays, detection.days),
    words.ours(oursCompared!, paired!, oursNear!, oursOnly!),
    words.theirs(theirsCompared!, paired!, theirsNear!, theirsOnly!),
  ];
  const lead = detection.aheadUncorrelated;
  if (lead !== null) sentences.push(words.lead(durationText(Math.abs(lead) * 1_000), lead >= 0));
  if (paired! > 0) sentences.push(words.untested);
  return sentences;
}

function whyNot({ venuesWithoutFeed, venuesOnlyMaintenance }: Compared): string {
  if (venuesWithoutFeed > 0) return words.noFeed;
  return venuesOnlyMaintenance > 0 ? words.onlyMaintenance : words.unseen;
}
