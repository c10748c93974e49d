/** A delivery in words, for people. */
import type { Attempt, Delivery } from "../../alerts/delivery/delivery.js";
import { plainTable } from "../plain-table.js";

export function deliveryList(deliveries: readonly Delivery[]): string {
  if (deliveries.length === 0) return "no deliveries\n";
  const head = ["id", "channel", "created", "cause", "event", "incident"];
  return plainTable([
    [...head, "state", "attempts", "newest attempt"],
    ...deliveries.map((delivery) => [
      String(delivery.id),
      String(delivery.channel),
      delivery.createdAt,
      delivery.cause,
      eventIn(delivery),
      delivery.incident ?? "-",
      stateIn(delivery),
      String(delivery.attempts.length),
      outcomeIn(delivery.attempts.at(-1)),
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
    ["event", eventIn(delivery)],
    ["incident", incident === null ? "-" : `${incident}${retracted}`],
    ["state", stateIn(delivery)],
    ["created", delivery.createdAt],
    delivery.endedAt === null ? ["due", delivery.dueAt ?? "-"] : ["ended", delivery.endedAt],
    ["attempts", String(delivery.attempts.length)],
  ]);
  return head + delivery.attempts.map(attemptText).join("");
}

function eventIn({ eventId, kind, severity }: Delivery): string {
  return kind === null ? "0 test" : `${eventId} ${kind} ${severity}`;
}

function stateIn({ state, reason }: Delivery): string {
  return reason === null ? state : `${state}: ${harmless(reason)}`;
}

function attemptText(attempt: Attempt, at: number): string {
  const { startedAt, endedAt, sentBy, answer } = attempt;
  const lines = [
    "",
    `attempt ${at + 1}  ${startedAt} to ${endedAt ?? "-"}, by ${sentBy}`,
    `  ${outcomeIn(attempt)}`,
    ...(answer ? harmless(answer).split("\n") : []).map((line) => `  | ${line}`),
  ];
  return lines.map((line) => `${line}\n`).join("");
}

/** What an attempt came to: `refused 500, 12 ms: …`. */
export function outcomeIn(attempt: Pick<Attempt, "result" | "status" | "error" | "durationMs"> | undefined): string {
  if (attempt === undefined) return "none";
  const { result, status, durationMs, error } = attempt;
  if (result === null) return "under way, or nobody knows its end yet";
  const what = [result, ...(status === null ? [] : [status])].join(" ");
  const took = durationMs === null ? "" : `, ${durationMs} ms`;
  return `${what}${took}${error === null ? "" : `: ${harmless(error)}`}`;
}

/** Receivers may answer anything: what moves the cursor or turns the direction of writing is shown as a mark. */
function harmless(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, "\ufffd");
}
