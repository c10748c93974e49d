/** How our incidents compare with the venue's notices, in sentences. */
import { durationText } from "../format.js";

import type { VenueDetail } from "./venue-view.js";

type Compared = VenueDetail["detection"];

export function comparedSentences(detection: Compared): string[] {
  const { paired, oursCompared, oursNear, oursOnly, theirsCompared, theirsNear, theirsOnly } = detection;
  if (detection.venuesCompared === 0) return [whyNot(detection)];
  const sentences = [
    `Compared on ${detection.measuredDays} of ${detection.days} days.`,
    oursText(oursCompared!, paired!, oursNear!, oursOnly!),
    theirsText(theirsCompared!, paired!, theirsNear!, theirsOnly!),
  ];
  const lead = detection.aheadUncorrelated;
  if (lead !== null)
    sentences.push(
      `${lead >= 0 ? "We were" : "The venue was"} first by ${durationText(Math.abs(lead) * 1_000)} (median).`,
    );
  if (paired! > 0) sentences.push("Only their times are compared: nothing tests that they are about the same fault.");
  return sentences;
}

function whyNot({ venuesWithoutFeed, venuesOnlyMaintenance }: Compared): string {
  if (venuesWithoutFeed > 0) return "We cannot compare our incidents with its notices, since it has no feed.";
  return venuesOnlyMaintenance > 0
    ? "We do not compare maintenance with our incidents."
    : "Our incidents are not compared with its notices yet: a comparison needs six hours before and after, measured and read.";
}

function oursText(all: number, paired: number, near: number, only: number): string {
  return `Of ${all} ${all === 1 ? "incident" : "incidents"} of ours, ${paired} ${paired === 1 ? "has a notice" : "have a notice each"}, ${near} ${near === 1 ? "shares" : "share"} one with another, and ${only} ${only === 1 ? "has" : "have"} none.`;
}

function theirsText(all: number, paired: number, near: number, only: number): string {
  return `Of ${all} ${all === 1 ? "notice" : "notices"} of the venue, ${paired} ${paired === 1 ? "has an incident" : "have an incident each"}, ${near} ${near === 1 ? "shares" : "share"} one with another, and ${only} ${only === 1 ? "has" : "have"} none.`;
}
