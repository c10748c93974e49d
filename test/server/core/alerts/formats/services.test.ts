/**
 * Alerts for Telegram, Discord, ntfy and Teams: what people read, and that the services accept it, whatever venues
 * write.
 */
import { createRequire } from "node:module";
import { EmbedAssertions, embedLength } from "@discordjs/builders";
import type * as Cards from "adaptivecards";
import { Window } from "happy-dom";
import t, { type Test } from "tap";
import type { Alert } from "../../../../../server/core/alerts/formats/alert.js";
import { formatAlert } from "../../../../../server/core/alerts/formats/format-alert.js";
import { testAlert } from "../../../../../server/core/alerts/formats/test-alert.js";
import type {
  Destination,
  MailDestination,
  WebhookRequest,
} from "../../../../../server/core/alerts/formats/webhook-request.js";
import { posterFor } from "../../../../support/alert-receivers.js";
import {
  accessToken,
  botChat,
  botToken,
  type CardMessage,
  discord,
  discordPath,
  type Embed,
  ntfy,
  type Service,
  startService,
  teams,
  teamsPath,
  telegram,
  telegramText,
  topic,
} from "../../../../support/alert-services.js";
import {
  alertSaying,
  closedAlert,
  openedAlert,
  pausedAlert,
  resumedAlert,
  sent,
} from "../../../../support/made-alert.js";

// its modules are for bundlers; the file for browsers looks for their global
Object.assign(globalThis, { self: globalThis });
const cards = createRequire(import.meta.url)("adaptivecards/dist/adaptivecards.js") as typeof Cards;

type WebDestination = Exclude<Destination, MailDestination>;

const services = {
  telegram: { check: telegram, to: (url: string) => ({ format: "telegram", url, token: botToken, chat: botChat }) },
  discord: { check: discord, to: (origin: string) => ({ format: "discord", url: origin + discordPath }) },
  ntfy: { check: ntfy, to: (origin: string) => ({ format: "ntfy", url: `${origin}/${topic}`, token: accessToken }) },
  teams: { check: teams, to: (origin: string) => ({ format: "teams", url: origin + teamsPath }) },
} as const satisfies Record<string, { check: unknown; to: (origin: string) => WebDestination }>;

const maintenance = {
  ...{ title: "Upgrade", url: "https://status.example/m1", from: "2026-01-31T11:30:00.000Z" },
  ...{ until: "2026-01-31T13:30:00.000Z", announcedAt: "2026-01-29T09:00:12.000Z", overran: true },
};

function withMaintenance(alert: ReturnType<typeof openedAlert>, more: Partial<typeof maintenance> = {}) {
  return { ...alert, incident: { ...alert.incident, maintenance: { ...maintenance, ...more } } };
}

const plainAlerts: Alert[] = [
  ...[openedAlert(), { ...openedAlert(), kind: "escalated" as const }, closedAlert(), testAlert(sent.at)],
  ...[withMaintenance(openedAlert()), { ...openedAlert(), evidence: null }],
  ...[pausedAlert(), resumedAlert(), { ...pausedAlert(), kind: "transfer_unknown" as const }],
];

const hostile = {
  "markup of HTML": `</b><a href="https://x.y">&amp;</a> & < > " '`,
  "markup of Markdown": "[ok](https://x.y) **b** _i_ `c` # h\n> q - l ||s|| ~~d~~ \\",
  "mentions and addresses":
    "@everyone @here <@1> <@&2> <#3> @durov https://x.y/z t.me/a <t:1:R> {{DATE(2017-02-14T06:08:00Z)}}",
  "addresses without markup":
    "refunds at evil.example, t.me/x HTTPS://EVIL.EXAMPLE 192.0.2.1/a tg://resolve http://x /go #a $BTC",
  "a text of many lines": "a\n> *Incident closed*\r\n\u2028b\u0000",
  "a text with a direction override": "a\u202egnp.exe\u2066",
  "a long text": "long ".repeat(5_000),
  "a long text that grows by escaping": "<".repeat(20_000),
  "a long text that grows by a backslash each": "*".repeat(20_000),
  "a long text of three bytes for each character": "€".repeat(20_000),
  "a long text of surrogate pairs": "🐙".repeat(20_000),
  "an empty text": "",
  "a blank text": " \t\n ",
  "an address": `https://x.y/${"z".repeat(3_000)}`,
  "an address with brackets and quotes": `https://x.y/)("<'>|`,
  "an address with the scheme javascript:": "javascript:alert(1)",
};

