/** Alerts as the service of the tests writes them. */
import type { AlertWriter } from "../../server/core/alerts/attempts.js";
import { formatAlert } from "../../server/core/alerts/formats/format-alert.js";

export const service = { baseUrl: "https://status.example", userAgent: "venuewatch/test" };

export const writeAlert: AlertWriter = (to, alert, sent) => formatAlert(to, alert, { ...sent, ...service });
