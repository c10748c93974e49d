import type { Given, Options } from "../../command-line.js";
import { type Retracted, retractIncident } from "../../engine/retract.js";
import { runOnDatabase } from "../../on-database.js";
import { UserError } from "../../user-error.js";

export const help = `Retracts an incident that was none: a check of ours that was wrong, a fault of our own. It is kept in the
database with the reason, and shown nowhere any more: its page is 404, and no list, count or pattern has it. Its alerts that
have not left yet are dropped. It cannot be undone.

States are measured and stay as they are: a component that is still bad is still shown so. But no new incident opens for it
until it was well, since this trouble is what you said is none; unless it gets worse than it had been when you said so.`;

export const words = ["SLUG"];

export const options: Options = {
  reason: { type: "string", help: "why it is none; required, kept with it" },
};

export async function run({ values, words }: Given): Promise<void> {
  const [slug = ""] = words;
  const { reason } = values;
  if (typeof reason !== "string")
    throw new UserError(
      "incident retract: --reason is missing; it is kept with the incident, for whoever asks why it is gone",
    );
  await runOnDatabase("incident", async ({ pool }) => {
    const retracted = await retractIncident(pool, slug, reason);
    process.stdout.write(`${told(slug, retracted)}\n`);
  });
}

function told(slug: string, retracted: Retracted): string {
  const { venue, component, wasOpen, state, dropped, sent } = retracted;
  const lines = [
    `retracted ${slug}`,
    `alerts that had left already: ${sent.join(", ") || "none"}`,
    `alerts dropped: ${dropped.join(", ") || "none"}`,
  ];
  if (wasOpen && (state === "degraded" || state === "outage"))
    lines.push(
      `${component} of ${venue} is measured as ${state} still; no new incident opens for it until it is well, or worse`,
    );
  return lines.join("\n");
}
