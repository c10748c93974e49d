/** Properties of alerts in every format. */
import t from "tap";
import { type Destination } from "../../../../../server/core/alerts/formats/webhook-request.js";
import { formatAlert } from "../../../../../server/core/alerts/formats/format-alert.js";
import { makeSigningSecret } from "../../../../../server/core/alerts/sealing.js";
import { testAlert } from "../../../../../server/core/alerts/formats/test-alert.js";
import { closedAlert, openedAlert, sent } from "../../../../support/made-alert.js";

const secret = makeSigningSecret();
const routingKey = "0123456789abcdef0123456789abcdef";
const url = "https://hooks.example.org/services/T0/B0/x";

const destinations: Destination[] = [
  { format: "native", url, secrets: [secret] },
  { format: "chat", url },
  { format: "paging", serviceRegion: "us", routingKey },
  { format: "paging", serviceRegion: "eu", routingKey },
];

const alerts = [openedAlert(), { ...openedAlert(), kind: "escalated" as const }, closedAlert(), testAlert(sent.at)];

void t.test(
  "spec: 3 formats: native to its URL, chat to its URL, paging to the endpoint of its service region",
  (t) => {
    for (const alert of alerts)
      t.strictSame(
        destinations.map((to) => formatAlert(to, alert, sent).url.href),
        [url, url, "https://events.pagerduty.com/v2/enqueue", "https://events.eu.pagerduty.com/v2/enqueue"],
      );
    t.end();
  },
);

void t.test("spec: an alert is application/json in every format", (t) => {
  for (const to of destinations) {
    const bodies = alerts.map((alert) => {
      const { headers, body } = formatAlert(to, alert, sent);
      t.match(headers, { "content-type": "application/json", "user-agent": sent.userAgent });
      t.type(JSON.parse(body.toString()), Object);
      return body.toString();
    });
    for (const [i, kind] of ["opened", "escalated", "closed"].entries()) {
      t.match(bodies[i], kind);
      t.match(bodies[i], /2026-01-31T11:41:06\.000Z|<!date\^1769859666\^/, "the incident's start");
    }
    t.equal(new Set(bodies).size, alerts.length);
  }
  t.end();
});

void t.test(
  "spec: chat and paging are neither signed nor sent a signature: the URL or the routing key is the credential",
  (t) => {
    for (const to of destinations)
      for (const alert of alerts) {
        const { headers, body } = formatAlert(to, alert, sent);
        const signed = Object.keys(headers).filter((name) => /signature|^webhook-/.test(name));
        t.equal(signed.length, to.format === "native" ? 4 : 0);
        t.notMatch(body.toString(), secret.slice(6), "the body contains no secret");
      }
    t.end();
  },
);
