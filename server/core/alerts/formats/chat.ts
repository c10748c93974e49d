import {
  type Alert,
  type AnnouncedMaintenance,
  headline,
  type IncidentAlert,
  isAboutTransfer,
  type OfficialNotice,
  permalinkOf,
  type TransferAlert,
  truncated,
} from "./alert.js";
import type { ChatDestination, Sent, WebhookRequest } from "./webhook-request.js";

/**
 * A message for a Slack incoming webhook. A section may have 3,000 characters, a field of one 2,000. The limit of all
 * text together is not documented; 13,200 characters were refused, and the bounds below add up to half of that.
 *
 * The headline is that of every format (alert.ts). SQL writes the sentence about the regions that see the trouble
 * (sql/board/049-alert-content.sql), because all formats share it.
 */
export function formatChatAlert({ url }: ChatDestination, alert: Alert, sent: Sent): WebhookRequest {
  const message = {
    // shown in notifications, and by clients without blocks
    text: `${escapedText(headline(alert), 600)}. ${beganText(alert)}.`,
    blocks: blocksOf(alert, permalinkOf(alert, sent.baseUrl)),
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
    body: Buffer.from(JSON.stringify(message)),
  };
}

function beganText(alert: Alert): string {
  if (!isAboutTransfer(alert)) return `Started ${inUtc(alert.incident.startedAt)}`;
  const { pausedAt, resumedAt } = alert.transfer;
  return resumedAt === null
    ? `Paused since ${inUtc(pausedAt)}`
    : `Paused from ${inUtc(pausedAt)} to ${inUtc(resumedAt)}`;
}

function blocksOf(alert: Alert, permalink: string) {
  const [name, details] = isAboutTransfer(alert)
    ? ["What the venue declares", transferBlocks(alert)]
    : ["The incident with its evidence", incidentBlocks(alert)];
  return [
    sectionBlock(`*${escapedText(headline(alert), 600)}*`),
    ...details,
    {
      type: "context",
      elements: [verbatimText(linkText(permalink, name)), verbatimText(`event ${alert.eventId}`)],
    },
  ];
}

function transferBlocks({ transfer, venue }: TransferAlert) {
  const { pausedAt, resumedAt, because } = transfer;
  const facts = [
    ["Venue", escapedText(venue.name, 200)],
    ["Paused", dateText(pausedAt)],
    ...(resumedAt === null ? [] : [["Open again", dateText(resumedAt)]]),
  ];
  return [
    fieldsBlock(facts),
    ...(because === null ? [] : [sectionBlock(`*The venue's words:* ${escapedText(because, 600)}`)]),
  ];
}

function incidentBlocks(alert: IncidentAlert) {
  const { incident, evidence } = alert;
  return [
    fieldsBlock(factsOf(alert)),
    ...(evidence ? [sectionBlock(escapedText(evidence.summary, 600) || "–")] : []),
    ...(incident.maintenance ? [sectionBlock(announcementOf(incident.maintenance))] : []),
    ...(incident.official ? [sectionBlock(noticeOf(incident.official))] : []),
  ];
}

function factsOf({ kind, severity, at, incident, venue, component }: IncidentAlert) {
  const { startedAt, closedAt, endedAt, durationSeconds } = incident;
  const decided = {
    opened: "Opened",
    escalated: "Escalated",
    closed: "Closed",
  };
  const facts = [
    ["Severity", severity],
    ["Venue", escapedText(venue.name, 200)],
    ["Component", escapedText(`${component.label} (${component.id})`, 300)],
    ["Started", dateText(startedAt)],
    [decided[kind], dateText(at)],
  ];
  if (kind === "closed" && endedAt !== null) facts.push(["Ended", dateText(endedAt)]);
  if (kind === "closed" && durationSeconds !== null) facts.push(["Lasted", inWords(durationSeconds)]);
  // a delayed alert may be about an incident that has closed
  if (kind !== "closed" && closedAt !== null) facts.push(["Closed since", dateText(closedAt)]);
  return facts;
}

function fieldsBlock(facts: string[][]) {
  return { type: "section", fields: facts.map(([name, value]) => verbatimText(`*${name}*\n${value}`)) };
}

function announcementOf({ title, url, from, until, announcedAt, overran }: AnnouncedMaintenance) {
  const end = until === null ? "with no stated end" : `until ${dateText(until)}`;
  return [
    `*Announced maintenance:* ${linkText(url, title)}`,
    `From ${dateText(from)} ${end}, as we read at ${dateText(announcedAt)}.${overran ? " The incident outlasted it." : ""}`,
  ].join("\n");
}

function noticeOf({ title, url, status, impact, startedAt }: OfficialNotice) {
  const words = [status, ...(impact === null ? [] : [impact])].join(", ");
  return [
    `*The venue's own notice:* ${linkText(url, title)}`,
    `${escapedText(words, 200)}, since ${dateText(startedAt)}. Nothing tests that it is about the same fault.`,
  ].join("\n");
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

/** Only the text where the address is not http(s), or would have to be cut. */
function linkText(address: string | null, text: string): string {
  const shown = escapedText(text, 600) || "untitled";
  if (address === null || !URL.canParse(address)) return shown;
  const { protocol, href: asParsed } = new URL(address);
  if (!/^https?:$/.test(protocol)) return shown;
  // a bar ends the address in Slack's markup, and the URL parser does not escape it
  const href = asParsed.replaceAll("|", "%7C");
  const written = escapedText(href, 1000);
  return written.endsWith("…") ? shown : `<${written}|${shown}>`;
}

/** In the reader's own time zone. */
function dateText(instant: string): string {
  const at = new Date(instant);
  if (Number.isNaN(at.getTime())) return escapedText(instant, 40);
  const unixSeconds = Math.floor(at.getTime() / 1000);
  return `<!date^${unixSeconds}^{date_short_pretty} {time_secs}|${inUtc(instant)}>`;
}

function inUtc(instant: string): string {
  return `${escapedText(instant.slice(0, 19).replace("T", " "), 40)} UTC`;
}

const durationUnits = [
  ["d", 86_400],
  ["h", 3600],
  ["min", 60],
  ["s", 1],
] as const;

/** In the two largest units that are not zero: `18 min 54 s`. */
function inWords(seconds: number): string {
  const parts: string[] = [];
  let rest = seconds;
  for (const [unit, size] of durationUnits) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(`${count} ${unit}`);
  }
  return parts.slice(0, 2).join(" ") || "0 s";
}
