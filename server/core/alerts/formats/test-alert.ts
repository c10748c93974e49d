import type { IncidentAlert } from "./alert.js";

/**
 * An alert that shows a receiver what alerts look like. Its incident is invented: its venue, `example`, is in no
 * registry, and its permalink and JSON are 404.
 */
export function testAlert(at: Date): IncidentAlert {
  const secondsBefore = (seconds: number) => new Date(at.getTime() - seconds * 1000).toISOString();
  const startedAt = secondsBefore(14);
  const newestAt = secondsBefore(2);
  const failing = { vote: "outage", samples: 7, bad: 7, slow: 0 } as const;
  const well = { vote: "operational", samples: 7, bad: 0, slow: 0 } as const;
  const seen = { newestAt, probeVersion: null };
  return {
    eventId: 0,
    test: true,
    kind: "opened",
    severity: "outage",
    at: at.toISOString(),
    incident: {
      id: 1,
      slug: `example-${startedAt.slice(0, 10)}-rest-outage`,
      venue: "example",
      component: "rest:ticker",
      kind: "rest",
      label: "Ticker",
      severity: "outage",
      peakSeverity: "outage",
      status: "open",
      startedAt,
      openedAt: at.toISOString(),
      escalatedAt: null,
      lastBadAt: at.toISOString(),
      closedAt: null,
      endedAt: null,
      flapping: false,
      fault: null,
      durationSeconds: null,
      quorum: 2,
      reporting: 3,
      counted: 3,
      regions: ["eu-central", "us-east"],
      official: null,
      officialObserved: null,
      maintenance: null,
    },
    venue: {
      id: "example",
      name: "Example Exchange",
      category: "exchange",
      symbol: "BTC/USD",
      quote: "USD",
    },
    component: {
      id: "rest:ticker",
      kind: "rest",
      label: "Ticker",
      target: "https://api.example.com/ticker",
    },
    evidence: {
      summary: "2 of 3 regions with a vote see it bad; 2 are needed: http 7, timeout 7",
      reporting: 3,
      counted: 3,
      quorum: 2,
      confirming: 2,
      votes: [
        { region: "eu-central", ...failing, faults: { timeout: 7 }, ...seen },
        { region: "us-east", ...failing, faults: { http: 7 }, ...seen },
        { region: "ap-southeast", ...well, faults: {}, ...seen },
      ],
      notCounted: [],
    },
  };
}
