import { isolated } from "../board/headline.js";
import { durationText, sinceMs } from "../format.js";
import { Elapsed, Instant } from "../parts/instant.js";
import { boardWords, incidentPageWords } from "../words.js";
import type { IncidentDetail } from "./incident-detail.js";

/** `OKX: Ticker was down for 18 minutes.`, or `OKX: Ticker has been failing since 22:42 UTC (4 minutes), …` */
export function IncidentSentence({ detail }: { detail: IncidentDetail }) {
  const { incident, generatedAt: now } = detail;
  const { startedAt, lastBadAt, durationSeconds, regions, reporting } = incident;
  const subject = subjectOf(detail);
  const kind = kindOf(detail);
  if (durationSeconds !== null)
    return (
      <>
        {subject} {incidentPageWords.was(kind, durationText(durationSeconds * 1000))}.
      </>
    );
  if (isQuiet(detail))
    return (
      <>
        {subject} {incidentPageWords.beganTo[kind]} <Instant at={startedAt} now={now} />. {incidentPageWords.quietFor}{" "}
        <Elapsed from={lastBadAt} now={now} />; {incidentPageWords.stillOpen}.
      </>
    );
  return (
    <>
      {subject} {incidentPageWords.since[kind]} <Instant at={startedAt} now={now} /> (
      <Elapsed from={startedAt} now={now} />)
      {regions.length > 0 && `, ${boardWords.inRegions(regions.length, reporting)}`}.
    </>
  );
}

/** The same for the browser's tab. */
export function titleOf(detail: IncidentDetail): string {
  const { generatedAt: now } = detail;
  const { startedAt, durationSeconds } = detail.incident;
  const kind = kindOf(detail);
  const words =
    durationSeconds !== null
      ? incidentPageWords.was(kind, durationText(durationSeconds * 1000))
      : isQuiet(detail)
        ? incidentPageWords.quiet
        : incidentPageWords.lasting(kind, durationText(sinceMs(startedAt, now)));
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

/** What was an outage for a part of its time only was failing, and not down for all of it. */
function kindOf({ incident: { status, peakSeverity, escalatedAt } }: IncidentDetail): "down" | "failing" | "degraded" {
  if (peakSeverity === "degraded") return "degraded";
  return status === "closed" && escalatedAt === null ? "down" : "failing";
}