for (const [format, { check, to }] of Object.entries(services))
  void t.test(`${format} accepts every alert, whatever venues write`, async (t) => {
    const service = await startService(t, check);
    const poster = posterFor(t);
    const accepted = async (t: Test, alert: Alert) => {
      const request = formatAlert(to(service.origin), alert, sent);
      const { result } = await poster.post(request);
      t.equal(result, "delivered", service.refusals.at(-1) ?? "no refusal");
      return request;
    };
    for (const alert of plainAlerts) inspect(t, format as keyof typeof services, await accepted(t, alert));
    for (const [what, text] of Object.entries(hostile))
      await t.test(what, async (t) => {
        const opened = alertSaying(text, openedAlert()) as ReturnType<typeof openedAlert>;
        const alerts = [opened, alertSaying(text, closedAlert()), alertSaying(text, pausedAlert())];
        for (const alert of [...alerts, withMaintenance(opened, { title: text, url: text })])
          inspect(t, format as keyof typeof services, await accepted(t, alert));
      });
    t.strictSame(service.refusals, []);
  });

/** Parsers of others find what we meant, and nothing else. */
function inspect(t: Test, format: keyof typeof services, { body }: WebhookRequest): void {
  const message = JSON.parse(body.toString()) as Record<string, unknown>;
  const text = JSON.stringify(message);
  t.notMatch(text, /[\u202e\u2066]/, "nothing turns the direction");
  if (format === "telegram") inspectTelegram(t, message["text"] as string);
  if (format === "discord") inspectDiscord(t, (message["embeds"] as Embed[])[0]!);
  if (format === "teams") inspectTeams(t, message as unknown as CardMessage);
}

const { document } = new Window();

