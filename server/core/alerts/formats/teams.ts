import { type Alert, truncated } from "./alert.js";
import { inUtc, type Line, type Message, messageOf, type Mood, type Notice, webAddress } from "./message.js";
import type { Sent, TeamsDestination, WebhookRequest } from "./webhook-request.js";

/**
 * A message with an Adaptive Card for a workflow of Microsoft Teams that begins "When a Teams webhook request is
 * received" (learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors, and /adaptive-cards/schema-explorer,
 * read in November 2026).
 *
 * - The message may have 28 KB. The bounds below add up to 7,000 UTF-16 units, which are 21 KB at the most.
 * - Only runs of text are used: other elements of a card read their text as Markdown, runs do not.
 * - More than four requests in a second are throttled. 202 says that the workflow has the request, not that Teams has
 *   shown it.
 */
export function formatTeamsAlert({ url }: TeamsDestination, alert: Alert, sent: Sent): WebhookRequest {
  const message = messageOf(alert, sent.baseUrl);
  const body = {
    type: "message",
    // shown in notifications
    summary: truncated(message.headline, 250),
    attachments: [
      { contentType: "application/vnd.microsoft.card.adaptive", contentUrl: null, content: cardOf(message) },
    ],
  };
  return {
    url: new URL(url),
    // no signature: the URL is the credential
    headers: { "content-type": "application/json", "user-agent": sent.userAgent },
    body: Buffer.from(JSON.stringify(body)),
  };
}

const colours: Record<Mood, string> = {
  outage: "attention",
  degraded: "warning",
  paused: "warning",
  over: "good",
  test: "default",
};

function cardOf(message: Message) {
  const { headline, mood, facts, evidence, notices, link } = message;
  return {
    $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
    type: "AdaptiveCard",
    // the newest that Teams shows on phones
    version: "1.4",
    msteams: { width: "Full" },
    body: [
      paragraph({ ...run(headline, 600), weight: "bolder", size: "medium", color: colours[mood] }),
      ...facts.map(({ name, value }) => paragraph(bold(`${name}: `), ...runs(value))),
      ...(evidence === null ? [] : [paragraph(run(evidence, 600))]),
      ...notices.map(({ name, title, detail }) =>
        paragraph(
          bold(`${name}: `),
          run(title || "untitled", 600),
          ...(detail.length > 0 ? [run(". ", 2)] : []),
          ...runs(detail),
        ),
      ),
      paragraph({ ...run(`event ${message.eventId}`, 100), isSubtle: true, size: "small" }),
    ],
    actions: [openAction(link.title, link.url), ...notices.flatMap(noticeActions)],
  };
}

function noticeActions({ name, url }: Notice) {
  const address = webAddress(url, 1000);
  return address === null ? [] : [openAction(name, address)];
}

function openAction(title: string, url: string) {
  return { type: "Action.OpenUrl", title, url };
}

function paragraph(...inlines: object[]) {
  return { type: "RichTextBlock", inlines };
}

function runs(line: Line) {
  return line.map((part) => run(typeof part === "string" ? part : inUtc(part.at), 300));
}

function bold(text: string) {
  return { ...run(text, 100), weight: "bolder" };
}

/** A run without text is invalid. */
function run(text: string, limit: number) {
  return { type: "TextRun", text: truncated(text, limit) || "–" };
}
