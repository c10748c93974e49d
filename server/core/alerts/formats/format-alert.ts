import type { Alert } from "./alert.js";
import { formatChatAlert } from "./chat.js";
import { formatDiscordAlert } from "./discord.js";
import { formatMailAlert } from "./mail.js";
import { formatNativeAlert } from "./native.js";
import { formatNtfyAlert } from "./ntfy.js";
import { formatPagingAlert } from "./paging.js";
import { formatTeamsAlert } from "./teams.js";
import { formatTelegramAlert } from "./telegram.js";
import { formatTemplateAlert } from "./template.js";
import type { AlertRequest, Destination, MailDestination, Sent, WebhookRequest } from "./webhook-request.js";

/** The request for this destination. Whatever the venue's texts are, it is within the receiver's documented limits. */
export function formatAlert(to: Exclude<Destination, MailDestination>, alert: Alert, sent: Sent): WebhookRequest;
export function formatAlert(to: Destination, alert: Alert, sent: Sent): AlertRequest;
export function formatAlert(to: Destination, alert: Alert, sent: Sent): AlertRequest {
  switch (to.format) {
    case "native":
      return formatNativeAlert(to, alert, sent);
    case "chat":
      return formatChatAlert(to, alert, sent);
    case "paging":
      return formatPagingAlert(to, alert, sent);
    case "telegram":
      return formatTelegramAlert(to, alert, sent);
    case "discord":
      return formatDiscordAlert(to, alert, sent);
    case "ntfy":
      return formatNtfyAlert(to, alert, sent);
    case "teams":
      return formatTeamsAlert(to, alert, sent);
    case "template":
      return formatTemplateAlert(to, alert, sent);
    case "mail":
      return formatMailAlert(to, alert, sent);
  }
}
