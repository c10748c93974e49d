import type { Entry } from "../cli/command.js";

export const help = `Where alerts go. A channel is a receiver of them, with what it is to be told of. Core sends; these commands work on the
database, whether it runs or not. URLs, keys and secrets are kept encrypted with CHANNEL_KEY, and never shown whole. With
--json each prints what it says as JSON: docs/channels.md has its fields.`;

export const actions: Record<string, Entry> = {
  add: {
    summary: "add a channel, and show its signing secret once",
    load: () => import("./channel/add.js"),
  },
  list: {
    summary: "list the channels, and how they do",
    load: () => import("./channel/list.js"),
  },
  show: {
    summary: "show one channel",
    load: () => import("./channel/show.js"),
  },
  test: {
    summary: "send a test alert now, and say what came of it",
    load: () => import("./channel/test.js"),
  },
  enable: {
    summary: "switch a channel on again",
    load: () => import("./channel/enable.js"),
  },
  disable: {
    summary: "switch a channel off",
    load: () => import("./channel/disable.js"),
  },
  rotate: {
    summary: "replace a channel's signing secret, URL or key",
    load: () => import("./channel/rotate.js"),
  },
  remove: {
    summary: "remove a channel and wipe its secrets",
    load: () => import("./channel/remove.js"),
  },
};
