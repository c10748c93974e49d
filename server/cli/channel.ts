import { channelKeyOf, readSettings } from "../../shared/config/settings.js";
import { UserError } from "../../shared/process/user-error.js";
import { categories } from "../../shared/registry/registry.js";
import {
  addChannel,
  type Added,
  type Channel,
  channelOf,
  channelsOf,
  disableChannel,
  enableChannel,
  onMaintenanceChoices,
  severityFloors,
  noChannel,
  removeChannel,
  replaceCredential,
  rotateSecret,
} from "../core/alerts/channels.js";
import { sendNow } from "../core/alerts/deliveries.js";
import { type Format, alertFormats, serviceRegions } from "../core/alerts/formats/webhook-request.js";
import { makeSealing } from "../core/alerts/sealing.js";
import { destinationOptions, givenCredential } from "./channel-options.js";
import type { Action } from "./command.js";
import { actionOnOne, deliveryText, jsonOption, outcomeText, withSender } from "./delivery-text.js";
import { runOnDatabase } from "./on-database.js";
import { optionWord, optionList, numberWord } from "./option-values.js";
import { plainTable, print } from "./print.js";

export const help = `A channel is a receiver of alerts, with a filter. Core sends the alerts; these commands change the
database, whether or not core runs. URLs, keys and secrets are encrypted with CHANNEL_KEY and never shown whole. With
--json each command prints JSON; docs/channels.md describes its fields.`;

const addOptions = {
  format: { type: "string", help: "native (default), or another", values: alertFormats },
  ...destinationOptions,
  "service-region": { type: "string", help: "paging: us or eu, the region of the key", values: serviceRegions },
  floor: {
    type: "string",
    help: "degraded (default): send all alerts; outage: send outages only",
    values: severityFloors,
  },
  venue: { type: "string", help: "send alerts of these venues only, separated by commas (default: all)" },
  category: { type: "string", help: "send alerts of these categories of venues only (default: all)" },
  "on-maintenance": {
    type: "string",
    help: "alert (default), or quiet: no alert during announced maintenance, unless the incident outlasts it",
    values: onMaintenanceChoices,
  },
  transfers: {
    type: "string",
    help: "also send alerts of pauses of deposits and withdrawals of these assets, such as BTC,USDT",
  },
  description: { type: "string", help: "a note for the list, at most 200 characters" },
  open: { type: "boolean", help: "also send alerts of incidents and pauses that last now" },
  json: jsonOption,
} as const;

const add: Action = {
  summary: "add a channel, and show its signing secret once",
  help: `Adds a channel and shows its signing secret, which is stored encrypted and cannot be shown again. The channel
receives new events; with --open also those of incidents and pauses that last now. If both filters are set, a venue must match
both.

native: signed JSON to your own URL. chat: a message to an incoming webhook. paging: an event for a paging service.
telegram, discord, ntfy, teams: a message to these. template: a JSON body of your own. mail: an e-mail.
docs/channels.md has an example of each.`,
  options: addOptions,
  async run({ values }) {
    const given = values as Partial<Record<keyof typeof addOptions, string>>;
    const format = optionWord("--format", alertFormats, given.format ?? "native");
    const wanted = {
      format,
      serviceRegion: serviceRegionOf(format, given["service-region"]),
      floor: optionWord("--floor", severityFloors, given.floor ?? "degraded"),
      venues: given.venue === undefined ? null : optionList("--venue", given.venue),
      categories:
        given.category === undefined
          ? null
          : optionList("--category", given.category).map((category) => optionWord("--category", categories, category)),
      onMaintenance: optionWord("--on-maintenance", onMaintenanceChoices, given["on-maintenance"] ?? "alert"),
      transfers: given.transfers === undefined ? null : optionList("--transfers", given.transfers),
      description: descriptionOf(given.description ?? ""),
      open: values["open"] === true,
    };
    const settings = readSettings();
    const sealing = makeSealing(channelKeyOf(settings));
    const credential = await givenCredential("channel add", format, given, settings.alertLoopback);
    await runOnDatabase("channel", async ({ pool }) => {
      const added = await addChannel(pool, sealing, { ...wanted, credential });
      print(values["json"], added, addedText(added, wanted.open));
    });
  },
};

const list: Action = {
  summary: "list the channels and their state",
  help: `Lists the channels: receiver, filter, on or off, waiting deliveries, and the result of the latest attempt.`,
  options: { all: { type: "boolean", help: "include removed channels" }, json: jsonOption },
  async run({ values }) {
    await runOnDatabase("channel", async ({ pool }) => {
      const channels = await channelsOf(pool, { removed: values["all"] === true });
      print(values["json"], channels, channelList(channels));
    });
  },
};

