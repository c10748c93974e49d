/** Servers on this machine that accept and refuse messages as the services do, by their documentation. */
import type { Test } from "tap";
import type { ReceivedAlert, Receiver } from "../../world/receivers.js";
import { receiverFor } from "./alerting.js";

export interface Service extends Receiver {
  /** Why it refused, oldest first. */
  refusals: string[];
}

type Check = (arrival: Omit<ReceivedAlert, "reaction">) => number;

class Refusal extends Error {
  constructor(
    readonly status: number,
    reason: string,
  ) {
    super(`${status}: ${reason}`);
  }
}

/** @param check the status with which to answer; throws a refusal */
export async function startService(t: Test, check: Check): Promise<Service> {
  const refusals: string[] = [];
  const receiver = await receiverFor(t, (arrival) => {
    try {
      return { status: check(arrival) };
    } catch (error) {
      refusals.push((error as Error).message);
      return { status: error instanceof Refusal ? error.status : 500 };
    }
  });
  return { ...receiver, refusals };
}

function expect(condition: boolean, status: number, reason: string): asserts condition {
  if (!condition) throw new Refusal(status, reason);
}

function jsonOf({ headers, body }: Pick<ReceivedAlert, "headers" | "body">): Record<string, unknown> {
  expect(headers["content-type"] === "application/json", 415, "no JSON");
  return JSON.parse(body.toString()) as Record<string, unknown>;
}

/** A string of characters that are whole, within its limits after blanks are removed. */
function isText(value: unknown, least: number, most: number): value is string {
  if (typeof value !== "string" || /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(value))
    return false;
  const { length } = value.trim();
  return length >= least && length <= most;
}

