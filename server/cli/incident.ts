import { UserError } from "../../shared/process/user-error.js";
import { type AlertsLeft, type Retraction, retractIncident } from "../core/engine/retract.js";
import type { Action, Given } from "./command.js";
import { runOnDatabase } from "./on-database.js";

export const help = `Corrects incidents.`;

const retract: Action = {
  summary: "retract a false incident",
  help: `Retracts a false incident, caused by a wrong check or another fault of venuewatch. It stays in the
database with the reason, but disappears from all lists, counts and patterns. Its page is 404 and says when and why it
was retracted: THE REASON IS PUBLIC, for those who got the alerts. Alerts that were not sent yet are dropped; one that
is being sent now may still arrive. Receivers of the opening get no more alerts of it. A retraction cannot be undone,
and its reason cannot be changed.

States are measured and do not change: a component that is still bad is still shown as bad. But no new incident opens
for it until it is well again, or gets worse than it was at the retraction.`,
  words: ["SLUG"],
  options: {
    reason: {
      type: "string",
      help: "why it is false, at most 500 characters; required, and public",
    },
  },
  run: runRetract,
};

export const actions: Record<string, Action> = { retract };

async function runRetract({ values, words }: Given): Promise<void> {
  const [slug = ""] = words;
  const { reason } = values;
  if (typeof reason !== "string")
    throw new UserError("incident retract: --reason is missing; it is published on the incident's page");
  await runOnDatabase("incident", async ({ pool }) => {
    const retracted = await retractIncident(pool, slug, reason);
    process.stdout.write(`${retractedText(slug, retracted)}\n`);
  });
}

function retractedText(slug: string, retracted: Retraction): string {
  const { venue, component, wasOpen, state, alerts } = retracted;
  const inProgress = counted(alerts, "underWay", "to");
  const lines = [
    `retracted ${slug}`,
    `alerts already delivered: ${counted(alerts, "delivered", "to") || "none"}`,
    ...(inProgress === "" ? [] : [`alerts being sent, which may still arrive: ${inProgress}`]),
    `alerts dropped: ${droppedText(alerts) || "none"}`,
  ];
  if (wasOpen && (state === "degraded" || state === "outage"))
    lines.push(
      `${component} of ${venue} is still measured as ${state}; no new incident opens for it until it is well or gets worse`,
    );
  return lines.join("\n");
}

function droppedText(alerts: AlertsLeft[]): string {
  const unsent = alerts.filter(({ droppedUnsent }) => droppedUnsent);
  return [
    counted(alerts, "dropped", "for"),
    // no dispatcher had turned these into deliveries yet
    ...unsent.map(({ kind }) => kind),
  ]
    .filter((part) => part !== "")
    .join(", ");
}

/** Such as `opened to 3 channels, escalated to 1 channel`; empty without alerts. */
function counted(alerts: AlertsLeft[], what: "delivered" | "underWay" | "dropped", word: string): string {
  return alerts
    .filter((alert) => alert[what] > 0)
    .map((alert) => {
      const channels = alert[what] === 1 ? "channel" : "channels";
      return `${alert.kind} ${word} ${alert[what]} ${channels}`;
    })
    .join(", ");
}
