/**
 * `venuewatch <command> [options]`. A command is a file of its own in
 * `commands/`, loaded when it is asked for.
 */

import { parseArgs } from "node:util";

import { version } from "./package.js";
import { tellWhy, UserError } from "./user-error.js";

/** What a file in `commands/` exports. */
export interface Command {
  /** What it does, in some sentences; `--help` adds the usage and the options. */
  help: string;
  options?: Options;
  /** The words that it takes besides options, as `--help` shows them. Small ones are to be typed as they are: `["retract", "SLUG"]`. */
  words?: string[];
  /** A command with a life (lifecycle.ts) exits by itself. */
  run: (given: Given) => Promise<void>;
}

export type Options = Record<
  string,
  { type: "string" | "boolean"; help: string }
>;

export interface Given {
  values: Record<string, string | boolean | undefined>;
  words: string[];
}

interface Entry {
  summary: string;
  load: () => Promise<Command>;
}

/** In the order in which `--help` shows them. */
export const commands: Record<string, Entry> = {
  up: {
    summary: "run everything, against the venues of the registry",
    load: () => import("./commands/up.js"),
  },
  demo: {
    summary: "run everything on this machine, against simulated venues",
    load: () => import("./commands/demo.js"),
  },
  database: {
    summary: "host the embedded TimescaleDB",
    load: () => import("./commands/database.js"),
  },
  migrate: {
    summary: "bring the database to the schema of this build",
    load: () => import("./commands/migrate.js"),
  },
  core: {
    summary: "run the engine, keep up the history, read venues' feeds",
    load: () => import("./commands/core.js"),
  },
  web: {
    summary: "serve the public API",
    load: () => import("./commands/web.js"),
  },
  probe: {
    summary: "measure every venue from one region",
    load: () => import("./commands/probe.js"),
  },
  incident: {
    summary: "retract an incident that was none",
    load: () => import("./commands/incident.js"),
  },
  stalls: {
    summary: "propose stall thresholds from measured silences",
    load: () => import("./commands/stalls.js"),
  },
  replay: {
    summary: "try other rules on a past period",
    load: () => import("./commands/replay.js"),
  },
};

/** Runs the command that the arguments name. Errors end the process, see user-error.ts. */
export async function runCommandLine(args: string[]): Promise<void> {
  try {
    await run(args);
  } catch (error) {
    process.exit(await tellWhy(error));
  }
}

async function run([name, ...args]: string[]): Promise<void> {
  if (name === undefined)
    throw new UserError(`a command is missing\n\n${helpOfAll()}`);
  if (name === "--help" || name === "-h") return say(helpOfAll());
  if (name === "--version") return say(version);
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (entry === undefined)
    throw new UserError(
      `there is no command ${JSON.stringify(name)}, the commands are ${Object.keys(commands).join(", ")}; venuewatch --help says what they do`,
    );
  const command = await entry.load();
  const given = parse(name, command, args);
  if (given.values["help"]) return say(helpOf(name, command));
  await command.run(given);
}

function parse(name: string, { options, words = [] }: Command, args: string[]) {
  const given = parsed(name, options, args);
  const expected = words.length === 0 ? "no words" : words.join(" ");
  if (!given.values["help"] && !areWords(given.words, words))
    throw new UserError(
      `${name} takes ${expected} besides options, got ${given.words.join(" ") || "none"}; venuewatch ${name} --help says more`,
    );
  return given;
}

function areWords(given: string[], words: string[]): boolean {
  return (
    given.length === words.length &&
    words.every((word, at) => /[A-Z]/.test(word) || word === given[at])
  );
}

function parsed(name: string, options: Options = {}, args: string[]): Given {
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
    throw new UserError(
      `${name}: ${message}; venuewatch ${name} --help lists the options`,
      { cause: error },
    );
  }
}

function helpOfAll(): string {
  const lines = Object.entries(commands).map(
    ([name, { summary }]) => `  ${name.padEnd(10)} ${summary}`,
  );
  return [
    "usage: venuewatch <command> [options]",
    "",
    ...lines,
    "",
    "venuewatch <command> --help says more about one; --version prints the version.",
    "Settings are environment variables, see README.md.",
  ].join("\n");
}

function helpOf(name: string, { help, options = {}, words = [] }: Command) {
  const usage = ["usage: venuewatch", name, ...words, "[options]"].join(" ");
  const lines = Object.entries({
    ...options,
    help: { type: "boolean", help: "print this" },
  }).map(([option, { type, help }]) => {
    const flag = type === "string" ? `--${option} <value>` : `--${option}`;
    return `  ${flag.padEnd(22)} ${help}`;
  });
  return [usage, "", help, "", ...lines].join("\n");
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
