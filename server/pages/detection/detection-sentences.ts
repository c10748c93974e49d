/** The comparison of all venues in sentences, the answer first. */
import type { detectionResponse } from "../../api/schemas/detection.js";
import type { TypeOf } from "../../api/schemas/shapes.js";
import { detectionWords, windowWords } from "../words.js";

export type DetectionData = TypeOf<typeof detectionResponse>;

export interface DetectionSentences {
  lead: string;
  /** What the counts are. */
  counts: string[];
  /** What they cover. */
  coverage: string[];
}

export function detectionSentences({ fleet, venues, days }: DetectionData): DetectionSentences {
  if (venues.length === 0) return { lead: detectionWords.noVenues, counts: [], coverage: [] };
  const during = windowWords.during(days);
  const { venuesCompared, oursCompared, maintenances, others } = fleet;
  const coverage = [detectionWords.compared(venuesCompared, venues.length)];
  if (maintenances !== null && others !== null) coverage.push(detectionWords.others(maintenances, others));
  if (venuesCompared === 0) return { lead: detectionWords.nothingCompared(during), counts: [], coverage };
  return {
    lead: oursCompared! > 0 ? ofOurs(fleet, during) : detectionWords.noOurs(during),
    counts: countsOf(fleet),
    coverage,
  };
}

function countsOf(fleet: DetectionData["fleet"]): string[] {
  const counts = [fleet.theirsCompared! > 0 ? ofTheirs(fleet) : detectionWords.noTheirs];
  if (fleet.paired! > 0) counts.push(detectionWords.pairs(fleet.paired!));
  return counts;
}

function ofOurs({ oursCompared, paired, oursNear }: DetectionData["fleet"], during: string): string {
  return detectionWords.ours(oursCompared!, during, paired! + oursNear!);
}

function ofTheirs({ theirsCompared, paired, theirsNear, theirsOnly }: DetectionData["fleet"]): string {
  return detectionWords.theirs(theirsCompared!, paired! + theirsNear!, theirsOnly!);
}
