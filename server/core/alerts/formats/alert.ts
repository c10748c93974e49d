import type { Fault } from "../../../../shared/measurement/sample.js";
import type { Category } from "../../../../shared/registry/registry.js";

/** One event, as receivers get it. */
export type Alert = IncidentAlert | TransferAlert;

/** The event of an incident; the JSON has its fields in this order. */
export interface IncidentAlert {
  /** The same in every attempt and replay; 0: a test. */
  eventId: number;
  test: boolean;
  kind: "opened" | "escalated" | "closed";
  /** Of the event: it does not change when the incident does. */
  severity: Severity;
  /** When the engine decided it. */
  at: string;
  /** As the API shows it when the alert is sent. */
  incident: AlertIncident;
  venue: AlertVenue;
  component: {
    id: string;
    kind: ComponentKind;
    label: string;
    target: string | null;
  };
  /** The evidence of the event; null where none is stored. */
  evidence: AlertEvidence | null;
}

interface AlertVenue {
  id: string;
  name: string;
  category: Category;
  symbol: string | null;
  quote: string | null;
}

/** Deposits or withdrawals that a venue declares paused, or open again; the JSON has its fields in this order. */
export interface TransferAlert {
  eventId: number;
  /** Never: a test is about an incident. */
  test: boolean;
  /** `transfer_unknown`: after a pause, the venue has said nothing of it for a day. */
  kind: "transfer_paused" | "transfer_resumed" | "transfer_unknown";
  /** The reading of the venue's list that showed it; of a pause, ten minutes or more after its beginning. */
  at: string;
  transfer: {
    asset: string;
    /** Null: the venue says it by asset alone, or the registry does not know the venue's name of the network. */
    network: string | null;
    networkName: string | null;
    /** As the venue spells it: untrusted text. */
    venueNetwork: string | null;
    direction: "deposit" | "withdrawal";
    state: "paused" | "open" | "unknown";
    /** The venue's words: untrusted text. */
    because: string | null;
    pausedAt: string;
    resumedAt: string | null;
  };
  venue: AlertVenue;
}

type Severity = "degraded" | "outage";
type ComponentKind = "rest" | "ws";

export interface AlertEvidence {
  /** One sentence, written by sql/board/049-alert-content.sql. */
  summary: string;
  reporting: number;
  counted: number;
  quorum: number;
  confirming: number;
  votes: {
    region: string;
    vote: "operational" | "unknown" | Severity;
    samples: number;
    bad: number;
    slow: number;
    faults: Partial<Record<Fault, number>>;
    newestAt: string | null;
    probeVersion: string | null;
  }[];
  notCounted: { region: string; reason: string }[];
}

/** The API's Incident object. These folders may not import each other, so a test compares the two. */
export interface AlertIncident {
  id: number;
  slug: string;
  venue: string;
  component: string;
  kind: ComponentKind;
  label: string;
  severity: Severity;
  peakSeverity: Severity;
  status: "open" | "closed";
  startedAt: string;
  openedAt: string;
  escalatedAt: string | null;
  lastBadAt: string;
  closedAt: string | null;
  endedAt: string | null;
  flapping: boolean;
  fault: Fault | null;
  durationSeconds: number | null;
  quorum: number;
  reporting: number;
  counted: number;
  regions: string[];
  official: OfficialNotice | null;
  officialObserved: boolean | null;
  maintenance: AnnouncedMaintenance | null;
}

/** Maintenance that the venue announced before it began. Its title and address are untrusted. */
export interface AnnouncedMaintenance {
  title: string;
  url: string | null;
  from: string;
  /** Null: the venue named no end. */
  until: string | null;
  announcedAt: string;
  /** The incident lasted beyond its end, or does so far. */
  overran: boolean;
}

/** An official notice. Its texts and address come from the venue and are untrusted. */
export interface OfficialNotice {
  id: string;
  title: string;
  url: string | null;
  kind: "incident" | "maintenance" | "other";
  status: string;
  impact: string | null;
  startedAt: string;
  postedAt: string | null;
  resolvedAt: string | null;
  firstSeenAt: string;
  lastSeenAt: string;
  vanished: boolean;
  timesDoubtful: boolean;
  subjectMatched: boolean;
  aheadUncorrelated: number | null;
}

