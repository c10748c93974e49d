/** Channels as text for people. */
import type { Channel } from "../alerts/channels/channel.js";
import { plainTable } from "./plain-table.js";

export function channelList(channels: readonly Channel[]): string {
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

export function channelText(channel: Channel): string {
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

export function stateText(channel: Channel): string {
  const { state, offSince, offCause, removedAt } = channel;
  if (state === "removed") return `removed ${removedAt}`;
  return state === "on" ? "on" : `off since ${offSince}: ${offCauses[offCause!]}`;
}

const offCauses = {
  operator: "switched off by an operator",
  failures: "10 failures in a row",
  gone: "the receiver answered 410, gone",
};

function formatText({ format, serviceRegion }: Channel): string {
  return serviceRegion === null ? format : `${format} ${serviceRegion}`;
}

function filterText({ floor, venues, categories }: Channel): string {
  const filters = [venues, categories].flatMap((values) => values?.join(",") ?? []);
  return [floor === "outage" ? "outages" : "all", ...filters].join(" of ");
}

function lastAttemptText({ lastAttempt }: Channel): string {
  if (lastAttempt === null) return "none";
  const { startedAt, result, status } = lastAttempt;
  return [startedAt, result ?? "in progress", ...(status ? [status] : [])].join(" ");
}
