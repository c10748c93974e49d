/** What a dispatcher does for channels of every format, as their receivers see it. */
import t, { type Test } from "tap";
import { deliveriesOf, type Delivery } from "../../../../../server/core/alerts/deliveries.js";
import type { Alert } from "../../../../../server/core/alerts/formats/alert.js";
import { formatAlert } from "../../../../../server/core/alerts/formats/format-alert.js";
import { testAlert } from "../../../../../server/core/alerts/formats/test-alert.js";
import type { Destination, MailDestination, Sent } from "../../../../../server/core/alerts/formats/webhook-request.js";
import { deliveryRules } from "../../../../../server/core/alerts/retry-rules.js";
import { makeSigningSecret } from "../../../../../server/core/alerts/sealing.js";
import { type Pool, sql } from "../../../../../shared/database/pool.js";
import { makeLog } from "../../../../../shared/log/log.js";
import type { Receiver } from "../../../../../world/receivers.js";
import { isAllDone } from "../../../../support/alert-queue.js";
import { dispatcherFor, receiverFor } from "../../../../support/alerting.js";
import { addChannel, happened, native, noPace } from "../../../../support/alerts.js";
import { migratedDatabase } from "../../../../support/database.js";
import { ago } from "../../../../support/fleet.js";
import {
  alertSaying,
  closedAlert,
  openedAlert,
  pausedAlert,
  resumedAlert,
  sent,
} from "../../../../support/made-alert.js";
import { until } from "../../../../support/until.js";
import { service } from "../../../../support/write-alert.js";

/** The contract's numbers, with pauses shortened to a five hundredth. */
const rules = {
  ...deliveryRules,
  backoff_ms: deliveryRules.backoff_ms / 500,
  pace_ms: noPace,
  look_ms: 20,
};

/** One of each format; all keys of a service region share one paging service. */
function destinations(receiver: Receiver, path: string): Destination[] {
  return [
    native(`${receiver.origin}/native/${path}`),
    { format: "chat", url: `${receiver.origin}/chat/${path}` },
    { format: "paging", serviceRegion: "us", routingKey: path },
    { format: "paging", serviceRegion: "eu", routingKey: path },
  ];
}

function startSending(t: Test, pool: Pool, { origin }: Receiver): void {
  const pagingEndpoints = { us: `${origin}/us`, eu: `${origin}/eu` };
  dispatcherFor(t, pool, {
    write: (to, alert, sent) => formatAlert(to, alert, { ...sent, ...service, pagingEndpoints }),
    log: makeLog("test", "error", () => {}),
    rules,
    // in the middle of the spread
    random: () => 0.5,
  });
}

/** Oldest first. */
async function logOf(pool: Pool, channel: number): Promise<Delivery[]> {
  const wanted = { incident: null, state: null, since: null, limit: 100 };
  return (await deliveriesOf(pool, { channel, ...wanted })).reverse();
}

