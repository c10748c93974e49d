/** Alerts for a paging service's Events API v2. */
import t from "tap";
import type { Alert } from "../../../../../server/core/alerts/formats/alert.js";
import { type Sent } from "../../../../../server/core/alerts/formats/webhook-request.js";
import { formatAlert } from "../../../../../server/core/alerts/formats/format-alert.js";
import { testAlert } from "../../../../../server/core/alerts/formats/test-alert.js";
import { alertSaying, closedAlert, openedAlert, sent } from "../../../../support/made-alert.js";

const routingKey = "0123456789abcdef0123456789abcdef";

interface Event {
  routing_key: string;
  event_action: string;
  dedup_key: string;
  links: { href: string; text: string }[];
  payload: {
    summary: string;
    source: string;
    severity: string;
    timestamp: string;
    component: string;
    custom_details: Record<string, unknown>;
  };
}

function paging(alert: Alert, serviceRegion: "us" | "eu" = "us", how = sent) {
  const to = { format: "paging", serviceRegion, routingKey } as const;
  const { url, headers, body } = formatAlert(to, alert, how);
  return { url, headers, event: JSON.parse(body.toString()) as Event };
}

function keyOf(slug: string): string {
  return paging({ ...openedAlert(), incident: { ...openedAlert().incident, slug } }).event.dedup_key;
}

void t.test("an opening triggers a page with all that a responder needs", (t) => {
  const evidence = "2 of 3 regions with a vote see it bad; 2 are needed: http 7, timeout 7";
  t.strictSame(paging(openedAlert()).event, {
    routing_key: routingKey,
    event_action: "trigger",
    dedup_key: "venuewatch/kraken-2026-01-31-rest-outage",
    client: "venuewatch",
    client_url: "https://api.example.org",
    links: [{ href: "https://api.example.org/incidents/kraken-2026-01-31-rest-outage", text: "The incident" }],
    payload: {
      summary: `Incident opened: outage at Kraken, Ticker (rest:ticker). ${evidence}`,
      source: "kraken",
      severity: "critical",
      timestamp: "2026-01-31T11:41:06.000Z",
      component: "rest:ticker",
      group: "exchange",
      class: "outage",
      custom_details: {
        ...{ eventId: 8123, test: false, kind: "opened", severity: "outage", venue: "Kraken", component: "Ticker" },
        ...{ at: "2026-01-31T11:41:20.000Z", startedAt: "2026-01-31T11:41:06.000Z" },
        ...{ closedAt: null, endedAt: null, durationSeconds: null, evidence },
        official: {
          ...{ title: "Degraded REST API", status: "investigating", url: "https://stspg.io/x1b2c3" },
          subjectMatched: false,
        },
      },
    },
  });
  t.end();
});

void t.test("one key for each incident: its closing resolves what its opening triggered", (t) => {
  const opened = { ...openedAlert(), severity: "degraded" } as const;
  const escalated = { ...openedAlert(), kind: "escalated" } as const;
  const events = [opened, escalated, closedAlert()].map((one) => paging(one).event);
  const keys = new Set(events.map(({ dedup_key }) => dedup_key));
  t.equal(keys.size, 1);
  const timestamp = "2026-01-31T11:41:06.000Z";
  t.match(events, [
    { event_action: "trigger", payload: { severity: "warning", timestamp } },
    { event_action: "trigger", payload: { severity: "critical", timestamp } },
    { event_action: "resolve", payload: { severity: "critical", timestamp } },
  ]);
  t.match(events[2]!.payload.custom_details, { durationSeconds: 1074 });
  t.not(keyOf(`${openedAlert().incident.slug}-2`), events[0]!.dedup_key, "another incident has another key");
  t.end();
});

void t.test("each test alert pages, with severity info", (t) => {
  const alert = testAlert(new Date("2026-01-31T12:00:00Z"));
  const first = paging(alert).event;
  const summary = /^Test alert, nothing happened\. /;
  t.match(first, { event_action: "trigger", payload: { severity: "info", summary } });
  const second = paging(alert, "us", { ...sent, deliveryId: 78 }).event;
  t.not(first.dedup_key, second.dedup_key, "the first test alert may still be open");
  t.end();
});

void t.test("a key is used in its service region only", (t) => {
  const urls = (how: Sent) => (["us", "eu"] as const).map((region) => paging(openedAlert(), region, how).url.href);
  t.strictSame(urls(sent), ["https://events.pagerduty.com/v2/enqueue", "https://events.eu.pagerduty.com/v2/enqueue"]);
  const pagingEndpoints = { us: "http://127.0.0.1:1/us", eu: "http://127.0.0.1:1/eu" };
  t.strictSame(urls({ ...sent, pagingEndpoints }), Object.values(pagingEndpoints));
  t.end();
});

void t.test("an alert is within the limits with any text of venues", (t) => {
  for (const text of ["long ".repeat(5_000), "\u202e🐙\n".repeat(5_000), ""]) {
    const { event } = paging(alertSaying(text, openedAlert()));
    const { summary, source, component } = event.payload;
    t.ok(summary.length > 0 && summary.length <= 1024, `${summary.length}`);
    t.ok(source.length > 0 && component.length > 0);
    t.notMatch(summary, /[\p{Cc}\u202e]/u);
    t.ok(JSON.stringify(event).length < 10_000);
  }
  t.end();
});

void t.test("a key that would be too long is shortened, and stays stable", (t) => {
  const slug = "a".repeat(300);
  t.ok(keyOf(slug).length <= 255);
  t.equal(keyOf(slug), keyOf(slug));
  t.not(keyOf(slug), keyOf(`${slug}-2`));
  t.end();
});
