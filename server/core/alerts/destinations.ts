/** Where a channel leads: what an operator gives, checked and written as one text to encrypt, and read again. */
import { UserError } from "../../../shared/process/user-error.js";
import type { Destination, Format, MailServer, ServiceRegion } from "./formats/webhook-request.js";
import { problemOfMailUrl, problemOfUrl } from "./receiver-url.js";
import type { Sealing } from "./sealing.js";
import { problemOfEndUrl, problemOfTemplate } from "./template-check.js";
import { filledUrl } from "./formats/template.js";

/** What an operator gives, by the options of `channel add`. */
export interface Given {
  url?: string | undefined;
  key?: string | undefined;
  to?: string | undefined;
  from?: string | undefined;
  template?: string | undefined;
  "end-url"?: string | undefined;
  "end-template"?: string | undefined;
}

export type GivenOption = keyof Given;

/** The options that a format takes; the first is the credential, or contains it. */
export const givenOptions: Record<Format, { needs: readonly GivenOption[]; may?: readonly GivenOption[] }> = {
  native: { needs: ["url"] },
  chat: { needs: ["url"] },
  paging: { needs: ["key"] },
  telegram: { needs: ["key", "to"], may: ["url"] },
  discord: { needs: ["url"] },
  ntfy: { needs: ["url"], may: ["key"] },
  teams: { needs: ["url"] },
  template: { needs: ["url", "template"], may: ["key", "end-url", "end-template"] },
  mail: { needs: ["url", "from", "to"] },
};

/** All that is needed to send to a channel. */
export interface Credential {
  /** Secret: it is all that is needed to post there. */
  text: string;
  /** The part that may be shown. */
  shownAs: string;
}

/** An option that cannot be used. The message has what was expected and what came, and never contains a credential. */
export class GivenError extends UserError {
  constructor(
    readonly option: GivenOption,
    problem: string,
  ) {
    super(problem);
  }
}

/**
 * @param first the credential, which is the first option of `givenOptions`
 * @param more the other options
 * @throws GivenError
 */
export function credentialOf(format: Format, first: string, allowLoopback: boolean, more: Given = {}): Credential {
  const urlOf = (option: GivenOption, text: string) => checked(option, text, problemOfUrl(text, allowLoopback));
  switch (format) {
    case "native":
    case "chat":
    case "discord":
    case "teams":
      return { text: urlOf("url", first), shownAs: shownUrl(first) };
    case "paging":
      return { text: checked("key", first, problemOfRoutingKey(first)), shownAs: `…${first.slice(-4)}` };
    case "telegram": {
      const url = urlOf("url", more.url ?? telegramUrl);
      const token = checked("key", first, problemOfBotToken(first));
      const to = checked("to", more.to!, problemOfChat(more.to!));
      return { text: JSON.stringify({ url, token, chat: to }), shownAs: `${to} at ${new URL(url).host}` };
    }
    case "ntfy": {
      const url = checked("url", urlOf("url", first), problemOfTopic(first));
      const token = more.key === undefined ? null : checked("key", more.key, problemOfHeader(more.key));
      return { text: JSON.stringify({ url, token }), shownAs: shownUrl(first) };
    }
    case "template": {
      const template = checked("template", more.template!, problemOfTemplate(more.template!));
      const end = more["end-template"];
      const endUrl = more["end-url"];
      if (end !== undefined) checked("end-template", end, problemOfTemplate(end));
      if (endUrl !== undefined)
        checked("end-url", endUrl, problemOfEndUrl(endUrl) ?? problemOfUrl(filledUrl(endUrl, "key"), allowLoopback));
      const authorization = more.key === undefined ? null : checked("key", more.key, problemOfHeader(more.key));
      const parts = { url: urlOf("url", first), authorization, template };
      const text = JSON.stringify({ ...parts, endUrl: endUrl ?? null, endTemplate: end ?? null });
      return { text, shownAs: shownUrl(first) };
    }
    case "mail": {
      const url = checked("url", first, problemOfMailUrl(first, allowLoopback));
      const from = checked("from", more.from!, problemOfMailbox(more.from!));
      const to = checked("to", more.to!, problemOfMailbox(more.to!));
      return { text: JSON.stringify({ url, from, to }), shownAs: `${to} by ${mailServerOf(url).host}` };
    }
  }
}

