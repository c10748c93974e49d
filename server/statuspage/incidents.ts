import type { StatuspageComponent, StatuspageIncident } from "../api/schemas/statuspage.js";
import { durationText, exactText, sinceMs } from "../pages/format.js";
import { isolated } from "../pages/parts/isolated.js";
import { verbOf } from "../pages/words.js";
import { nameOf } from "./components.js";
import type { ListedIncident } from "./statuspage-data.js";

type OurIncident = ListedIncident["incident"];
type Update = StatuspageIncident["incident_updates"][number];
type Severity = OurIncident["severity"];

const impacts = { degraded: "minor", outage: "critical" } as const;
const severityWords = { degraded: "degraded", outage: "down" };

/** @param components the known ones of the page, by id */
export function incidentOf(
  { incident, component, venueName }: ListedIncident,
  components: ReadonlyMap<string, StatuspageComponent>,
  pageId: string,
  baseUrl: string,
): StatuspageIncident {
  const { slug, severity, fault, openedAt, closedAt } = incident;
  const updates = updatesOf(incident);
  const affected = components.get(component);
  return {
    id: slug,
    name: `${isolated(venueName)}: ${nameOf(incident.label, incident.component)} ${verbOf(fault)?.does ?? severityWords[severity]}`,
    status: closedAt === null ? "investigating" : "resolved",
    impact: impacts[severity],
    created_at: openedAt,
    updated_at: updates[0]!.created_at,
    started_at: incident.startedAt,
    monitoring_at: null,
    resolved_at: closedAt,
    shortlink: `${baseUrl}/incidents/${slug}`,
    page_id: pageId,
    incident_updates: updates,
    components: affected === undefined ? [] : [affected],
  };
}

/** Newest first. */
function updatesOf(incident: OurIncident): Update[] {
  const { openedAt, escalatedAt, closedAt, peakSeverity } = incident;
  const opened: Severity = escalatedAt === null ? peakSeverity : "degraded";
  const updates = [updateOf(incident, "opened", openedAt, openingText(incident, opened))];
  if (escalatedAt !== null)
    updates.unshift(updateOf(incident, "escalated", escalatedAt, `Escalated: ${severityWords.outage}.`));
  if (closedAt !== null) updates.unshift(updateOf(incident, "closed", closedAt, closingText(incident)));
  return updates;
}

function updateOf({ slug }: OurIncident, event: string, at: string, body: string): Update {
  return {
    id: `${slug}-${event}`,
    incident_id: slug,
    status: event === "closed" ? "resolved" : "investigating",
    body,
    created_at: at,
    updated_at: at,
    display_at: at,
  };
}

function openingText({ label, component, fault, regions, counted }: OurIncident, severity: Severity): string {
  const witnesses =
    regions.length === 0 ? "A quorum of regions" : `${regions.length} of ${counted} regions with a vote`;
  const verb = verbOf(fault);
  const name = nameOf(label, component);
  return verb
    ? `${witnesses} saw that ${name} ${verb.does}.`
    : `${witnesses} saw ${name} fail: ${severityWords[severity]}.`;
}

function closingText({ startedAt, lastBadAt }: OurIncident): string {
  const after = durationText(sinceMs(startedAt, lastBadAt));
  return `Closed. The trouble was last seen at ${exactText(lastBadAt)}, ${after} after it began.`;
}
