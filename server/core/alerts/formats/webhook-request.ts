/** The first three are those of the API's contract. */
export const alertFormats = [
  ...(["native", "chat", "paging"] as const),
  ...(["telegram", "discord", "ntfy", "teams", "template", "mail"] as const),
];

export type Format = (typeof alertFormats)[number];

export const serviceRegions = ["us", "eu"] as const;

export type ServiceRegion = (typeof serviceRegions)[number];

/** One POST, ready to send. The body must be sent unchanged: the signatures cover these bytes. */
export interface WebhookRequest {
  url: URL;
  headers: Record<string, string>;
  body: Buffer;
  /** Secrets outside the URL, which must not be stored even where a receiver echoes them. */
  secrets?: readonly string[];
  /** Besides 410: statuses that say that the receiver is gone for good. */
  goneStatuses?: readonly number[];
}

/** One e-mail, ready to send. */
export interface MailRequest {
  server: MailServer;
  from: string;
  to: string;
  subject: string;
  text: string;
  date: Date;
  /** The same in each attempt and replay, so that a mailbox recognises a duplicate. */
  messageId: string;
  /** Of all e-mails about one incident, so that a reader shows them together. */
  threadId: string;
}

/** Where e-mails are handed over for delivery. */
export interface MailServer {
  host: string;
  port: number;
  /** TLS from the first byte; otherwise the connection is upgraded by STARTTLS. */
  isImplicitTls: boolean;
  /** Null: the server takes e-mails without it. */
  login: { user: string; password: string } | null;
}

export type AlertRequest = WebhookRequest | MailRequest;

export type Destination =
  | NativeDestination
  | ChatDestination
  | PagingDestination
  | TelegramDestination
  | DiscordDestination
  | NtfyDestination
  | TeamsDestination
  | TemplateDestination
  | MailDestination;

export interface NativeDestination {
  format: "native";
  url: string;
  /** Newest first; two during a rotation. */
  secrets: readonly string[];
}

/** The URL is the credential. */
export interface ChatDestination {
  format: "chat";
  url: string;
}

export interface PagingDestination {
  format: "paging";
  serviceRegion: ServiceRegion;
  /** The credential. */
  routingKey: string;
}

export interface TelegramDestination {
  format: "telegram";
  /** The server of the Bot API. */
  url: string;
  /** The credential. */
  token: string;
  /** A number, or the name of a public channel or group with `@`. */
  chat: string;
}

/** The URL is the credential. */
export interface DiscordDestination {
  format: "discord";
  url: string;
}

export interface NtfyDestination {
  format: "ntfy";
  /** The server's address, followed by the topic. */
  url: string;
  /** Null: anybody may post to the topic who knows it. */
  token: string | null;
}

/** The URL is the credential. */
export interface TeamsDestination {
  format: "teams";
  url: string;
}

export interface TemplateDestination {
  format: "template";
  url: string;
  /** Value of the header `authorization`; null: none. */
  authorization: string | null;
  /** JSON with placeholders. */
  template: string;
  /** For alerts of an end, where they differ; the URL may contain the placeholder of the key. */
  endUrl: string | null;
  endTemplate: string | null;
}

export interface MailDestination {
  format: "mail";
  server: MailServer;
  from: string;
  to: string;
}

/** One attempt to send an alert. */
export interface Sent {
  at: Date;
  deliveryId: number;
  /** Public address of the web program, without a slash at the end. */
  baseUrl: string;
  userAgent: string;
  /** Absent: the real ones of the paging service. */
  pagingEndpoints?: Record<PagingDestination["serviceRegion"], string>;
}
