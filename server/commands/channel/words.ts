/** A channel in words, for people. */
import type { Channel } from "../../alerts/channels/channel.js";
import { plainTable } from "../plain-table.js";

export function channelList(channels: readonly Channel[]): string {
  if (channels.length === 0) return "there are no channels; venuewatch channel add makes one\n";
  const head = ["id", "format", "to", "told of", "state", "waiting"];
  return plainTable([
    [...head, "newest attempt", "description"],
    ...channels.map((channel) => [
      String(channel.id),
      formatIn(channel),
      channel.to,
      toldOf(channel),
      stateIn(channel),
      String(channel.waiting),
      lastAttempt(channel),
      channel.description,
    ]),
  ]);
}

export function channelText(channel: Channel): string {
  return plainTable([
    ["channel", String(channel.id)],
    ["format", formatIn(channel)],
    ["to", channel.to],
    ["description", channel.description || "none"],
    ["told of", toldOf(channel)],
    ["state", stateIn(channel)],
    ["failures in a row", String(channel.failures)],
    ["waiting deliveries", String(channel.waiting)],
    ["newest attempt", lastAttempt(channel)],
    ...(channel.formerSecretUntil ? [["former secret signs until", channel.formerSecretUntil]] : []),
    ["added", channel.createdAt],
  ]);
}

function formatIn({ format, serviceRegion }: Channel): string {
  return serviceRegion === null ? format : `${format} ${serviceRegion}`;
}

function toldOf({ floor, venues, categories }: Channel): string {
  const whose = [venues, categories].flatMap((some) => some?.join(",") ?? []);
  return [floor === "outage" ? "outages" : "all", ...whose].join(" of ");
}

export function stateIn(channel: Channel): string {
  const { state, offSince, offCause, removedAt } = channel;
  if (state === "removed") return `removed ${removedAt}`;
  return state === "on" ? "on" : `off since ${offSince}: ${whyOff[offCause!]}`;
}

const whyOff = {
  operator: "switched off by hand",
  failures: "10 failures in a row",
  gone: "the receiver answered 410, gone",
};

function lastAttempt({ lastAttempt }: Channel): string {
  if (lastAttempt === null) return "none";
  const { startedAt, result, status } = lastAttempt;
  return [startedAt, result ?? "under way", ...(status ? [status] : [])].join(" ");
}
