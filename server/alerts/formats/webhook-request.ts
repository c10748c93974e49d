import type { ServiceRegion } from "../channels/channel.js";

/** One POST, ready to leave. The body is sent as it is: what signs it signed these bytes. */
export interface WebhookRequest {
  url: URL;
  headers: Record<string, string>;
  body: Buffer;
  /** What the body has that is to be kept nowhere, even where a receiver repeats it. */
  secrets?: readonly string[];
}

export type Destination = NativeDestination | ChatDestination | PagingDestination;

export interface NativeDestination {
  format: "native";
  url: string;
  /** Newest first; two during a rotation. */
  secrets: readonly string[];
}

/** The address is the credential. */
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

/** This sending of an alert. */
export interface Sent {
  at: Date;
  deliveryId: number;
  /** Public address of the API, without a slash at the end. */
  baseUrl: string;
  userAgent: string;
  /** Absent: the service's own. */
  pagingEndpoints?: Record<PagingDestination["serviceRegion"], string>;
}