void t.test("spec: retry policy, delivery log and severity floor apply to all 3 formats", async (t) => {
  const { pool } = await migratedDatabase(t);
  const failed = new Map<string, number>();
  const receiver = await receiverFor(t, ({ path, body }) => {
    const to = path + (/"routing_key":"(\w+)"/.exec(String(body))?.[1] ?? "");
    if (to.includes("failing")) return { status: 500 };
    // recovers at the third attempt
    const times = (failed.get(to) ?? 0) + 1;
    failed.set(to, times);
    return { status: times <= 2 ? 503 : 202 };
  });
  const channels = async (path: string, floor: "degraded" | "outage") => {
    const ids: [format: string, channel: number][] = [];
    for (const to of destinations(receiver, path)) {
      const format = to.format === "paging" ? `paging ${to.serviceRegion}` : to.format;
      ids.push([format, await addChannel(pool, { to, floor })]);
    }
    return ids;
  };
  const failing = await channels("failing", "degraded");
  const floored = await channels("floored", "outage");
  await happened(pool, { venue: "okx", severity: "degraded", kinds: ["opened", "escalated", "closed"], at: ago(10) });
  startSending(t, pool, receiver);
  await until(() => isAllDone(pool), 60_000, 20);

  for (const [format, channel] of floored)
    await t.test(`${format}: the severity floor, and retries`, async (t) => {
      const log = await logOf(pool, channel);
      t.strictSame(
        log.map(({ kind, state, attempts }) => [kind, state, attempts.map(({ status }) => status)]),
        [
          ["escalated", "delivered", [503, 503, 202]],
          ["closed", "delivered", [202]],
        ],
        "no alert while it was only degraded",
      );
      const attempt = { result: "refused", answer: "heard", durationMs: Number, startedAt: String, endedAt: String };
      t.match(log[0]!.attempts[0], attempt);
    });

  for (const [format, channel] of failing)
    await t.test(`${format}: retries until the channel is switched off`, async (t) => {
      const log = await logOf(pool, channel);
      t.strictSame(
        log.map(({ kind, state, failures, attempts }) => [kind, state, failures, attempts.map(({ status }) => status)]),
        [
          ["opened", "failed", 5, Array(5).fill(500)],
          ["escalated", "failed", 5, Array(5).fill(500)],
          ["closed", "skipped", 0, []],
        ],
      );
      for (const { attempts } of log.slice(0, 2))
        for (const [i, { endedAt }] of attempts.slice(0, -1).entries()) {
          const pausedMs = Date.parse(attempts[i + 1]!.startedAt) - Date.parse(endedAt!);
          const leastMs = rules.backoff_ms * rules.backoff_factor ** i;
          t.ok(pausedMs >= leastMs - 1, `paused for ${pausedMs} ms, at least ${leastMs} ms`);
        }
      const [row] = await pool.query(sql`select off_cause, failures from channel where channel_id = ${channel}`);
      t.strictSame(row, { off_cause: "failures", failures: 10 });
    });
  t.equal(receiver.arrivals.length, 4 * (4 + 10), "no more requests than that");
});

void t.test("spec: an event that was not dispatched yet is sent however old it is", async (t) => {
  const { pool } = await migratedDatabase(t);
  const receiver = await receiverFor(t);
  for (const to of destinations(receiver, "well")) await addChannel(pool, { to });
  const old = ago(200 * 24 * 3600);
  const slug = await happened(pool, { at: old, kinds: ["opened", "closed"] });
  await pool.query(sql`call upkeep.retain(clock_timestamp())`);
  startSending(t, pool, receiver);
  await until(() => isAllDone(pool), 60_000, 20);
  t.strictSame(
    receiver.arrivals.map(({ path }) => path).sort(),
    ["/chat/well", "/eu", "/native/well", "/us"].flatMap((to) => [to, to]),
  );
  t.ok(receiver.arrivals.every(({ body }) => body.includes(slug)));
});

// Properties of alerts in every format.

const secret = makeSigningSecret();
const routingKey = "0123456789abcdef0123456789abcdef";
const url = "https://hooks.example.org/services/T0/B0/x";

const fixedDestinations: Exclude<Destination, MailDestination>[] = [
  { format: "native", url, secrets: [secret] },
  { format: "chat", url },
  { format: "paging", serviceRegion: "us", routingKey },
  { format: "paging", serviceRegion: "eu", routingKey },
];

const alerts: Alert[] = [
  ...[openedAlert(), { ...openedAlert(), kind: "escalated" as const }, closedAlert(), testAlert(sent.at)],
  ...[pausedAlert(), resumedAlert()],
];

void t.test(
  "spec: 3 formats: native to its URL, chat to its URL, paging to the endpoint of its service region",
  (t) => {
    for (const alert of alerts)
      t.strictSame(
        fixedDestinations.map((to) => formatAlert(to, alert, sent).url.href),
        [url, url, "https://events.pagerduty.com/v2/enqueue", "https://events.eu.pagerduty.com/v2/enqueue"],
      );
    t.end();
  },
);

