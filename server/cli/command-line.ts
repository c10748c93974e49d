/** `venuewatch <command> [action] [options]`. Each command is a file in `commands/`, loaded on demand. */

import { type Action, type Runnable, type Actions, type Options, type Given, type Entry } from "./command.js";
import { parseArgs } from "node:util";

import { masked } from "../../shared/text/masked-text.js";
import { version } from "../../shared/config/package.js";
import { reportError, UserError } from "../../shared/process/user-error.js";

/** In the order of `--help`. */
export const commands: Record<string, Entry> = {
  up: {
    summary: "run everything against the venues of the registry",
    load: () => import("../commands/up.js"),
  },
  demo: {
    summary: "run everything on this machine against simulated venues",
    load: () => import("../commands/demo.js"),
  },
  database: {
    summary: "host the embedded TimescaleDB",
    load: () => import("../commands/database.js"),
  },
  migrate: {
    summary: "create or upgrade the database schema",
    load: () => import("../commands/migrate.js"),
  },
  login: {
    summary: "create a least-privilege login, or change its password",
    load: () => import("../commands/login.js"),
  },
  core: {
    summary: "run the engine, upkeep, notices poller and dispatcher",
    load: () => import("../commands/core.js"),
  },
  web: {
    summary: "serve the public API",
    load: () => import("../commands/web.js"),
  },
  probe: {
    summary: "measure the venues from one region",
    load: () => import("../commands/probe.js"),
  },
  doctor: {
    summary: "check the installation for problems",
    load: () => import("../commands/doctor.js"),
  },
  reconcile: {
    summary: "compare all roll-ups with their samples and repair them",
    load: () => import("../commands/reconcile.js"),
  },
  incident: {
    summary: "retract a false incident",
    load: () => import("../commands/incident.js"),
  },
  channel: {
    summary: "set where alerts go",
    load: () => import("../commands/channel.js"),
  },
  delivery: {
    summary: "show deliveries of alerts, and send them again",
    load: () => import("../commands/delivery.js"),
  },
  stalls: {
    summary: "propose stall thresholds from measured silences",
    load: () => import("../commands/stalls.js"),
  },
  replay: {
    summary: "try other rules on a past period",
    load: () => import("../commands/replay.js"),
  },
  export: {
    summary: "write samples, minutes, days or incidents to files",
    load: () => import("../commands/export.js"),
  },
  move: {
    summary: "move everything to another database",
    load: () => import("../commands/move.js"),
  },
};

/** Runs the command that the arguments name. An error ends the process, see user-error.ts. */
export async function runCommandLine(args: string[]): Promise<void> {
  try {
    await run(args);
  } catch (error) {
    process.exit(await reportError(error));
  }
}

async function run([name, ...args]: string[]): Promise<void> {
  if (name === undefined) throw new UserError(`a command is missing\n\n${helpOfAll()}`);
  if (name === "--help" || name === "-h") return say(helpOfAll());
  if (name === "--version") return say(version);
  const entry = entryOf(commands, name);
  if (entry === undefined)
    throw new UserError(
      `there is no command ${JSON.stringify(masked(name))}, expected one of ${Object.keys(commands).join(", ")}; see venuewatch --help`,
    );
  const command = await entry.load();
  if ("actions" in command) await runAction(name, command, args);
  else await runOne(name, command, args);
}

async function runAction(name: string, { help, actions }: Actions, [action, ...args]: string[]): Promise<void> {
  if (action === "--help" || action === "-h") return say(helpOfActions(name, help, actions));
  const entry = entryOf(actions, action ?? "");
  if (entry === undefined)
    throw new UserError(
      `${name} ${action === undefined ? "needs an action" : `has no action ${JSON.stringify(action)}`}, expected one of ${Object.keys(actions).join(", ")}; see venuewatch ${name} --help`,
    );
  const loaded = "load" in entry ? await entry.load() : entry;
  if ("actions" in loaded) return runAction(`${name} ${action}`, loaded, args);
  await runOne(`${name} ${action}`, loaded, args);
}

async function runOne(name: string, command: Runnable, args: string[]) {
  const given = parse(name, command, args);
  if (given.values["help"]) return say(helpOf(name, command));
  await command.run(given);
}

function entryOf<E>(entries: Record<string, E>, name: string): E | undefined {
  return Object.hasOwn(entries, name) ? entries[name] : undefined;
}

function parse(name: string, command: Runnable, args: string[]): Given {
  const { options = {}, words = [] } = command;
  const given = parsed(name, options, args);
  const isSecret = Object.values(options).some(({ secret }) => secret);
  const shown = isSecret ? `${given.words.length}` : masked(given.words.join(" "));
  const expected = words.length === 0 ? "no arguments" : words.join(" ");
  if (!given.values["help"] && !fits(given.words.length, words))
    throw new UserError(
      `${name} takes ${expected} besides options, got ${given.words.length === 0 ? "none" : shown}; see venuewatch ${name} --help`,
    );
  return given;
}

function fits(given: number, words: string[]): boolean {
  const any = words.at(-1)?.endsWith("…]") === true;
  return any ? given >= words.length - 1 : given === words.length;
}

function parsed(name: string, options: Options, args: string[]): Given {
  try {
    const { values, positionals } = parseArgs({
      args,
      options: { ...options, help: { type: "boolean", short: "h" } },
      allowPositionals: true,
    });
    return { values, words: positionals };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (!code?.startsWith("ERR_PARSE_ARGS")) throw error;
    throw new UserError(`${name}: ${message}; venuewatch ${name} --help lists the options`, { cause: error });
  }
}

function helpOfAll(): string {
  return [
    "usage: venuewatch <command> [options]",
    "",
    ...listed(commands),
    "",
    "venuewatch <command> --help describes a command; --version prints the version.",
    "Settings are environment variables, see docs/settings.md.",
  ].join("\n");
}

function helpOfActions(name: string, help: string, actions: Actions["actions"]): string {
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

function helpOf(name: string, { help, options = {}, words = [] }: Runnable) {
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

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
