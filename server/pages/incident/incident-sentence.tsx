import { isolated } from "../parts/isolated.js";
import { durationText, sinceMs } from "../format.js";
import { Elapsed, Instant } from "../parts/instant.js";
import { boardWords, incidentPageWords, verbOf } from "../words.js";
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
        {subject} {`${verbOf(fault)?.began ?? { failing: "began to fail", degraded: "became degraded" }[kind]} at`}{" "}
        <Instant at={startedAt} now={now} />. Too few regions have seen trouble for the last{" "}
        <Elapsed from={lastBadAt} now={now} />; the incident is still open.
      </>
    );
  return (
    <>
      {subject} {verbOf(fault)?.hasDone ?? `has been ${kind}`} since <Instant at={startedAt} now={now} /> (
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
        ? `no trouble seen for ${durationText(sinceMs(lastBadAt, now))}, still open`
        : `${verbOf(fault)?.hasDone ?? kind} for ${durationText(sinceMs(startedAt, now))}`;
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
