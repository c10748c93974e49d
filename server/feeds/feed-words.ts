/** Texts of the feeds and of the calendar. */
import type { Fault } from "../../shared/measurement/sample.js";
import { faultVerbs } from "../pages/words.js";
export { language, siteWords } from "../pages/words.js";

export const feedWords = {
  title: (venue: string | null) =>
    venue === null ? "venuewatch: incidents of all venues" : `venuewatch: incidents of ${venue}`,
  about: (venue: string | null) =>
    `When ${venue ?? "a venue"} fails, is degraded or limits our requests, as a quorum of our regions measures it. An incident is one entry, which is updated when it escalates, closes or is retracted.`,
  retracted: (subject: string) => `Retracted: ${subject}`,
  now: (severity: "outage" | "degraded", fault: Fault | null) =>
    (fault !== null && faultVerbs[fault]?.does) || { outage: "is failing", degraded: "is degraded" }[severity],
  began: (at: string) => `Trouble began at ${at}.`,
  agreed: (count: number, counted: number, regions: string, at: string) =>
    `${count} of ${counted} ${counted === 1 ? "region" : "regions"} with a vote agreed at ${at}: ${regions}.`,
  opened: (at: string) => `We opened the incident at ${at}. No votes are on record.`,
  escalated: (at: string) => `It became an outage at ${at}.`,
  closed: (ended: string, at: string) =>
    `Enough regions saw the trouble for the last time at ${ended}. We closed the incident at ${at}.`,
  withdrawn: (at: string) => `We retracted this incident at ${at}: we no longer claim that it happened.`,
  reason: (reason: string) => `The reason: ${reason}`,
  evidence: "The page of the incident has the votes of the regions and the failed samples.",
};

export const calendarWords = {
  title: (venue: string | null) =>
    venue === null ? "Announced maintenance of all venues" : `Announced maintenance of ${venue}`,
  about: (venue: string | null) =>
    `Maintenance that ${venue === null ? "venues announce" : `${venue} announces`} in their own status feeds. We do not measure it, and a venue may do maintenance without announcing it.`,
  noSource: (venue: string) =>
    `${venue} has no status feed that we can read. That this calendar is empty does not mean that no maintenance is planned.`,
  summary: (venue: string, title: string) => `${venue}: ${title}`,
  announced: (venue: string, status: string) => `Announced by ${venue}. Its status in the venue's words: ${status}.`,
  noStart: "The venue gives no start: this is when we first saw the notice.",
  planned: "The end is the venue's plan.",
  noEnd: "The venue gives no end.",
  cancelled: "The venue has cancelled it, or removed the notice before it began.",
};
