/** Alerts for a chat's incoming webhook: within its limits and harmless, whatever venues write. */
import t from "tap";
import type { Alert } from "../../../../../server/core/alerts/formats/alert.js";
import { formatAlert } from "../../../../../server/core/alerts/formats/format-alert.js";
import { testAlert } from "../../../../../server/core/alerts/formats/test-alert.js";
import { alertSaying, closedAlert, openedAlert, sent } from "../../../../support/made-alert.js";

const url = "https://hooks.slack.com/services/T0/B0/x";

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
  const { body } = formatAlert({ format: "chat", url }, alert, sent);
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
    for (const alert of [openedAlert(), closedAlert()]) {
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