function inspectTelegram(t: Test, html: string): void {
  document.body.innerHTML = html;
  const text = document.body.textContent;
  t.equal(text, telegramText(html), "both parsers read the same");
  const elements = [...document.body.querySelectorAll("*")];
  t.ok(elements.every(({ tagName }) => tagName === "B" || tagName === "A"));
  t.ok(elements.every((element) => /^https?:\/\//.test(element.getAttribute("href") ?? "https://")));
  t.notMatch(text, /@\w/, "nobody is mentioned");
  t.notMatch(text, /[\w/][./][^\s\u2060]|(^|\s)[/#$]\w/, "no word becomes a link, a command or a tag");
}

function inspectDiscord(t: Test, embed: Embed): void {
  t.ok(embedLength(embed) <= 6000);
  EmbedAssertions.titlePredicate.parse(embed.title);
  EmbedAssertions.descriptionPredicate.parse(embed.description || "-");
  EmbedAssertions.embedFieldsArrayPredicate.parse(embed.fields);
  EmbedAssertions.colorPredicate.parse(embed.color);
  EmbedAssertions.urlPredicate.parse(embed.url);
  const ours = /\*\*[A-Z][\w' ]+:\*\*|\]\(https?:\/\/[^\s()]+\)|<t:\d+:f>/g;
  for (const written of [embed.title, embed.description, ...embed.fields.map(({ value }) => value)]) {
    // a backslash escapes the character after it; of the rest only our own markup is left
    const rest = written.replace(ours, "").replace(/\\[^0-9A-Za-z\s]/g, "");
    t.notMatch(rest.replace(/\[/g, ""), /[\\`*_~|<>@#:\]()]/, "all markup is ours");
  }
}

function inspectTeams(t: Test, { attachments }: CardMessage): void {
  const { content } = attachments[0]!;
  const context = new cards.SerializationContext();
  const card = new cards.AdaptiveCard();
  card.parse(content, context);
  t.equal(context.eventCount, 0, "Microsoft's parser finds no fault");
  t.equal(card.version.toString(), "1.4");
  const { body } = content as { body: { type: string }[] };
  t.ok(body.length > 2 && body.every(({ type }) => type === "RichTextBlock"), "nothing that reads Markdown");
  const validation = card.validateProperties();
  t.strictSame(
    validation.validationEvents.map(({ message }) => message),
    [],
  );
}

const requestOf = (format: keyof typeof services, alert: Alert) =>
  formatAlert(services[format].to("https://service.example"), alert, sent);

const bodyOf = (format: keyof typeof services, alert: Alert) =>
  JSON.parse(requestOf(format, alert).body.toString()) as Record<string, unknown>;

void t.test("telegram: an opening, and a pause of withdrawals", (t) => {
  t.equal(requestOf("telegram", openedAlert()).url.href, `https://service.example/bot${botToken}/sendMessage`);
  t.equal(
    bodyOf("telegram", openedAlert())["text"],
    `<b>Incident opened: outage at Kraken, Ticker (rest:ticker)</b>

Severity: outage
Venue: Kraken
Component: Ticker (rest:ticker)
Started: 2026-01-31 11:41:06 UTC
Opened: 2026-01-31 11:41:20 UTC

2 of 3 regions with a vote see it bad; 2 are needed: http 7, timeout 7

<b>The venue's own notice:</b> <a href="https://stspg.io/x1b2c3">Degraded REST API</a>
investigating, major, since 2026-01-31 11:40:00 UTC. Nothing tests that it is about the same fault.

<a href="https://api.example.org/incidents/kraken-2026-01-31-rest-outage">The incident with its evidence</a>, event 8123`,
  );
  t.equal(
    bodyOf("telegram", pausedAlert())["text"],
    `<b>Kraken declares withdrawals of USDT on Tron paused</b>

Venue: Kraken
Paused: 2026-01-31 09:10:00 UTC

<b>The venue's words:</b> Delayed sends

<a href="https://api.example.org/venues/kraken#transfers">What the venue declares</a>, event 8124`,
  );
  t.end();
});

void t.test("telegram: words of a venue that look like addresses read as before, and are none", (t) => {
  for (const words of ["evil.example", "t.me/x", "HTTPS://EVIL.EXAMPLE/A", "192.0.2.1", "a@evil.example", "tg://x"]) {
    const text = bodyOf("telegram", alertSaying(words, pausedAlert()))["text"] as string;
    t.notMatch(text.replace(/<a href="[^"]*">/g, ""), words, "as one word");
    t.match(text.replaceAll("\u2060", ""), `The venue's words:</b> ${words}`);
  }
  t.end();
});

void t.test("discord: an opening, a closing, and the end of a pause", (t) => {
  const [embed] = bodyOf("discord", openedAlert())["embeds"] as Embed[];
  t.match(embed, {
    title: "Incident opened\\: outage at Kraken, Ticker \\(rest\\:ticker\\)",
    url: "https://api.example.org/incidents/kraken-2026-01-31-rest-outage",
    timestamp: "2026-01-31T11:41:20.000Z",
    footer: { text: "event 8123" },
    description: /\*\*The venue's own notice:\*\* \[Degraded REST API\]\(https:\/\/stspg\.io\/x1b2c3\)\n/,
  });
  t.match(embed!.fields[3], { name: "Started", value: "<t:1769859666:f>", inline: true });
  const [closed] = bodyOf("discord", closedAlert())["embeds"] as Embed[];
  t.not(closed!.color, embed!.color, "an end has another colour");
  t.match(closed!.fields, [{}, {}, {}, {}, {}, { name: "Ended" }, { name: "Lasted", value: "17 min 54 s" }]);
  const [resumed] = bodyOf("discord", resumedAlert())["embeds"] as Embed[];
  t.match(resumed, { title: "Kraken declares withdrawals of USDT on Tron open again", color: closed!.color });
  t.strictSame(requestOf("discord", openedAlert()).goneStatuses, [404]);
  t.equal(
    formatAlert({ format: "discord", url: `https://d.example${discordPath}?thread_id=7` }, openedAlert(), sent).url
      .search,
    "?thread_id=7&wait=true",
  );
  t.end();
});

void t.test("ntfy: an opening, an end, and a topic without a token", (t) => {
  t.strictSame(bodyOf("ntfy", openedAlert()), {
    topic,
    title: "Incident opened: outage at Kraken, Ticker (rest:ticker)",
    message: `Severity: outage
Venue: Kraken
Component: Ticker (rest:ticker)
Started: 2026-01-31 11:41:06 UTC
Opened: 2026-01-31 11:41:20 UTC
2 of 3 regions with a vote see it bad; 2 are needed: http 7, timeout 7
The venue's own notice: Degraded REST API
investigating, major, since 2026-01-31 11:40:00 UTC. Nothing tests that it is about the same fault.`,
    priority: 5,
    tags: ["rotating_light"],
    click: "https://api.example.org/incidents/kraken-2026-01-31-rest-outage",
  });
  t.match(bodyOf("ntfy", { ...openedAlert(), severity: "degraded" }), { priority: 4 });
  t.match(bodyOf("ntfy", closedAlert()), { priority: 3, tags: ["white_check_mark"] });
  t.match(bodyOf("ntfy", pausedAlert()), { message: /The venue's words: Delayed sends$/ });
  const open = formatAlert({ format: "ntfy", url: "https://ntfy.sh/t", token: null }, openedAlert(), sent);
  t.equal(open.url.href, "https://ntfy.sh/");
  t.equal(open.headers["authorization"], undefined);
  t.end();
});

void t.test("teams: a card says what the chat says, and links the page and the notice", (t) => {
  const { summary, attachments } = bodyOf("teams", openedAlert()) as unknown as CardMessage;
  t.equal(summary, "Incident opened: outage at Kraken, Ticker (rest:ticker)");
  const { body, actions } = attachments[0]!.content as {
    body: { inlines: { text: string }[] }[];
    actions: { title: string; url: string }[];
  };
  t.equal(
    body.map(({ inlines }) => inlines.map(({ text }) => text).join("")).join("\n"),
    `Incident opened: outage at Kraken, Ticker (rest:ticker)
Severity: outage
Venue: Kraken
Component: Ticker (rest:ticker)
Started: 2026-01-31 11:41:06 UTC
Opened: 2026-01-31 11:41:20 UTC
2 of 3 regions with a vote see it bad; 2 are needed: http 7, timeout 7
The venue's own notice: Degraded REST API. investigating, major, since 2026-01-31 11:40:00 UTC. Nothing tests that it is about the same fault.
event 8123`,
  );
  t.match(actions, [
    { title: "The incident with its evidence", url: "https://api.example.org/incidents/kraken-2026-01-31-rest-outage" },
    { title: "The venue's own notice", url: "https://stspg.io/x1b2c3" },
  ]);
  t.end();
});

void t.test("what a service refuses is a failure, and reveals no secret", async (t) => {
  const poster = posterFor(t);
  const refusing = async (to: (service: Service) => WebDestination, check: (typeof services)["ntfy"]["check"]) => {
    const service = await startService(t, check);
    const outcome = await poster.post(formatAlert(to(service), openedAlert(), sent));
    t.notMatch(JSON.stringify(outcome), /AAbotToken|tk_wrong|venuewatch-of|3d89bb/);
    return outcome;
  };
  const token = `1:${"AAbotToken".repeat(3)}`;
  t.match(await refusing(({ origin }) => ({ format: "telegram", url: origin, token, chat: botChat }), telegram), {
    result: "refused",
    status: 401,
  });
  t.match(await refusing(({ origin }) => ({ format: "ntfy", url: `${origin}/${topic}`, token: "tk_wrong" }), ntfy), {
    result: "refused",
    status: 403,
  });
  const deleted = await refusing(
    ({ origin }) => ({ format: "discord", url: `${origin}/api/webhooks/1/3d89bb` }),
    discord,
  );
  t.match(deleted, { result: "refused", status: 404, isGone: true });
});
