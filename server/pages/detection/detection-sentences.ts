/** The comparison of all venues in sentences, the answer first. */
import type { detectionResponse } from "../../api/schemas/detection.js";
import type { TypeOf } from "../../api/schemas/shapes.js";
import { windowWords } from "../words.js";

export type DetectionData = TypeOf<typeof detectionResponse>;

export interface DetectionSentences {
  lead: string;
  /** What the counts are. */
  counts: string[];
  /** What they cover. */
  coverage: string[];
}

export function detectionSentences({ fleet, venues, days }: DetectionData): DetectionSentences {
  if (venues.length === 0) return { lead: "No venue is measured yet.", counts: [], coverage: [] };
  const during = windowWords.during(days);
  const { venuesCompared, oursCompared, maintenances, others } = fleet;
  const coverage = [comparedText(venuesCompared, venues.length)];
  if (maintenances !== null && others !== null)
    coverage.push(
      `${maintenances} ${maintenances === 1 ? "notice" : "notices"} of maintenance and ${others} about what we do not measure are not compared.`,
    );
  if (venuesCompared === 0)
    return {
      lead: `Nothing could be compared ${during}: we did not measure any venue while we could read what it says.`,
      counts: [],
      coverage,
    };
  return {
    lead:
      oursCompared! > 0
        ? ofOurs(fleet, during)
        : `No incident of ours ${during} can be compared with the notices of its venue.`,
    counts: countsOf(fleet),
    coverage,
  };
}

function countsOf(fleet: DetectionData["fleet"]): string[] {
  const counts = [fleet.theirsCompared! > 0 ? ofTheirs(fleet) : "No notice of the venues can be compared."];
  if (fleet.paired! > 0) counts.push(pairsText(fleet.paired!));
  return counts;
}

function ofOurs({ oursCompared, paired, oursNear }: DetectionData["fleet"], during: string): string {
  return oursText(oursCompared!, during, paired! + oursNear!);
}

function ofTheirs({ theirsCompared, paired, theirsNear, theirsOnly }: DetectionData["fleet"]): string {
  return theirsText(theirsCompared!, paired! + theirsNear!, theirsOnly!);
}

function oursText(of: number, during: string, within: number): string {
  const has = within === 1 || of === 1 ? "has" : "have";
  const which = of === 1 ? "The only incident" : `Of ${of} incidents`;
  const many = of === 1 ? "" : `, ${within === of ? "all" : within === 0 ? "none" : within}`;
  const notice = of === 1 && within === 0 ? "no notice" : "a notice";
  return `${which} of ours ${during} that can be compared${many} ${has} ${notice} of the venue within six hours.`;
}

function theirsText(of: number, within: number, only: number): string {
  return `${of} ${of === 1 ? "notice" : "notices"} of the venues can be compared: ${within} with an incident of ours within six hours, and ${only} without any.`;
}

function pairsText(pairs: number): string {
  return `${pairs === 1 ? "There is 1 pair" : `There are ${pairs} pairs`} of an incident and a notice that are the nearest to each other.`;
}

function comparedText(compared: number, of: number): string {
  return `${compared} of ${of} venues ${compared === 1 ? "is" : "are"} compared. An incident counts only if we know what the venue's feed said from six hours before it to six hours after it. A notice without a pair counts only if it began more than six hours ago and we measured the venue then.`;
}