const show = actionOnOne(
  "channel",
  {
    summary: "show one channel",
    help: `Shows one channel, which may be a removed one. venuewatch delivery list --channel ID shows its deliveries.`,
  },
  async ({ pool }, id) => {
    const channel = await channelOf(pool, id);
    return { json: channel, text: channelText(channel) };
  },
);

const test = actionOnOne(
  "channel",
  {
    summary: "send a test alert now, and show the result",
    help: `Sends a test alert at once, from this machine, and shows the result. It has eventId 0 and test true. At a
paging service it opens an incident that you must resolve there. It also works on a channel that is off. It changes
neither the channel's state nor its count of failures.`,
  },
  async (here, id) => {
    const { delivery } = await withSender(here, (by) => sendNow(by, id, null));
    const result = { json: delivery, text: deliveryText(delivery) };
    if (delivery.state === "delivered") return result;
    const outcome = outcomeText(delivery.attempts.at(-1));
    return { ...result, error: new UserError(`the test alert was not delivered: ${outcome}`) };
  },
);

const enable = actionOnOne(
  "channel",
  {
    summary: "switch a channel on again",
    help: `Switches a channel on, for whatever reason it was off, and resets its count of failures. Skipped and failed
deliveries stay as they are: --open sends alerts of incidents and pauses that still last, venuewatch delivery replay sends the
ones that you choose.`,
    options: { open: { type: "boolean", help: "also send undelivered alerts of incidents and pauses that last now" } },
  },
  async ({ pool }, id, values) => {
    const open = values["open"] === true;
    const { before, channel, queued } = await enableChannel(pool, id, open);
    const state =
      before.state === "on" ? `channel ${id} was already on\n` : `channel ${id} is on; it was ${stateText(before)}\n`;
    return { json: { channel, queued }, text: state + (open ? queuedText(queued) : "") };
  },
);

const disable = actionOnOne(
  "channel",
  {
    summary: "switch a channel off",
    help: `Switches a channel off. Alerts that it would have received meanwhile are logged as skipped. They are not
sent automatically when it is switched on.`,
  },
  async ({ pool }, id) => {
    const { before, channel } = await disableChannel(pool, id);
    return {
      json: { channel },
      text:
        before.state === "off"
          ? `channel ${id} was already ${stateText(before)}\n`
          : `channel ${id} is off; switch it on with venuewatch channel enable ${id}\n`,
    };
  },
);

/** A month: long enough for any receiver to change, and a leaked secret stays valid no longer. */
const maxOverlapHours = 720;
const defaultOverlapHours = 24;

const rotateOptions = {
  overlap: {
    type: "string",
    help: `native: hours for which the old secret also signs, 0 to ${maxOverlapHours} (default ${defaultOverlapHours})`,
  },
  ...destinationOptions,
  json: jsonOption,
} as const;

type RotateValues = Partial<Record<keyof typeof rotateOptions, string>>;

const replacing = Object.keys(destinationOptions) as (keyof typeof destinationOptions)[];

const rotate: Action = {
  summary: "replace a channel's signing secret, URL or key",
  help: `Replaces a channel's secret. native: makes a new signing secret and shows it once; both secrets sign during
the overlap, so the receiver can change over at any time. Other formats: replaces where it leads; give all options that
channel add takes for it.`,
  words: ["ID"],
  options: rotateOptions,
  async run({ values, words: [word = ""] }) {
    const id = numberWord("channel", word);
    const given = values as RotateValues;
    const hours = overlapHoursOf(given.overlap);
    await runOnDatabase("channel", async ({ pool, settings }) => {
      const sealing = makeSealing(channelKeyOf(settings));
      const [channel] = await channelsOf(pool, { id });
      if (!channel) throw await noChannel(pool, id);
      const { format } = channel;
      if (format === "native") {
        refuseOptions(given, replacing, `channel ${id} is native: to change its URL add another channel`);
        const rotated = await rotateSecret(pool, sealing, id, hours);
        const until = rotated.channel.formerSecretUntil;
        const text = [
          `new signing secret of channel ${id}, shown only now: ${rotated.secret}\n`,
          until === null ? "the old secret is no longer valid\n" : `the old secret also signs until ${until}\n`,
        ];
        print(values["json"], rotated, text.join(""));
        return;
      }
      refuseOptions(given, ["overlap"], `channel ${id} has format ${format}: what it leads to is replaced at once`);
      const credential = await givenCredential("channel rotate", format, given, settings.alertLoopback);
      const changed = await replaceCredential(pool, sealing, id, credential);
      print(values["json"], { channel: changed }, `channel ${id} now posts to ${changed.to}\n`);
    });
  },
};

