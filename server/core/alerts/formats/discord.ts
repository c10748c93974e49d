import { type Alert, truncated } from "./alert.js";
import { inUtc, type Line, type Message, messageOf, type Mood, type Notice, webAddress } from "./message.js";
import type { DiscordDestination, Sent, WebhookRequest } from "./webhook-request.js";

/**
 * A message for a Discord webhook (docs.discord.com, pages "Webhook", "Message", "Rate limits" and "Message
 * formatting", read in November 2026).
 *
 * - An embed has a title of at most 256 characters, a description of 4096, 25 fields with names of 256 and values of
 *   1024, none of them blank, and 6000 in total. The bounds below add up to 5,000.
 * - Text is Markdown, in which a backslash escapes any punctuation. `allowed_mentions` without a kind notifies nobody.
 * - `wait` makes Discord answer after it has stored the message: without it, one that it drops is answered 204, too.
 * - 429 has a Retry-After header. A webhook that was deleted answers 404, and must not be used again.
 */
export function formatDiscordAlert({ url }: DiscordDestination, alert: Alert, sent: Sent): WebhookRequest {
  const to = new URL(url);
  to.searchParams.set("wait", "true");
  const body = {
    embeds: [embedOf(messageOf(alert, sent.baseUrl), alert.at)],
    allowed_mentions: { parse: [] },
  };
  return {
    url: to,
    // no signature: the URL is the credential
    headers: { "content-type": "application/json", "user-agent": sent.userAgent },
    body: Buffer.from(JSON.stringify(body)),
    goneStatuses: [404],
  };
}

const colours: Record<Mood, number> = {
  outage: 0xc62828,
  degraded: 0xef8f00,
  paused: 0xef8f00,
  over: 0x2e7d32,
  test: 0x5f6368,
};

function embedOf({ headline, mood, facts, evidence, notices, link, eventId }: Message, at: string) {
  return {
    title: escapedText(headline, 256),
    url: link.url,
    color: colours[mood],
    description: [...(evidence === null ? [] : [escapedText(evidence, 600)]), ...notices.map(noticeText)].join("\n\n"),
    fields: facts.map(({ name, value }) => ({ name, value: written(value).trim() || "–", inline: true })),
    footer: { text: `event ${eventId}` },
    timestamp: at,
  };
}

function noticeText({ name, title, url, detail }: Notice): string {
  return `**${name}:** ${linkText(url, title)}\n${written(detail)}`.trimEnd();
}

/** A bracket would end the address, and the URL parser does not escape it. */
function linkText(address: string | null, title: string): string {
  const shown = escapedText(title, 300).trim() || "untitled";
  const href = webAddress(address, 500)?.replaceAll("(", "%28").replaceAll(")", "%29");
  return href === undefined ? shown : `[${shown}](${href})`;
}

function written(line: Line): string {
  return line.map((part) => (typeof part === "string" ? escapedText(part, 250) : dateText(part.at))).join("");
}

/** In the reader's own time zone. */
function dateText(instant: string): string {
  const unixSeconds = Math.floor(Date.parse(instant) / 1000);
  return Number.isNaN(unixSeconds) ? escapedText(inUtc(instant), 100) : `<t:${unixSeconds}:f>`;
}

/** All punctuation that Discord's Markdown, mentions, timestamps and addresses consist of. */
const punctuation = /^[\\`*_~|<>@#:[\]()+.\-/]$/;

function escapedText(text: string, limit: number): string {
  return truncated(text, limit, (character) => (punctuation.test(character) ? `\\${character}` : character));
}
