import type { Alert } from "./alert.js";
import type { ServiceRegion } from "./channel.js";
import { chatLetter } from "./chat.js";
import { nativeLetter } from "./native.js";
import { pagingLetter } from "./paging.js";

/** One POST, ready to leave. The body is sent as it is: what signs it signed these bytes. */
export interface Letter {
  url: URL;
  headers: Record<string, string>;
  body: Buffer;
  /** What the body has that is to be kept nowhere, even where a receiver repeats it. */
  secrets?: readonly string[];
}

export type Destination =
  NativeDestination | ChatDestination | PagingDestination;

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

/** An alert as this destination takes it. Whatever the venue's texts are, it is within the receiver's documented limits. */
export function letterFor(to: Destination, alert: Alert, sent: Sent): Letter {
  switch (to.format) {
    case "native":
      return nativeLetter(to, alert, sent);
    case "chat":
      return chatLetter(to, alert, sent);
    case "paging":
      return pagingLetter(to, alert, sent);
  }
}