/** What a venue does, or did, if that says more than that it fails: one that limits our requests is not down. */
const faultDeeds: Partial<Record<Fault, [does: string, did: string]>> = {
  limited: ["limits our requests", "limited our requests"],
  halted: ["says that it does not trade", "said that it did not trade"],
  blocked: ["refuses our region", "refused our region"],
};

/** One sentence about the event. Its length is not bounded, as it contains names of the registry. */
export function headline(alert: Alert): string {
  if (isAboutTransfer(alert)) return transferHeadline(alert);
  const { test, kind, component } = alert;
  const line = `Incident ${kind}: ${whatOf(alert)}, ${component.label} (${component.id})${announcedOf(alert)}`;
  return test ? `Test alert, nothing happened. ${line}` : line;
}

/** Tells the two kinds of alerts apart. */
export function isAboutTransfer(alert: Alert): alert is TransferAlert {
  return "transfer" in alert;
}

function transferHeadline({ transfer, venue }: TransferAlert): string {
  const { asset, direction, state } = transfer;
  const what = `${direction}s of ${asset}${networkOf(transfer)}`;
  if (state === "unknown") return `${venue.name} no longer says whether ${what} are paused`;
  return `${venue.name} declares ${what} ${state === "open" ? "open again" : "paused"}`;
}

/** ` on Tron`; empty where the venue names no network. */
function networkOf({ networkName, venueNetwork }: TransferAlert["transfer"]): string {
  const name = networkName ?? venueNetwork;
  return name === null ? "" : ` on ${name}`;
}

function whatOf({ kind, severity, incident: { fault }, venue }: IncidentAlert): string {
  const deed = fault === null ? undefined : faultDeeds[fault];
  if (deed) return `${venue.name} ${deed[kind === "closed" ? 1 : 0]}`;
  return `${severity === "outage" ? "outage" : "degradation"} at ${venue.name}`;
}

/** `, announced maintenance until 2026-01-31 13:30 UTC`; empty without one. */
function announcedOf({ incident: { maintenance } }: IncidentAlert): string {
  if (maintenance === null) return "";
  const { until, overran } = maintenance;
  const planned = until === null ? "with no stated end" : `until ${until.slice(0, 16).replace("T", " ")} UTC`;
  return `, announced maintenance ${planned}${overran ? ", which it overran" : ""}`;
}

/** The page of the incident, or of the venue's transfers, for people. */
export function permalinkOf(alert: Alert, baseUrl: string): string {
  return isAboutTransfer(alert)
    ? `${baseUrl}/venues/${encodeURIComponent(alert.venue.id)}#transfers`
    : `${baseUrl}/incidents/${encodeURIComponent(alert.incident.slug)}`;
}

/** The same as JSON, for programs. */
export function jsonUrlOf(alert: Alert, baseUrl: string): string {
  return isAboutTransfer(alert)
    ? `${baseUrl}/v1/transfers/${encodeURIComponent(alert.venue.id)}`
    : `${baseUrl}/v1/incidents/${encodeURIComponent(alert.incident.slug)}`;
}

/**
 * Puts foreign text on one line, and truncates it to `limit` UTF-16 units after escaping. Truncated text ends with an
 * ellipsis. Characters that would start a new line or change the writing direction become spaces.
 *
 * @param written escapes a character for the receiver; the text is never cut within the result
 */
export function truncated(text: string, limit: number, written = (character: string) => character): string {
  let line = "";
  let beforeLimit = "";
  // escaping makes no character shorter, so characters beyond the limit need not be examined
  for (const character of text.slice(0, limit + 1).replace(invisibleCharacters, " ")) {
    line += written(character);
    if (line.length > limit) return `${beforeLimit}…`;
    if (line.length < limit) beforeLimit = line;
  }
  return line;
}

/** Control characters, other line separators, and characters that change the writing direction. */
const invisibleCharacters = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;
