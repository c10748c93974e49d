/** Deliveries as text for people. */
import { hostname } from "node:os";
import { version } from "../../shared/config/package.js";
import { channelKeyOf } from "../../shared/config/settings.js";
import type { Attempt, Delivery, SendNowOptions } from "../core/alerts/deliveries.js";
import { makePoster } from "../core/alerts/post.js";
import { makeSealing } from "../core/alerts/sealing.js";
import { serviceAddress } from "../core/alerts/service-address.js";
import type { Action, Given, Options } from "./command.js";
import { type OnDatabase, runOnDatabase } from "./on-database.js";
import { numberWord } from "./option-values.js";
import { plainTable, print } from "./print.js";

export function deliveryList(deliveries: readonly Delivery[]): string {
  if (deliveries.length === 0) return "no deliveries\n";
  const head = ["id", "channel", "created", "cause", "event", "about"];
  return plainTable([
    [...head, "state", "attempts", "latest attempt"],
    ...deliveries.map((delivery) => [
      String(delivery.id),
      String(delivery.channel),
      delivery.createdAt,
      delivery.cause,
      eventText(delivery),
      delivery.incident ?? delivery.transfer ?? "-",
      stateText(delivery),
      String(delivery.attempts.length),
      outcomeText(delivery.attempts.at(-1)),
    ]),
  ]);
}

export function deliveryText(delivery: Delivery): string {
  const { incident, incidentRetractedAt, transfer } = delivery;
  const retracted = incidentRetractedAt ? `, retracted ${incidentRetractedAt}` : "";
  const head = plainTable([
    ["delivery", String(delivery.id)],
    ["channel", `${delivery.channel}, ${delivery.format} to ${delivery.to}`],
    ["cause", delivery.cause],
    ["event", eventText(delivery)],
    transfer === null ? ["incident", incident === null ? "-" : `${incident}${retracted}`] : ["transfer", transfer],
    ["state", stateText(delivery)],
    ["created", delivery.createdAt],
    delivery.endedAt === null ? ["due", delivery.dueAt ?? "-"] : ["ended", delivery.endedAt],
    ["attempts", String(delivery.attempts.length)],
  ]);
  return head + delivery.attempts.map(attemptText).join("");
}

function eventText({ eventId, kind, severity }: Delivery): string {
  return kind === null ? "0 test" : [eventId, kind, severity].filter((word) => word !== null).join(" ");
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

/**
 * Sends alerts for an operator who waits for the result. When the command is stopped, the attempt in progress is
 * aborted, recorded as such, and awaited.
 *
 * Links in the alerts use the address that core stored, not this shell's BASE_URL.
 *
 * @param work stops when its signal aborts
 * @throws UserError when no core has stored the service's address yet
 */
export async function withSender<Result>(
  { pool, settings, life }: OnDatabase,
  work: (by: SendNowOptions, signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const sealing = makeSealing(channelKeyOf(settings));
  const { baseUrl, siteUrl } = await serviceAddress(pool);
  const poster = makePoster({ allowLoopback: settings.alertLoopback });
  const stopping = new AbortController();
  const working = work(
    {
      db: pool,
      sealing,
      poster,
      baseUrl,
      userAgent: `venuewatch/${version} (+${siteUrl}; alerts)`,
      sender: `${hostname()}:${process.pid}, by hand`,
    },
    stopping.signal,
  );
  life.onClose("sending", async () => {
    stopping.abort();
    await poster.close();
    // its error is reported where it is awaited
    await working.catch(() => {});
  });
  return working;
}

export const jsonOption = { type: "boolean", help: "print JSON" } as const;

interface Result {
  json: unknown;
  text: string;
  /** Thrown after the result is printed. */
  error?: Error;
}

/** An action on one channel or delivery: it takes its number, and prints its result as text or JSON. */
export function actionOnOne(
  noun: "channel" | "delivery",
  about: { summary: string; help: string; options?: Options },
  run: (here: OnDatabase, id: number, values: Given["values"]) => Promise<Result>,
): Action {
  return {
    ...about,
    words: ["ID"],
    options: { ...about.options, json: jsonOption },
    async run({ values, words: [word = ""] }) {
      const id = numberWord(noun, word);
      await runOnDatabase(noun, async (here) => {
        const result = await run(here, id, values);
        print(values["json"], result.json, result.text);
        if (result.error) throw result.error;
      });
    },
  };
}
