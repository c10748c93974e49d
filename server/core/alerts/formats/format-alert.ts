import type { Alert } from "./alert.js";
import { formatChatAlert } from "./chat.js";
import { formatNativeAlert } from "./native.js";
import { formatPagingAlert } from "./paging.js";
import { type WebhookRequest, type Destination, type Sent } from "./webhook-request.js";

/** The request for this destination. Whatever the venue's texts are, it is within the receiver's documented limits. */
export function formatAlert(to: Destination, alert: Alert, sent: Sent): WebhookRequest {
  switch (to.format) {
    case "native":
      return formatNativeAlert(to, alert, sent);
    case "chat":
      return formatChatAlert(to, alert, sent);
    case "paging":
      return formatPagingAlert(to, alert, sent);
  }
}
