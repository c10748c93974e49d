import type { Category } from "../../../shared/registry/registry.js";
import type { Fault } from "../../../shared/measurement/sample.js";

/** One event of an incident, as receivers get it; the JSON has its fields in this order. */
export interface Alert {
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
  venue: {
    id: string;
    name: string;
    category: Category;
    symbol: string | null;
    quote: string | null;
  };
  component: {
    id: string;
    kind: ComponentKind;
    label: string;
    target: string | null;
  };
  /** The evidence of the event; null where none is stored. */
  evidence: AlertEvidence | null;
}

type Severity = "degraded" | "outage";
type ComponentKind = "rest" | "ws";

export interface AlertEvidence {
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
