import { type Alert, truncated } from "./alert.js";
import { inUtc, type Line, type Message, messageOf, type Mood, type Notice } from "./message.js";
import type { NtfyDestination, Sent, WebhookRequest } from "./webhook-request.js";

/**
 * A message for ntfy, published as JSON to the server's root (docs.ntfy.sh/publish, read in November 2026).
 *
 * - A message of more than 4,096 bytes becomes an attachment, which no phone shows. The bounds below add up to at most
 *   three bytes for each UTF-16 unit of strangers, and stay below.
 * - Texts are plain, as Markdown is off unless it is asked for: nothing is escaped.
 * - A server allows each sender 60 requests at once, and then one in five seconds by default. Its 429 has no
 *   Retry-After.
 */
export function formatNtfyAlert({ url, token }: NtfyDestination, alert: Alert, sent: Sent): WebhookRequest {
  const { origin, pathname } = new URL(url);
  const topic = pathname.slice(1);
  const message = messageOf(alert, sent.baseUrl);
  const body = {
    topic,
    title: truncated(message.headline, 250),
    message: textOf(message),
    priority: priorities[message.mood],
    tags: [tags[message.mood]],
    click: message.link.url,
  };
  return {
    url: new URL(origin),
    headers: {
      "content-type": "application/json",
      "user-agent": sent.userAgent,
      ...(token !== null && { authorization: `Bearer ${token}` }),
    },
    body: Buffer.from(JSON.stringify(body)),
    // all who know the name of a topic may read it and post to it
    secrets: [topic, ...(token === null ? [] : [token])],
  };
}

/** 5 also rings on phones that are set to silence. */
const priorities: Record<Mood, number> = { outage: 5, degraded: 4, paused: 4, over: 3, test: 3 };

/** Names of emojis that ntfy shows before the title. */
const tags: Record<Mood, string> = {
  outage: "rotating_light",
  degraded: "warning",
  paused: "pause_button",
  over: "white_check_mark",
  test: "test_tube",
};

function textOf({ facts, evidence, notices }: Message): string {
  return [
    ...facts.map(({ name, value }) => `${name}: ${written(value, 150)}`),
    ...(evidence === null ? [] : [truncated(evidence, 250)]),
    ...notices.map(noticeText),
  ].join("\n");
}

function noticeText({ name, title, detail }: Notice): string {
  return `${name}: ${truncated(title, 120) || "untitled"}\n${written(detail, 100)}`.trimEnd();
}

function written(line: Line, limit: number): string {
  return line.map((part) => truncated(typeof part === "string" ? part : inUtc(part.at), limit)).join("");
}
