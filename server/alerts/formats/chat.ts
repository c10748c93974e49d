import type { Alert, OfficialNotice } from "./alert.js";
import { bounded } from "../delivery/bounded.js";
import { inWords } from "../delivery/duration.js";
import { headline } from "./headline.js";
import type { ChatDestination, WebhookRequest, Sent } from "./webhook-request.js";
import { permalinkOf } from "./permalink.js";

/**
 * A message for an incoming webhook of Slack's. Sections take 3,000 characters, their fields 2,000; all text together
 * is not documented, and 13,200 characters were refused: the bounds below add up to half of that.
 */
export function formatChatAlert({ url }: ChatDestination, alert: Alert, sent: Sent): WebhookRequest {
  const message = {
    // what notifications show, and clients without blocks
    text: `${escaped(headline(alert), 600)}. Started ${inUtc(alert.incident.startedAt)}.`,
    blocks: blocksOf(alert, permalinkOf(alert, sent.baseUrl)),
    unfurl_links: false,
    unfurl_media: false,
  };
  return {
    url: new URL(url),
    // the address is the credential: nothing is signed
    headers: {
      "content-type": "application/json",
      "user-agent": sent.userAgent,
    },
    body: Buffer.from(JSON.stringify(message)),
  };
}

function blocksOf(alert: Alert, permalink: string) {
  const { eventId, incident, evidence } = alert;
  return [
    section(`*${escaped(headline(alert), 600)}*`),
    { type: "section", fields: factsOf(alert).map(marked) },
    ...(evidence ? [section(escaped(evidence.summary, 600) || "–")] : []),
    ...(incident.official ? [section(noticeOf(incident.official))] : []),
    {
      type: "context",
      elements: [marked(link(permalink, "The incident with its evidence")), marked(`event ${eventId}`)],
    },
  ];
}

function factsOf({ kind, severity, at, incident, venue, component }: Alert) {
  const { startedAt, closedAt, endedAt, durationSeconds } = incident;
  const decided = {
    opened: "Opened",
    escalated: "Escalated",
    closed: "Closed",
  };
  const facts = [
    ["Severity", severity],
    ["Venue", escaped(venue.name, 200)],
    ["Component", escaped(`${component.label} (${component.id})`, 300)],
    ["Started", moment(startedAt)],
    [decided[kind], moment(at)],
  ];
  if (kind === "closed" && endedAt !== null) facts.push(["Ended", moment(endedAt)]);
  if (kind === "closed" && durationSeconds !== null) facts.push(["Lasted", inWords(durationSeconds)]);
  // an alert that waited may tell of what is over
  if (kind !== "closed" && closedAt !== null) facts.push(["Closed since", moment(closedAt)]);
  return facts.map(([name, value]) => `*${name}*\n${value}`);
}

function noticeOf({ title, url, status, impact, startedAt }: OfficialNotice) {
  const words = [status, ...(impact === null ? [] : [impact])].join(", ");
  return [
    `*The venue's own notice:* ${link(url, title)}`,
    `${escaped(words, 200)}, since ${moment(startedAt)}. Nothing tests that it is about the same fault.`,
  ].join("\n");
}

/** Not a header block: of a text in its plain form nobody documents whether it is to be escaped. */
function section(text: string) {
  return { type: "section", text: marked(text) };
}

/** Verbatim: nothing becomes a link or a mention but what is marked as one. */
function marked(text: string) {
  return { type: "mrkdwn", text, verbatim: true };
}

const escapes: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
};

/** These three and no others: unescaped, `<!channel>` in a title would call everybody. */
function escaped(text: string, limit: number): string {
  return bounded(text, limit, (character) => escapes[character] ?? character);
}

/** The text alone where the address is none of the web's, or too long to be kept whole. */
function link(address: string | null, text: string): string {
  const shown = escaped(text, 600) || "untitled";
  if (address === null || !URL.canParse(address)) return shown;
  const { protocol, href: asParsed } = new URL(address);
  if (!/^https?:$/.test(protocol)) return shown;
  // the bar ends an address here, and URLs leave it as it is
  const href = asParsed.replaceAll("|", "%7C");
  const written = escaped(href, 1000);
  return written.endsWith("…") ? shown : `<${written}|${shown}>`;
}

/** In the reader's own time zone. */
function moment(instant: string): string {
  const at = new Date(instant);
  if (Number.isNaN(at.getTime())) return escaped(instant, 40);
  const unixSeconds = Math.floor(at.getTime() / 1000);
  return `<!date^${unixSeconds}^{date_short_pretty} {time_secs}|${inUtc(instant)}>`;
}

function inUtc(instant: string): string {
  return `${escaped(instant.slice(0, 19).replace("T", " "), 40)} UTC`;
}
