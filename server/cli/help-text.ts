/** The texts of `--help`. */

import type { Action, Actions, Commands, Entry, Options, Runnable } from "./command.js";
import type { FoundCommand } from "./found-command.js";

export function helpOfAll(commands: Commands): string {
  return [
    "usage: venuewatch <command> [options]",
    "",
    ...listed(commands),
    "",
    "venuewatch <command> --help describes a command; --version prints the version.",
    "Settings are environment variables, see docs/settings.md.",
  ].join("\n");
}

export function helpOf({ name, command }: Pick<FoundCommand, "name" | "command">): string {
  return "actions" in command ? helpOfActions(name, command) : helpOfOne(name, command);
}

function helpOfActions(name: string, { help, actions }: Actions): string {
  return [
    `usage: venuewatch ${name} <action> [options]`,
    "",
    help,
    "",
    ...listed(actions),
    "",
    ...aligned([["--help", "print this"]]),
    "",
    `venuewatch ${name} <action> --help describes an action.`,
  ].join("\n");
}

function helpOfOne(name: string, { help, options = {}, words = [] }: Runnable): string {
  const usage = ["usage: venuewatch", name, ...words, "[options]"].join(" ");
  const all: Options = {
    ...options,
    help: { type: "boolean", help: "print this" },
  };
  const lines = Object.entries(all).map(([option, { type, help }]): [string, string] => [
    type === "string" ? `--${option} <value>` : `--${option}`,
    help,
  ]);
  return [usage, "", help, "", ...aligned(lines)].join("\n");
}

function listed(entries: Record<string, Action | Entry>): string[] {
  return aligned(Object.entries(entries).map(([name, { summary }]) => [name, summary]));
}

function aligned(lines: [string, string][]): string[] {
  const width = Math.max(...lines.map(([name]) => name.length));
  return lines.map(([name, text]) => `  ${name.padEnd(width)} ${text}`);
}
