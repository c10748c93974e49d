import { type Alert, truncated } from "./alert.js";
import { inUtc, type Line, type Message, messageOf, type Notice, webAddress } from "./message.js";
import type { ChatDestination, Sent, WebhookRequest } from "./webhook-request.js";

/**
 * A message for a Slack incoming webhook. A section may have 3,000 characters, a field of one 2,000. The limit of all
 * text together is not documented; 13,200 characters were refused, and the bounds below add up to half of that.
 */
export function formatChatAlert({ url }: ChatDestination, alert: Alert, sent: Sent): WebhookRequest {
  const message = messageOf(alert, sent.baseUrl);
  const body = {
    // shown in notifications, and by clients without blocks
    text: `${escapedText(message.headline, 600)}. ${written(message.began, utcText)}.`,
    blocks: blocksOf(message),
    unfurl_links: false,
    unfurl_media: false,
  };
  return {
    url: new URL(url),
    // no signature: the URL is the credential
    headers: {
      "content-type": "application/json",
      "user-agent": sent.userAgent,
    },
    body: Buffer.from(JSON.stringify(body)),
  };
}

function blocksOf({ headline, facts, evidence, notices, link, eventId }: Message) {
  return [
    sectionBlock(`*${escapedText(headline, 600)}*`),
    { type: "section", fields: facts.map(({ name, value }) => verbatimText(`*${name}*\n${written(value)}`)) },
    ...(evidence === null ? [] : [sectionBlock(escapedText(evidence, 600) || "–")]),
    ...notices.map((notice) => sectionBlock(noticeText(notice))),
    {
      type: "context",
      elements: [verbatimText(linkText(link.url, link.title)), verbatimText(`event ${eventId}`)],
    },
  ];
}

function noticeText({ name, title, url, detail }: Notice): string {
  return [`*${name}:* ${linkText(url, title)}`, ...(detail.length > 0 ? [written(detail)] : [])].join("\n");
}

/** Not a header block: it takes plain text, and whether that needs escaping is not documented. */
function sectionBlock(text: string) {
  return { type: "section", text: verbatimText(text) };
}

/** Verbatim: only explicit markup becomes a link or a mention. */
function verbatimText(text: string) {
  return { type: "mrkdwn", text, verbatim: true };
}

const slackEscapes: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
};

/** Slack requires exactly these three escapes: unescaped, `<!channel>` in a title would notify everybody. */
function escapedText(text: string, limit: number): string {
  return truncated(text, limit, (character) => slackEscapes[character] ?? character);
}

function written(line: Line, dateText = localDateText): string {
  return line.map((part) => (typeof part === "string" ? escapedText(part, 300) : dateText(part.at))).join("");
}

/** Only the text where the address is not http(s), or would have to be cut. */
function linkText(address: string | null, text: string): string {
  const shown = escapedText(text, 600) || "untitled";
  // a bar ends the address in Slack's markup, and the URL parser does not escape it
  const href = webAddress(address, 1000)?.replaceAll("|", "%7C") ?? null;
  if (href === null) return shown;
  const escaped = escapedText(href, 1000);
  return escaped.endsWith("…") ? shown : `<${escaped}|${shown}>`;
}

/** In the reader's own time zone. */
function localDateText(instant: string): string {
  const at = new Date(instant);
  if (Number.isNaN(at.getTime())) return utcText(instant);
  const unixSeconds = Math.floor(at.getTime() / 1000);
  return `<!date^${unixSeconds}^{date_short_pretty} {time_secs}|${utcText(instant)}>`;
}

function utcText(instant: string): string {
  return escapedText(inUtc(instant), 44);
}
