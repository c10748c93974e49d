export const alertFormats = ["native", "chat", "paging"] as const;

export type Format = (typeof alertFormats)[number];

export const serviceRegions = ["us", "eu"] as const;

export type ServiceRegion = (typeof serviceRegions)[number];

/** One POST, ready to send. The body must be sent unchanged: the signatures cover these bytes. */
export interface WebhookRequest {
  url: URL;
  headers: Record<string, string>;
  body: Buffer;
  /** Secrets in the body, which must not be stored even where a receiver echoes them. */
  secrets?: readonly string[];
}

export type Destination = NativeDestination | ChatDestination | PagingDestination;

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
