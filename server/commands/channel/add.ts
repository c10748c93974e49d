import { addChannel, type Added } from "../../alerts/channels/add-channel.js";
import { floors, type Format, formats, serviceRegions } from "../../alerts/channels/channel.js";
import { credentialOf } from "../../alerts/channels/credential.js";
import { makeSealing } from "../../alerts/channels/sealing.js";
import type { Given, Options } from "../../cli/command.js";
import { runOnDatabase } from "../../cli/on-database.js";
import { categories } from "../../../shared/registry/registry.js";
import { channelKeyOf, readSettings } from "../../../shared/config/settings.js";
import { UserError } from "../../../shared/process/user-error.js";
import { listOf } from "../list-of.js";
import { oneOf } from "../one-of.js";
import { print } from "../print.js";
import { credentialText } from "./credential-text.js";
import { channelText } from "./words.js";

export const help = `Adds a channel, and shows its signing secret: this once, as it is kept encrypted. It is told of what happens from now on; with
--open also of what is open now. Both filters hold together.

native: signed JSON to a URL of yours. chat: a message to an incoming webhook. paging: an event for a paging service.`;

export const options = {
  format: { type: "string", help: "native (default), chat or paging" },
  url: {
    type: "string",
    secret: true,
    help: "of native and chat: where to post; - reads it from standard input",
  },
  key: {
    type: "string",
    secret: true,
    help: "of paging: the routing key; - reads it from standard input",
  },
  "service-region": {
    type: "string",
    help: "of paging: us or eu, where the key is from",
  },
  floor: {
    type: "string",
    help: "degraded (default): tell all; outage: tell outages only",
  },
  venue: {
    type: "string",
    help: "tell of these venues only, commas between (default: all)",
  },
  category: {
    type: "string",
    help: "tell of venues of these categories only (default: all)",
  },
  description: {
    type: "string",
    help: "what it is, for who reads the list; at most 200 characters",
  },
  open: { type: "boolean", help: "tell it of what is open now, too" },
  json: { type: "boolean", help: "print JSON" },
} satisfies Options;

export async function run({ values }: Given): Promise<void> {
  const given = values as Partial<Record<keyof typeof options, string>>;
  const format = oneOf("--format", formats, given.format ?? "native");
  const wanted = {
    format,
    serviceRegion: serviceRegionOf(format, given["service-region"]),
    floor: oneOf("--floor", floors, given.floor ?? "degraded"),
    venues: given.venue === undefined ? null : listOf("--venue", given.venue),
    categories:
      given.category === undefined
        ? null
        : listOf("--category", given.category).map((category) => oneOf("--category", categories, category)),
    description: descriptionOf(given.description ?? ""),
    open: values["open"] === true,
  };
  const settings = readSettings();
  const sealing = makeSealing(channelKeyOf(settings));
  const credential = credentialOf(format, await credentialText("channel add", format, given), settings.alertLoopback);
  await runOnDatabase("channel", async ({ pool }) => {
    const added = await addChannel(pool, sealing, { ...wanted, credential });
    print(values["json"], added, told(added, wanted.open));
  });
}

function serviceRegionOf(format: Format, value: string | undefined) {
  if (format === "paging" && value === undefined)
    throw new UserError(
      "channel add: --service-region is missing; a routing key works in one region of its service only, us or eu",
    );
  if (format === "paging") return oneOf("--service-region", serviceRegions, value);
  if (value === undefined) return null;
  throw new UserError(`channel add: --service-region is of format paging, not of ${format}`);
}

function descriptionOf(text: string): string {
  const description = text.trim();
  if (description.length > 200)
    throw new UserError(`--description: expected at most 200 characters, got ${description.length}`);
  if (/\p{Cc}/u.test(description))
    throw new UserError("--description: expected one line of plain text, got control characters");
  return description;
}

function told({ channel, secret, queued }: Added, open: boolean): string {
  return [
    channelText(channel),
    ...(open ? [`alerts of what is open now: ${queued}, core sends them\n`] : []),
    ...(secret === null ? [] : [`signing secret, shown this once: ${secret}\n`]),
    `venuewatch channel test ${channel.id} sends a test alert\n`,
  ].join("");
}
