import type { Given, Options } from "../../cli/command.js";
import { type AlertsLeft, type Retraction, retractIncident } from "../../engine/retract.js";
import { runOnDatabase } from "../../cli/on-database.js";
import { UserError } from "../../../shared/process/user-error.js";

export const help = `Retracts an incident that was none: a check of ours that was wrong, a fault of our own. It is kept in the
database with the reason, and no list, count or pattern has it any more. Its page is 404 and says when it was retracted and why:
THE REASON IS PUBLIC, for those who were alerted and want to know. Its alerts that have not left yet are dropped; what is being
sent at this moment may still arrive, and who has its opening hears nothing more. It cannot be undone, nor can the reason be changed.

States are measured and stay as they are: a component that is still bad is still shown so. But no new incident opens for it
until it was well, since this trouble is what you said is none; unless it gets worse than it had been when you said so.`;

export const words = ["SLUG"];

export const options: Options = {
  reason: {
    type: "string",
    help: "why it is none, at most 500 characters; required, and public",
  },
};

export async function run({ values, words }: Given): Promise<void> {
  const [slug = ""] = words;
  const { reason } = values;
  if (typeof reason !== "string")
    throw new UserError(
      "incident retract: --reason is missing; it is public, for all who ask why the incident is gone",
    );
  await runOnDatabase("incident", async ({ pool }) => {
    const retracted = await retractIncident(pool, slug, reason);
    process.stdout.write(`${told(slug, retracted)}\n`);
  });
}

function told(slug: string, retracted: Retraction): string {
  const { venue, component, wasOpen, state, alerts } = retracted;
  const underWay = counted(alerts, "underWay", "to");
  const lines = [
    `retracted ${slug}`,
    `alerts that were delivered before: ${counted(alerts, "delivered", "to") || "none"}`,
    ...(underWay === "" ? [] : [`alerts on their way, which may still arrive: ${underWay}`]),
    `alerts dropped: ${droppedOf(alerts) || "none"}`,
  ];
  if (wasOpen && (state === "degraded" || state === "outage"))
    lines.push(
      `${component} of ${venue} is measured as ${state} still; no new incident opens for it until it is well, or worse`,
    );
  return lines.join("\n");
}

function droppedOf(alerts: AlertsLeft[]): string {
  const unsent = alerts.filter(({ droppedUnsent }) => droppedUnsent);
  return [
    counted(alerts, "dropped", "for"),
    // nobody had looked yet for whom they are
    ...unsent.map(({ kind }) => kind),
  ]
    .filter((part) => part !== "")
    .join(", ");
}

/** Such as `opened to 3 channels, escalated to 1 channel`; empty where there is none. */
function counted(alerts: AlertsLeft[], what: "delivered" | "underWay" | "dropped", word: string): string {
  return alerts
    .filter((alert) => alert[what] > 0)
    .map((alert) => {
      const channels = alert[what] === 1 ? "channel" : "channels";
      return `${alert.kind} ${word} ${alert[what]} ${channels}`;
    })
    .join(", ");
}
