import { UserError } from "../../shared/process/user-error.js";
import {
  deliveriesOf,
  type Delivery,
  deliveryOf,
  deliveryStates,
  missedBy,
  replayAll,
  replaysOf,
} from "../core/alerts/deliveries.js";
import type { Action } from "./command.js";
import { actionOnOne, deliveryList, deliveryText, jsonOption, outcomeText, withSender } from "./delivery-text.js";
import { runOnDatabase } from "./on-database.js";
import { optionWord, numberWord } from "./option-values.js";
import { print } from "./print.js";

export const help = `A delivery is one alert for one channel. Deliveries are kept for 90 days.`;

const maxRows = 10_000;
const defaultRows = 50;

const listOptions = {
  channel: { type: "string", help: "of this channel, by its number" },
  incident: { type: "string", help: "of this incident, by its slug" },
  state: { type: "string", help: `only ${deliveryStates.join(", ")}` },
  since: { type: "string", help: "created no longer ago than this, like 30m, 2h or 7d" },
  limit: { type: "string", help: `at most this many, up to ${maxRows} (default ${defaultRows})` },
  json: jsonOption,
} as const;

const list: Action = {
  summary: "list deliveries, newest first",
  help: `Lists deliveries, newest first. A delivery must match all options.`,
  options: listOptions,
  async run({ values }) {
    const given = values as Partial<Record<keyof typeof listOptions, string>>;
    const limit = limitOf(given.limit);
    const wanted = {
      channel: given.channel === undefined ? null : numberWord("channel", given.channel),
      incident: given.incident ?? null,
      state: given.state === undefined ? null : optionWord("--state", deliveryStates, given.state),
      since: given.since === undefined ? null : since("--since", given.since, new Date()),
      limit,
    };
    await runOnDatabase("delivery", async ({ pool }) => {
      const deliveries = await deliveriesOf(pool, wanted);
      const more = deliveries.length === limit ? `the newest ${limit}; --limit shows more\n` : "";
      print(values["json"], deliveries, deliveryList(deliveries) + more);
    });
  },
};

const show = actionOnOne(
  "delivery",
  {
    summary: "show one delivery with every attempt",
    help: `Shows one delivery with every attempt: its time, sender and result, and the start of the receiver's answer.`,
  },
  async ({ pool }, id) => {
    const delivery = await deliveryOf(pool, id);
    return { json: delivery, text: deliveryText(delivery) };
  },
);

const defaultSince = "24h";

const replayOptions = {
  channel: { type: "string", help: "what this channel missed, by its number" },
  since: {
    type: "string",
    help: `with --channel: missed no longer ago than this, like 30m, 2h or 7d (default ${defaultSince})`,
  },
  json: jsonOption,
} as const;

const replay: Action = {
  summary: "send alerts again now",
  help: `Sends alerts again at once, from this machine, in the order in which their events happened, with one attempt
each: the given deliveries, or with --channel those that failed or were skipped there and were not delivered later. The
eventId stays, the signature is new, and the incident is shown as it is now. It also works on a channel that is off. It
changes neither the channel's state nor its count of failures.

Alerts of retracted incidents are not sent. If a receiver asks to wait or is gone (410), it gets no more alerts in this
run.`,
  words: ["[ID...]"],
  options: replayOptions,
  async run({ values, words }) {
    const given = values as Partial<Record<keyof typeof replayOptions, string>>;
    const ids = words.map((word) => numberWord("delivery", word));
    if (ids.length > 0 === (given.channel !== undefined))
      throw new UserError(
        `delivery replay: expected either numbers of deliveries or --channel, got ${ids.length > 0 ? "both" : "neither"}`,
      );
    if (given.since !== undefined && given.channel === undefined)
      throw new UserError("delivery replay: --since can be used with --channel only");
    const channel = given.channel === undefined ? null : numberWord("channel", given.channel);
    const from = since("--since", given.since ?? defaultSince, new Date());
    await runOnDatabase("delivery", async (here) => {
      const replays = channel === null ? await replaysOf(here.pool, ids) : await missedBy(here.pool, channel, from);
      const sent: Delivery[] = [];
      let failed = 0;
      await withSender(here, async (by, signal) => {
        for await (const { replay, sent: now } of replayAll(by, replays, signal)) {
          if (now) sent.push(now.delivery);
          if (now?.delivery.state !== "delivered") failed += 1;
          if (values["json"]) continue;
          const result = now
            ? `as ${now.delivery.id}: ${outcomeText(now.delivery.attempts.at(-1))}`
            : "not sent: the receiver asked to wait or is gone";
          process.stdout.write(`delivery ${replay.delivery} (event ${replay.event}, ${replay.slug}) ${result}\n`);
        }
      });
      const none = `nothing to send: channel ${channel} missed nothing since ${from.toISOString()}\n`;
      print(values["json"], sent, replays.length === 0 ? none : "");
      if (failed > 0)
        throw new UserError(`${failed} of ${replays.length} not delivered; venuewatch delivery show ID says why`);
    });
  },
};

export const actions: Record<string, Action> = { list, show, replay };

function limitOf(text: string | undefined): number {
  if (text === undefined) return defaultRows;
  const rows = /^\d{1,5}$/.test(text) ? Number(text) : NaN;
  if (rows >= 1 && rows <= maxRows) return rows;
  throw new UserError(`--limit: expected a whole number from 1 to ${maxRows}, got ${JSON.stringify(text)}`);
}

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The instant of an option that says how long ago it was: `30m`, `2h`, `7d`. */
function since(option: string, value: string, now: Date): Date {
  const [, count, unit] = /^(\d{1,4})([mhd])$/.exec(value) ?? [];
  if (count === undefined)
    throw new UserError(`${option}: expected a time ago, like 30m, 2h or 7d, got ${JSON.stringify(value)}`);
  return new Date(+now - Number(count) * unitMs[unit as keyof typeof unitMs]);
}
