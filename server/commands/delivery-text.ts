/** Deliveries as text for people. */
import type { Attempt, Delivery } from "../alerts/delivery/delivery.js";
import { plainTable } from "./plain-table.js";

export function deliveryList(deliveries: readonly Delivery[]): string {
  if (deliveries.length === 0) return "no deliveries\n";
  const head = ["id", "channel", "created", "cause", "event", "incident"];
  return plainTable([
    [...head, "state", "attempts", "latest attempt"],
    ...deliveries.map((delivery) => [
      String(delivery.id),
      String(delivery.channel),
      delivery.createdAt,
      delivery.cause,
      eventText(delivery),
      delivery.incident ?? "-",
      stateText(delivery),
      String(delivery.attempts.length),
      outcomeText(delivery.attempts.at(-1)),
    ]),
  ]);
}

export function deliveryText(delivery: Delivery): string {
  const { incident, incidentRetractedAt } = delivery;
  const retracted = incidentRetractedAt ? `, retracted ${incidentRetractedAt}` : "";
  const head = plainTable([
    ["delivery", String(delivery.id)],
    ["channel", `${delivery.channel}, ${delivery.format} to ${delivery.to}`],
    ["cause", delivery.cause],
    ["event", eventText(delivery)],
    ["incident", incident === null ? "-" : `${incident}${retracted}`],
    ["state", stateText(delivery)],
    ["created", delivery.createdAt],
    delivery.endedAt === null ? ["due", delivery.dueAt ?? "-"] : ["ended", delivery.endedAt],
    ["attempts", String(delivery.attempts.length)],
  ]);
  return head + delivery.attempts.map(attemptText).join("");
}

function eventText({ eventId, kind, severity }: Delivery): string {
  return kind === null ? "0 test" : `${eventId} ${kind} ${severity}`;
}

function stateText({ state, reason }: Delivery): string {
  return reason === null ? state : `${state}: ${withoutControls(reason)}`;
}

function attemptText(attempt: Attempt, at: number): string {
  const { startedAt, endedAt, sentBy, answer } = attempt;
  const lines = [
    "",
    `attempt ${at + 1}  ${startedAt} to ${endedAt ?? "-"}, by ${sentBy}`,
    `  ${outcomeText(attempt)}`,
    ...(answer ? withoutControls(answer).split("\n") : []).map((line) => `  | ${line}`),
  ];
  return lines.map((line) => `${line}\n`).join("");
}

/** The result of an attempt: `refused 500, 12 ms: …`. */
export function outcomeText(attempt: Pick<Attempt, "result" | "status" | "error" | "durationMs"> | undefined): string {
  if (attempt === undefined) return "none";
  const { result, status, durationMs, error } = attempt;
  if (result === null) return "in progress, or its end is not known yet";
  const what = [result, ...(status === null ? [] : [status])].join(" ");
  const took = durationMs === null ? "" : `, ${durationMs} ms`;
  return `${what}${took}${error === null ? "" : `: ${withoutControls(error)}`}`;
}

/** Receivers may answer anything: replaces characters that move the cursor or change the writing direction. */
function withoutControls(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, "\ufffd");
}