void t.test("spec: an alert is application/json in every format", (t) => {
  for (const to of fixedDestinations) {
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
    for (const to of fixedDestinations)
      for (const alert of alerts) {
        const { headers, body } = formatAlert(to, alert, sent);
        const signed = Object.keys(headers).filter((name) => /signature|^webhook-/.test(name));
        t.equal(signed.length, to.format === "native" ? 4 : 0);
        t.notMatch(body.toString(), secret.slice(6), "the body contains no secret");
      }
    t.end();
  },
);

// Alerts for a chat's incoming webhook: within its limits and harmless, whatever venues write.

const slackUrl = "https://hooks.slack.com/services/T0/B0/x";

interface Message {
  text: string;
  blocks: { type: string; text?: Text; fields?: Text[]; elements?: Text[] }[];
  unfurl_links: boolean;
}

interface Text {
  type: string;
  text: string;
  verbatim: boolean;
}

function chat(alert: Alert): Message {
  const { body } = formatAlert({ format: "chat", url: slackUrl }, alert, sent);
  return JSON.parse(body.toString()) as Message;
}

function textsOf({ blocks }: Message): Text[] {
  return blocks.flatMap(({ text, fields = [], elements = [] }) => [...(text ? [text] : []), ...fields, ...elements]);
}

/** All visible text, one line for each. */
function visibleText(alert: Alert): string {
  const texts = textsOf(chat(alert)).map(({ text }) => text);
  return texts.join("\n");
}

void t.test("an opening names the incident, its place, start and reason", (t) => {
  const { text, unfurl_links } = chat(openedAlert());
  t.equal(text, "Incident opened: outage at Kraken, Ticker (rest:ticker). Started 2026-01-31 11:41:06 UTC.");
  t.equal(unfurl_links, false);
  t.equal(
    visibleText(openedAlert()),
    `*Incident opened: outage at Kraken, Ticker (rest:ticker)*
*Severity*
outage
*Venue*
Kraken
*Component*
Ticker (rest:ticker)
*Started*
<!date^1769859666^{date_short_pretty} {time_secs}|2026-01-31 11:41:06 UTC>
*Opened*
<!date^1769859680^{date_short_pretty} {time_secs}|2026-01-31 11:41:20 UTC>
2 of 3 regions with a vote see it bad; 2 are needed: http 7, timeout 7
*The venue's own notice:* <https://stspg.io/x1b2c3|Degraded REST API>
investigating, major, since <!date^1769859600^{date_short_pretty} {time_secs}|2026-01-31 11:40:00 UTC>. Nothing tests that it is about the same fault.
<https://api.example.org/incidents/kraken-2026-01-31-rest-outage|The incident with its evidence>
event 8123`,
  );
  t.end();
});

void t.test("an escalation and a closing name their kind, and the closing its duration", (t) => {
  const escalated = visibleText({ ...openedAlert(), kind: "escalated" });
  t.match(escalated, /^\*Incident escalated: outage at Kraken[^]*\*Escalated\*\n<!date/);
  const closed = visibleText(closedAlert());
  t.match(closed, "*Incident closed: outage at Kraken");
  t.match(closed, /\*Closed\*\n<!date\^1769860800/);
  t.match(closed, /\*Ended\*\n<!date\^1769860740/);
  const { incident } = closedAlert();
  t.match(visibleText({ ...openedAlert(), incident }), /\*Closed since\*\n<!date\^1769860800/, "sent after its end");
  t.end();
});

void t.test("durations have two units", (t) => {
  for (const [durationSeconds, words] of [
    [0, "0 s"],
    [59, "59 s"],
    [1074, "17 min 54 s"],
    [3600, "1 h"],
    [7_384, "2 h 3 min"],
    [90_061, "1 d 1 h"],
    [86_401, "1 d 1 s"],
  ] as const) {
    const incident = { ...closedAlert().incident, durationSeconds };
    t.match(visibleText({ ...closedAlert(), incident }), `*Lasted*\n${words}\n`);
  }
  t.end();
});

void t.test("a test alert says that it is a test", (t) => {
  const alert = testAlert(new Date());
  t.match(chat(alert).text, /^Test alert, nothing happened\. /);
  t.match(visibleText(alert), /^\*Test alert, nothing happened\. /);
  t.end();
});

void t.test("unknown facts are left out", (t) => {
  const { incident } = openedAlert();
  const alert = { ...openedAlert(), incident: { ...incident, official: null }, evidence: null };
  t.equal(chat(alert).blocks.length, 3);
  t.notMatch(visibleText(alert), /notice|null|undefined/);
  t.end();
});

const hostile = {
  "a text that mentions everybody": "<!channel> <!here> <@U1> & <https://x.y|ok>",
  "a text that ends our markup": "*>|`_~ https://x.y/a|b>c",
  "a text of many lines": "a\n> *Incident closed*\r\n\u2028b\u0000",
  "a text with a direction override": "a\u202egnp.exe\u2066",
  "a long text": "long ".repeat(5_000),
  "a long text that grows by escaping": "<".repeat(20_000),
  "a long text of surrogate pairs": "🐙".repeat(20_000),
  "an empty text": "",
  "an address": `https://x.y/${"z".repeat(3_000)}`,
  "an address with the scheme javascript:": "javascript:alert(1)",
};

for (const [what, text] of Object.entries(hostile))
  void t.test(`an alert is within the limits with any text of venues: ${what}`, (t) => {
    for (const alert of [openedAlert(), closedAlert(), pausedAlert()]) {
      const message = chat(alertSaying(text, alert));
      const texts = textsOf(message);
      t.ok(message.text.length > 0 && message.text.length < 4_000);
      t.ok(message.blocks.length <= 50);
      const whole = texts.reduce((sum, one) => sum + one.text.length, 0);
      t.ok(whole < 8_000, `${whole} characters in total`);
      for (const { type, text, fields = [], elements = [] } of message.blocks) {
        t.ok(["section", "context"].includes(type));
        t.ok(fields.length <= 10 && elements.length <= 10);
        if (text) t.ok(text.text.length >= 1 && text.text.length <= 3_000);
        t.ok(fields.every((field) => field.text.length <= 2_000));
      }
      for (const { type, text, verbatim } of texts) {
        t.strictSame([type, verbatim], ["mrkdwn", true]);
        // all markup is ours: the rest has none
        const rest = text
          .replace(/<!date\^\d+\^\{date_short_pretty\} \{time_secs\}\|[^<>|]*>/g, "")
          .replace(/<https?:\/\/[^<>|\s]+\|[^<>]*>/g, "");
        t.notMatch(rest, /[<>]/);
        t.notMatch(rest, /&(?!(amp|lt|gt);)/, "no escape is cut apart");
        t.notMatch(rest, /[\ud800-\udbff](?![\udc00-\udfff])/, "no surrogate pair is cut apart");
        t.notMatch(text.replaceAll("\n", ""), /[\p{Cc}\u2028\u202e\u2066]/u);
      }
    }
    t.end();
  });

void t.test("texts are escaped as required, and no further", (t) => {
  const alert = alertSaying(`a & b < c > d "e" 'f' &amp;`, openedAlert());
  t.match(visibleText(alert), `*Venue*\na &amp; b &lt; c &gt; d "e" 'f' &amp;amp;\n`);
  t.end();
});

void t.test("an address in a notice stays an address", (t) => {
  const { incident } = openedAlert();
  for (const [url, title, line] of [
    ["https://x.y/?a=1&b=2|3", "t", "<https://x.y/?a=1&amp;b=2%7C3|t>"],
    ["https://x.y/<b>", "a > b", "<https://x.y/%3Cb%3E|a &gt; b>"],
    ["ftp://x.y/", "t", "t"],
    // a truncated address would lead elsewhere
    [`https://x.y/${"z".repeat(3_000)}`, "t", "t"],
    ["not one", "t", "t"],
    [null, "", "untitled"],
  ] as const) {
    const official = { ...incident.official!, url, title };
    t.match(
      visibleText({ ...openedAlert(), incident: { ...incident, official } }),
      `*The venue's own notice:* ${line}\n`,
    );
  }
  t.end();
});

// Alerts for a paging service's Events API v2.

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
        maintenance: null,
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
    for (const alert of [openedAlert(), pausedAlert()]) {
      const { event } = paging(alertSaying(text, alert));
      const { summary, source, component } = event.payload;
      t.ok(summary.length > 0 && summary.length <= 1024, `${summary.length}`);
      t.ok(source.length > 0 && component.length > 0);
      t.ok(event.dedup_key.length <= 255);
      t.notMatch(summary, /[\p{Cc}\u202e]/u);
      t.ok(JSON.stringify(event).length < 10_000);
    }
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

void t.test("announced maintenance is said in a chat and to a paging service, with its hostile title escaped", (t) => {
  const maintenance = {
    ...{ title: "Upgrade <!channel>", url: "https://status.example/m1", from: "2026-01-31T11:30:00.000Z" },
    ...{ until: "2026-01-31T13:30:00.000Z", announcedAt: "2026-01-29T09:00:12.000Z", overran: true },
  };
  const alert = { ...openedAlert(), incident: { ...openedAlert().incident, maintenance } };
  const said = visibleText(alert);
  t.match(said, "announced maintenance until 2026-01-31 13:30 UTC, which it overran");
  t.match(said, "The incident outlasted it.");
  t.match(said, "Upgrade &lt;!channel&gt;");
  const { payload } = paging(alert).event;
  t.match(payload.summary, "announced maintenance until 2026-01-31 13:30 UTC");
  t.match(payload.custom_details.maintenance, { title: "Upgrade <!channel>", overran: true });
  const open = { ...maintenance, until: null, overran: false };
  const unbounded = { ...alert, incident: { ...alert.incident, maintenance: open } };
  t.match(visibleText(unbounded), "announced maintenance with no stated end");
  t.end();
});

void t.test("a pause of withdrawals, and its end, are said in a chat and to a paging service", (t) => {
  const { text } = chat(pausedAlert());
  t.equal(text, "Kraken declares withdrawals of USDT on Tron paused. Paused since 2026-01-31 09:10:00 UTC.");
  t.match(visibleText(pausedAlert()), "*The venue's words:* Delayed sends");
  t.match(visibleText(pausedAlert()), "<https://api.example.org/venues/kraken#transfers|What the venue declares>");
  t.equal(
    chat(resumedAlert()).text,
    "Kraken declares withdrawals of USDT on Tron open again. Paused from 2026-01-31 09:10:00 UTC to 2026-01-31 11:00:00 UTC.",
  );
  t.match(visibleText(resumedAlert()), "*Open again*\n<!date^1769857200^");
  const events = [pausedAlert(), resumedAlert()].map((alert) => paging(alert).event);
  t.equal(events[0]!.dedup_key, "venuewatch/transfers/kraken/USDT/TRX/withdrawal");
  t.equal(events[1]!.dedup_key, events[0]!.dedup_key);
  t.match(events, [
    { event_action: "trigger", payload: { severity: "warning", source: "kraken", component: "USDT Tron withdrawal" } },
    { event_action: "resolve", payload: { timestamp: "2026-01-31T09:10:00.000Z" } },
  ]);
  t.match(events[0]!.payload.summary, /paused\. Delayed sends$/);
  const deposits = { ...pausedAlert(), transfer: { ...pausedAlert().transfer, direction: "deposit" as const } };
  t.not(paging(deposits).event.dedup_key, events[0]!.dedup_key, "each direction is apart");
  t.end();
});