const remove = actionOnOne(
  "channel",
  {
    summary: "remove a channel and wipe its secrets",
    help: `Removes a channel: wipes its URL, key and secrets, and skips its waiting deliveries. This cannot be undone.
Its deliveries stay in the log, and channel list --all still shows it.`,
  },
  async ({ pool }, id) => {
    const removed = await removeChannel(pool, id);
    return { json: removed, text: `channel ${id} is removed; waiting deliveries skipped: ${removed.skipped}\n` };
  },
);

export const actions: Record<string, Action> = { add, list, show, test, enable, disable, rotate, remove };

function serviceRegionOf(format: Format, value: string | undefined) {
  if (format === "paging" && value === undefined)
    throw new UserError("channel add: --service-region is missing; say us or eu, the region in which the key is valid");
  if (format === "paging") return optionWord("--service-region", serviceRegions, value);
  if (value === undefined) return null;
  throw new UserError(`channel add: --service-region is for format paging, not for ${format}`);
}

function descriptionOf(text: string): string {
  const description = text.trim();
  if (description.length > 200)
    throw new UserError(`--description: expected at most 200 characters, got ${description.length}`);
  if (/\p{Cc}/u.test(description))
    throw new UserError("--description: expected one line of plain text, got control characters");
  return description;
}

function addedText({ channel, secret, queued }: Added, open: boolean): string {
  return [
    channelText(channel),
    open ? queuedText(queued) : "",
    secret === null ? "" : `signing secret, shown only now: ${secret}\n`,
    `venuewatch channel test ${channel.id} sends a test alert\n`,
  ].join("");
}

function queuedText(queued: number): string {
  return `alerts of open incidents and pauses, queued for core to send: ${queued}\n`;
}

function refuseOptions(given: RotateValues, refused: (keyof RotateValues)[], why: string): void {
  const option = refused.find((option) => given[option] !== undefined);
  if (option !== undefined) throw new UserError(`channel rotate: --${option} cannot be used: ${why}`);
}

function overlapHoursOf(text: string | undefined): number {
  if (text === undefined) return defaultOverlapHours;
  const hours = /^\d{1,3}$/.test(text) ? Number(text) : NaN;
  if (hours <= maxOverlapHours) return hours;
  throw new UserError(`--overlap: expected whole hours from 0 to ${maxOverlapHours}, got ${JSON.stringify(text)}`);
}

// Channels as text for people.

function channelList(channels: readonly Channel[]): string {
  if (channels.length === 0) return "there are no channels; add one with venuewatch channel add\n";
  const head = ["id", "format", "to", "receives", "state", "waiting"];
  return plainTable([
    [...head, "latest attempt", "description"],
    ...channels.map((channel) => [
      String(channel.id),
      formatText(channel),
      channel.to,
      filterText(channel),
      stateText(channel),
      String(channel.waiting),
      lastAttemptText(channel),
      channel.description,
    ]),
  ]);
}

function channelText(channel: Channel): string {
  return plainTable([
    ["channel", String(channel.id)],
    ["format", formatText(channel)],
    ["to", channel.to],
    ["description", channel.description || "none"],
    ["receives", filterText(channel)],
    ["state", stateText(channel)],
    ["failures in a row", String(channel.failures)],
    ["waiting deliveries", String(channel.waiting)],
    ["latest attempt", lastAttemptText(channel)],
    ...(channel.formerSecretUntil ? [["old secret signs until", channel.formerSecretUntil]] : []),
    ["added", channel.createdAt],
  ]);
}

function stateText(channel: Channel): string {
  const { state, offSince, offCause, removedAt } = channel;
  if (state === "removed") return `removed ${removedAt}`;
  return state === "on" ? "on" : `off since ${offSince}: ${offCauses[offCause!]}`;
}

const offCauses = {
  operator: "switched off by an operator",
  failures: "10 failures in a row",
  gone: "the receiver answered that it is gone",
};

function formatText({ format, serviceRegion }: Channel): string {
  return serviceRegion === null ? format : `${format} ${serviceRegion}`;
}

function filterText({ floor, venues, categories, onMaintenance, transfers }: Channel): string {
  const filters = [venues, categories].flatMap((values) => values?.join(",") ?? []);
  const filter = [floor === "outage" ? "outages" : "all", ...filters].join(" of ");
  return [
    filter,
    ...(onMaintenance === "quiet" ? ["quiet in announced maintenance"] : []),
    ...(transfers === null ? [] : [`transfers of ${transfers.join(",")}`]),
  ].join(", ");
}

function lastAttemptText({ lastAttempt }: Channel): string {
  if (lastAttempt === null) return "none";
  const { startedAt, result, status } = lastAttempt;
  return [startedAt, result ?? "in progress", ...(status ? [status] : [])].join(" ");
}
