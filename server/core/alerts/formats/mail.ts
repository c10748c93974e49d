import { type Alert, truncated } from "./alert.js";
import { inUtc, type Line, type Message, messageOf, type Notice, webAddress } from "./message.js";
import { keyOf } from "./paging.js";
import type { MailDestination, MailRequest, Sent } from "./webhook-request.js";

/**
 * An e-mail in plain text, so that nothing has to be escaped. A text of strangers has no line breaks, so it ends
 * neither the subject nor a line of the body. Encodings and the length of lines are the mailer's.
 */
export function formatMailAlert({ server, from, to }: MailDestination, alert: Alert, sent: Sent): MailRequest {
  const message = messageOf(alert, sent.baseUrl);
  const { hostname } = new URL(sent.baseUrl);
  const event = alert.test ? `test-${sent.deliveryId}` : `event-${alert.eventId}`;
  return {
    ...{ server, from, to },
    subject: truncated(message.headline, 250),
    text: textOf(message),
    date: sent.at,
    messageId: `<venuewatch.${event}@${hostname}>`,
    threadId: `<${keyOf(alert, sent).replaceAll("/", ".")}@${hostname}>`,
  };
}

function textOf({ headline, facts, evidence, notices, link, eventId }: Message): string {
  return [
    truncated(headline, 600),
    facts.map(({ name, value }) => `${name}: ${written(value)}`).join("\n"),
    ...(evidence === null ? [] : [truncated(evidence, 1000)]),
    ...notices.map(noticeText),
    `${link.title}:\n${link.url}`,
    `event ${eventId}\n`,
  ].join("\n\n");
}

function noticeText({ name, title, url, detail }: Notice): string {
  const address = webAddress(url, 1000);
  return [
    `${name}: ${truncated(title, 600) || "untitled"}`,
    ...(detail.length > 0 ? [written(detail)] : []),
    ...(address === null ? [] : [address]),
  ].join("\n");
}

function written(line: Line): string {
  return line.map((part) => truncated(typeof part === "string" ? part : inUtc(part.at), 300)).join("");
}
