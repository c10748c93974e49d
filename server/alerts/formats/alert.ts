import type { Category } from "../../../shared/registry/registry.js";
import type { Fault } from "../../../shared/measurement/sample.js";

/** What a receiver is told of one event of an incident; as JSON its fields are in this order. */
export interface Alert {
  /** The same whenever and however often it is sent; 0: a test. */
  eventId: number;
  test: boolean;
  kind: "opened" | "escalated" | "closed";
  /** Of the event: it stays when the incident goes on. */
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
  /** What the event was decided by; null where none is kept. */
  evidence: AlertEvidence | null;
}

type Severity = "degraded" | "outage";
type ComponentKind = "rest" | "ws";

export interface AlertEvidence {
  summary: string;
  reporting: number;
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

/** The API's Incident object. A test holds the two together: stages do not import each other. */
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
  durationSeconds: number | null;
  quorum: number;
  reporting: number;
  regions: string[];
  official: OfficialNotice | null;
  officialObserved: boolean | null;
}

/** A notice of the venue's own. Its texts and its address are the venue's, and may be anything. */
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
