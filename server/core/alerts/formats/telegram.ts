import { type Alert, truncated } from "./alert.js";
import { inUtc, type Line, type Message, messageOf, type Notice, webAddress } from "./message.js";
import type { Sent, TelegramDestination, WebhookRequest } from "./webhook-request.js";

/**
 * A message of a Telegram bot, by the method sendMessage of the Bot API (core.telegram.org/bots/api, read in November
 * 2026).
 *
 * - `text` has 1 to 4096 characters after its entities are parsed, which is less than before. The bounds below add up
 *   to 3,600.
 * - In HTML, `<`, `>` and `&` of texts must be escaped; `"` must be within attributes. A message with other markup is
 *   refused with 400.
 * - Telegram itself makes links of addresses without any markup (`evil.example`, `t.me/x`, `tg://x`), and mentions,
 *   commands, hashtags and cashtags of words: an invisible character after the sign that begins or joins them prevents
 *   that.
 * - A refusal is an HTTP status: 400, 401 for a revoked token, 403 for a bot that was removed from the chat, and 429
 *   with a Retry-After header.
 */
export function formatTelegramAlert(
  { url, token, chat }: TelegramDestination,
  alert: Alert,
  sent: Sent,
): WebhookRequest {
  const body = {
    chat_id: chat,
    text: textOf(messageOf(alert, sent.baseUrl)),
    parse_mode: "HTML",
    link_preview_options: { is_disabled: true },
  };
  return {
    url: new URL(`${url.replace(/\/$/, "")}/bot${token}/sendMessage`),
    headers: { "content-type": "application/json", "user-agent": sent.userAgent },
    body: Buffer.from(JSON.stringify(body)),
    secrets: [token],
  };
}

function textOf({ headline, facts, evidence, notices, link, eventId }: Message): string {
  return [
    `<b>${escapedText(headline, 600)}</b>`,
    facts.map(({ name, value }) => `${name}: ${written(value)}`).join("\n"),
    ...(evidence === null ? [] : [escapedText(evidence, 600) || "–"]),
    ...notices.map(noticeText),
    `${linkText(link.url, link.title)}, event ${eventId}`,
  ].join("\n\n");
}

function noticeText({ name, title, url, detail }: Notice): string {
  return `<b>${escapedText(name, 100)}:</b> ${linkText(url, title)}\n${written(detail)}`.trimEnd();
}

function linkText(address: string | null, title: string): string {
  const shown = escapedText(title, 300) || "untitled";
  const href = webAddress(address, 1000);
  return href === null ? shown : `<a href="${href.replaceAll("&", "&amp;")}">${shown}</a>`;
}

function written(line: Line): string {
  return line.map((part) => escapedText(typeof part === "string" ? part : inUtc(part.at), 200)).join("");
}

const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** U+2060 takes no room, and is part of no address. Not before blanks, where a sentence ends and no link can follow. */
function escapedText(text: string, limit: number): string {
  let before = "";
  return truncated(text, limit, (character) => {
    const isJoined = /[./@#$]/.test(before) && /\S/.test(character);
    before = character;
    return `${isJoined ? "\u2060" : ""}${escapes[character] ?? character}`;
  });
}