const isWebAddress = (value: unknown) => typeof value === "string" && /^https?:\/\/[^\s"<>]+$/.test(value);

function onlyHas(value: object, names: readonly string[]): void {
  const other = Object.keys(value).find((name) => !names.includes(name));
  expect(other === undefined, 400, `unknown field ${other}`);
}

// Telegram

export const botToken = "123456789:AAbotTokenOfTheTests_0123456789-abc";
export const botChat = "-1001234567890";

export const telegram: Check = (arrival) => {
  expect(arrival.path === `/bot${botToken}/sendMessage`, arrival.path.startsWith("/bot") ? 401 : 404, "Unauthorized");
  const message = jsonOf(arrival);
  onlyHas(message, ["chat_id", "text", "parse_mode", "link_preview_options"]);
  expect(message["chat_id"] === botChat, 400, "chat not found");
  expect(message["parse_mode"] === "HTML" && typeof message["text"] === "string", 400, "message text is empty");
  expect(isText(telegramText(message["text"]), 1, 4096), 400, "message is too long");
  return 200;
};

const telegramPiece = /<(?:(b|a)((?: href="[^"<>]*")?)|\/(b|a))>|&(lt|gt|amp|quot);|[^<>&]+|[<>&]/gy;
const entities: Record<string, string> = { lt: "<", gt: ">", amp: "&", quot: '"' };

/** The text of Telegram's HTML as it is shown. */
export function telegramText(html: string): string {
  const open: string[] = [];
  let shown = "";
  for (const [piece, begins, attribute, ends, entity] of html.matchAll(telegramPiece)) {
    expect(!/^[<>&]$/.test(piece), 400, `can't parse entities: ${piece}`);
    if (begins !== undefined) {
      expect((begins === "a") === (attribute !== ""), 400, "can't parse entities: attribute");
      open.push(begins);
    } else if (ends !== undefined) expect(open.pop() === ends, 400, `can't parse entities: </${ends}>`);
    else shown += entity === undefined ? piece : entities[entity]!;
  }
  expect(open.length === 0, 400, "can't parse entities: no end tag");
  return shown;
}

// Discord

export interface Embed {
  title: string;
  description: string;
  url: string;
  timestamp: string;
  color: number;
  footer: { text: string };
  fields: { name: string; value: string; inline: boolean }[];
}

export const discordPath =
  "/api/webhooks/223704706495545344/3d89bb7572e0fb30d8128367b3b1b44fecd1726de135cbe28a41f8b2f777";

export const discord: Check = (arrival) => {
  const { pathname, searchParams } = new URL(arrival.path, "http://discord");
  expect(pathname === discordPath, 404, "Unknown Webhook");
  expect(searchParams.get("wait") === "true", 400, "without wait, a message that is not saved is no error");
  const message = jsonOf(arrival);
  onlyHas(message, ["embeds", "allowed_mentions"]);
  expect(JSON.stringify(message["allowed_mentions"]) === '{"parse":[]}', 400, "somebody is mentioned");
  const [embed, ...more] = message["embeds"] as Embed[];
  expect(embed !== undefined && more.length === 0, 400, "Cannot send an empty message");
  onlyHas(embed, ["title", "description", "url", "timestamp", "color", "footer", "fields"]);
  const { title, description, footer, fields } = embed;
  expect(isText(title, 1, 256) && isText(description, 0, 4096) && isText(footer.text, 1, 2048), 400, "a text's length");
  expect(fields.length <= 25, 400, "too many fields");
  for (const { name, value } of fields) expect(isText(name, 1, 256) && isText(value, 1, 1024), 400, "a field's length");
  const texts = [title, description, footer.text, ...fields.flatMap(({ name, value }) => [name, value])];
  expect(texts.join("").length <= 6000, 400, "Embed size exceeds maximum size of 6000");
  expect(isWebAddress(embed.url) && !Number.isNaN(Date.parse(embed.timestamp)), 400, "Not a well formed URL");
  expect(Number.isInteger(embed.color) && embed.color >= 0 && embed.color <= 0xffffff, 400, "a colour");
  return 200;
};

// ntfy

export const topic = "venuewatch-of-the-tests";
export const accessToken = "tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2";

export const ntfy: Check = (arrival) => {
  expect(arrival.path === "/", 400, "JSON is published to the root");
  expect(arrival.headers.authorization === `Bearer ${accessToken}`, 403, "forbidden");
  const message = jsonOf(arrival);
  onlyHas(message, ["topic", "title", "message", "priority", "tags", "click"]);
  const { priority, tags, click, title } = message;
  expect(message["topic"] === topic, 404, "page not found");
  expect(isText(title, 1, 1000), 400, "a title");
  expect(isText(message["message"], 1, 4096) && Buffer.byteLength(message["message"]) <= 4096, 413, "an attachment");
  expect([1, 2, 3, 4, 5].includes(priority as number), 400, "priority invalid");
  expect(Array.isArray(tags) && tags.every((tag) => /^[a-z_]+$/.test(String(tag))), 400, "tags invalid");
  expect(isWebAddress(click), 400, "click invalid");
  return 200;
};

// Microsoft Teams. The card itself is for Microsoft's parser.

export interface CardMessage {
  type: string;
  summary: string;
  attachments: { contentType: string; contentUrl: null; content: Record<string, unknown> }[];
}

export const teamsPath =
  "/workflows/0a1b2c3d4e5f/triggers/manual/paths/invoke?api-version=2016-06-01&sig=0123456789abcdef";

export const teams: Check = (arrival) => {
  expect(arrival.path === teamsPath, 401, "sig");
  expect(arrival.body.length <= 28 * 1024, 413, "Request Entity too large");
  const message = jsonOf(arrival) as unknown as CardMessage;
  onlyHas(message, ["type", "summary", "attachments"]);
  const [attachment, ...more] = message.attachments;
  expect(message.type === "message" && attachment !== undefined && more.length === 0, 400, "attachments");
  expect(attachment.contentType === "application/vnd.microsoft.card.adaptive", 400, "contentType");
  return 202;
};

// Opsgenie

export const genieKey = "GenieKey 0f1e2d3c-0000-4444-8888-0123456789ab";

/** An alert stays open until it is closed by its alias. */
export function makeOpsgenie(): { check: Check; open: Set<string> } {
  const open = new Set<string>();
  const check: Check = (arrival) => {
    expect(arrival.headers.authorization === genieKey, 401, "Could not authenticate");
    const alert = jsonOf(arrival);
    const [, closed] = /^\/v2\/alerts\/([^/?]+)\/close\?identifierType=alias$/.exec(arrival.path) ?? [];
    if (closed !== undefined) {
      expect(open.delete(decodeURIComponent(closed)), 404, "Alert does not exist");
      onlyHas(alert, ["source", "note"]);
      return 202;
    }
    expect(arrival.path === "/v2/alerts", 404, "Not found");
    const { message, alias, description, priority, details } = alert;
    expect(isText(message, 1, 130), 422, "message must be within 130 characters");
    expect(isText(alias, 1, 512) && isText(description, 0, 15_000), 422, "a text's length");
    expect(/^P[1-5]$/.test(String(priority)), 422, "priority");
    expect(
      Object.values(details ?? {}).every((value) => typeof value === "string"),
      422,
      "details",
    );
    open.add(alias);
    return 202;
  };
  return { check, open };
}
