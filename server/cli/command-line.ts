/** `venuewatch <command> [action] [options]`. Each command is a file in `commands/`, loaded on demand. */

import { parseArgs } from "node:util";

import { masked } from "../../shared/text/masked-text.js";
import { version } from "../../shared/config/package.js";
import { UserError } from "../../shared/process/user-error.js";
import type { Commands, Given, Options, Runnable } from "./command.js";
import { endAtUncaughtErrors, endWithError } from "./exit-codes.js";
import { didYouMean, foundCommand, isHelp, NoSuchCommand, noSuchAction } from "./found-command.js";
import { helpOf, helpOfAll } from "./help-text.js";

export const commands: Commands = {
  status: {
    summary: "show the state of venues, asked of a running venuewatch",
    load: () => import("../commands/status.js"),
    answers: true,
  },
  check: {
    summary: "find out whether the venue is down, or it is just you",
    load: () => import("../commands/check.js"),
    answers: true,
  },
  mcp: {
    summary: "answer agents of language models",
    load: () => import("../commands/mcp.js"),
  },
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
  registry: {
    summary: "check the age and limits of the registry's entries",
    load: () => import("../commands/registry.js"),
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
    summary: "write samples, minutes, days or incidents as Parquet",
    load: () => import("../commands/export.js"),
  },
  move: {
    summary: "move everything to another database",
    load: () => import("../commands/move.js"),
  },
  help: {
    summary: "describe a command",
    load: () => import("../commands/help.js"),
  },
  version: {
    summary: "print the version",
    load: () => import("../commands/version.js"),
  },
};

/** Runs the command that the arguments name. An error ends the process, see user-error.ts and exit-codes.ts. */
export async function runCommandLine(args: string[]): Promise<void> {
  const [name = ""] = args;
  const answers = Object.hasOwn(commands, name) && commands[name]!.answers === true;
  if (answers) endAtUncaughtErrors();
  try {
    await run(args);
  } catch (error) {
    await endWithError(error, answers || error instanceof NoSuchCommand);
  }
}

async function run(args: string[]): Promise<void> {
  const [first] = args;
  if (first === undefined) throw new NoSuchCommand(`a command is missing\n\n${helpOfAll(commands)}`);
  if (isHelp(first)) return say(helpOfAll(commands));
  if (first === "--version") return say(version);
  const found = await foundCommand(commands, args);
  const { name, command, rest } = found;
  if (!("actions" in command)) return runOne(name, command, rest);
  if (rest.length === 0) throw noSuchAction(name, command);
  say(helpOf(found));
}

async function runOne(name: string, command: Runnable, args: string[]) {
  const given = parse(name, command, args);
  if (given.values["help"]) return say(helpOf({ name, command }));
  await command.run(given, commands);
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
  const required = words.filter((word) => !word.startsWith("[")).length;
  return given >= required && (any || given <= words.length);
}

function parsed(name: string, options: Options, args: string[]): Given {
  const all: Options = { ...options, help: { type: "boolean", help: "print this" } };
  try {
    const { values, positionals } = parseArgs({
      args,
      options: { ...all, help: { type: "boolean", short: "h" } },
      allowPositionals: true,
    });
    return { values, words: positionals };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (!code?.startsWith("ERR_PARSE_ARGS")) throw error;
    const hint = code === "ERR_PARSE_ARGS_UNKNOWN_OPTION" ? optionMeant(args, Object.keys(all)) : "";
    throw new UserError(`${name}: ${message}${hint}; venuewatch ${name} --help lists the options`, { cause: error });
  }
}

/** For the first option that does not exist. */
function optionMeant(args: string[], options: string[]): string {
  const typed = args.flatMap((arg) => /^--([^=]+)/.exec(arg)?.[1] ?? []);
  const unknown = typed.find((name) => !options.includes(name));
  return didYouMean(
    `--${unknown ?? ""}`,
    options.map((name) => `--${name}`),
  );
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