function checked(option: GivenOption, text: string, problem: string | null): string {
  if (problem !== null) throw new GivenError(option, problem);
  return text;
}

/** The origin and the end of an address. */
function shownUrl(url: string): string {
  const { origin, pathname, search } = new URL(url);
  const path = pathname + search;
  // four characters of a short one would give away too much
  const end = path.length < 12 ? "" : path.slice(-4);
  return `${origin}/…${end}`;
}

function problemOfRoutingKey(text: string): string | null {
  if (/^[!-~]{32}$/.test(text)) return null;
  return `expected a routing key of 32 characters, got ${text.length === 32 ? "one with other than visible ASCII characters" : text.length}; the paging service shows it with the integration "Events API v2"`;
}

const telegramUrl = "https://api.telegram.org";

function problemOfBotToken(text: string): string | null {
  if (/^\d{1,20}:[\w-]{20,100}$/.test(text)) return null;
  return "expected a bot's token such as 123456:ABC…, got something else; @BotFather shows it";
}

function problemOfChat(text: string): string | null {
  if (/^(-?\d{1,20}|@[A-Za-z]\w{3,31})$/.test(text)) return null;
  return "expected a chat's number such as -1001234567890, or a public name such as @channel, got something else";
}

function problemOfTopic(url: string): string | null {
  const { pathname, search } = new URL(url);
  if (search === "" && /^\/[-\w]{1,64}$/.test(pathname)) return null;
  return "expected a topic of 1 to 64 letters, digits, - and _ after the host, such as https://ntfy.sh/topic, got something else";
}

function problemOfHeader(text: string): string | null {
  if (/^[!-~]([ -~]{0,998}[!-~])?$/.test(text)) return null;
  return "expected at most 1000 printable ASCII characters, got something else";
}

/** Without comments, quotes and a name, which no server needs. */
const mailbox = /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63}$/;

function problemOfMailbox(text: string): string | null {
  if (text.length <= 254 && mailbox.test(text)) return null;
  return "expected one address such as alerts@example.com, got something else";
}

/** @param url one that `problemOfMailUrl` accepts */
function mailServerOf(url: string): MailServer {
  const { protocol, port, username, password } = new URL(url);
  const isImplicitTls = protocol === "smtps:";
  return {
    // only in addresses of the web does a parser write a host in one way
    host: new URL(url.replace(/^smtps?:/, "https:")).hostname.replace(/^\[(.*)\]$/, "$1"),
    port: port === "" ? (isImplicitTls ? 465 : 587) : Number(port),
    isImplicitTls,
    login: username === "" ? null : { user: decodeURIComponent(username), password: decodeURIComponent(password) },
  };
}

/** Columns of a channel that was not removed, as queries such as channel_destination.sql return them. */
export interface SealedDestination {
  format: Format;
  /** Set for the paging format. */
  service_region: ServiceRegion | null;
  destination: Buffer;
  /** Set for the native format. */
  secret: Buffer | null;
  /** Null once its overlap is over. */
  former_secret: Buffer | null;
}

/** @throws UserError when it was encrypted with another key */
export function openDestination(sealed: SealedDestination, sealing: Sealing): Destination {
  const text = sealing.open(sealed.destination, "destination");
  const secrets = [sealed.secret, sealed.former_secret].flatMap((secret) =>
    secret === null ? [] : sealing.open(secret, "secret"),
  );
  const { format } = sealed;
  switch (format) {
    case "native":
      return { format, url: text, secrets };
    case "chat":
    case "discord":
    case "teams":
      return { format, url: text };
    case "paging":
      return { format, serviceRegion: sealed.service_region!, routingKey: text };
    case "telegram":
    case "ntfy":
    case "template":
      return { format, ...JSON.parse(text) } as Destination;
    case "mail": {
      const { url, from, to } = JSON.parse(text) as { url: string; from: string; to: string };
      return { format, server: mailServerOf(url), from, to };
    }
  }
}
