import { isolated } from "../parts/isolated.js";
import { durationText, sinceMs } from "../format.js";
import { Elapsed, Instant } from "../parts/instant.js";
import { boardWords, incidentPageWords } from "../words.js";
import type { IncidentDetail } from "./incident-detail.js";

/** `OKX: Ticker was down for 18 minutes.`, or `OKX: Ticker has been failing since 22:42 UTC (4 minutes), …` */
export function IncidentSentence({ detail }: { detail: IncidentDetail }) {
  const { incident, generatedAt: now } = detail;
  const { startedAt, lastBadAt, durationSeconds, regions, counted, fault } = incident;
  const subject = subjectOf(detail);
  const kind = kindOf(detail);
  if (durationSeconds !== null)
    return (
      <>
        {subject} {incidentPageWords.was(pastKindOf(detail), fault, durationText(durationSeconds * 1000))}.
      </>
    );
  if (isQuiet(detail))
    return (
      <>
        {subject} {incidentPageWords.beganTo(kind, fault)} <Instant at={startedAt} now={now} />.{" "}
        {incidentPageWords.quietFor} <Elapsed from={lastBadAt} now={now} />; {incidentPageWords.stillOpen}.
      </>
    );
  return (
    <>
      {subject} {incidentPageWords.since(kind, fault)} <Instant at={startedAt} now={now} /> (
      <Elapsed from={startedAt} now={now} />){regions.length > 0 && `, ${boardWords.seenBy(regions.length, counted)}`}.
    </>
  );
}

/** The same for the browser's tab. */
export function titleOf(detail: IncidentDetail): string {
  const { generatedAt: now } = detail;
  const { startedAt, lastBadAt, durationSeconds, fault } = detail.incident;
  const kind = kindOf(detail);
  const words =
    durationSeconds !== null
      ? incidentPageWords.was(pastKindOf(detail), fault, durationText(durationSeconds * 1000))
      : isQuiet(detail)
        ? incidentPageWords.quiet(durationText(sinceMs(lastBadAt, now)))
        : incidentPageWords.lasting(kind, fault, durationText(sinceMs(startedAt, now)));
  return `${subjectOf(detail)} ${words}`;
}

/** Longer than the pause between two bad samples of the slowest cadence. */
const quietAfterMs = 120_000;

/** Open only since its hold is not over, or because nobody sees how it ended. */
function isQuiet({ incident, generatedAt }: IncidentDetail): boolean {
  return incident.status === "open" && sinceMs(incident.lastBadAt, generatedAt) >= quietAfterMs;
}

function subjectOf({ venue, incident }: IncidentDetail): string {
  return `${isolated(venue.name)}: ${isolated(incident.label)}`;
}

function kindOf({ incident: { peakSeverity } }: IncidentDetail): "failing" | "degraded" {
  return peakSeverity === "degraded" ? "degraded" : "failing";
}

/** What was an outage for a part of its time only was failing, and not down for all of it. */
function pastKindOf(detail: IncidentDetail): "down" | "failing" | "degraded" {
  return detail.incident.escalatedAt === null && kindOf(detail) === "failing" ? "down" : kindOf(detail);
}
