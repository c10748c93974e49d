/** `venuewatch <command> [action] [options]`. Each command is a file or a folder beside this one, loaded on demand. */
import { Command as Parser, CommanderError, Option } from "commander";
import { version } from "../../shared/config/package.js";
import { UserError } from "../../shared/process/user-error.js";
import { didYouMean } from "../../shared/text/nearest-word.js";
import type { Action, Command, Entry, Given } from "./command.js";
import { endAtUncaughtErrors, endWithError } from "./exit.js";

/** In the order of `--help`. */
export const commands: Record<string, Action | Entry> = {
  status: {
    summary: "show the state of venues, asked of a running venuewatch",
    load: () => import("./status.js"),
    answers: true,
  },
  check: {
    summary: "find out whether the venue is down, or it is just you",
    load: () => import("./check/check.js"),
    answers: true,
  },
  mcp: { summary: "answer agents of language models", load: () => import("./mcp.js") },
  up: { summary: "run everything against the venues of the registry", load: () => import("./up.js") },
  demo: {
    summary: "run everything on this machine against simulated venues",
    load: () => import("./demo.js"),
  },
  database: { summary: "host the embedded TimescaleDB", load: () => import("./database.js") },
  migrate: { summary: "create or upgrade the database schema", load: () => import("./migrate.js") },
  login: {
    summary: "create a least-privilege login, or change its password",
    load: () => import("./login.js"),
  },
  core: { summary: "run the engine, upkeep, notices poller and dispatcher", load: () => import("./core.js") },
  web: { summary: "serve the public API", load: () => import("./web.js") },
  probe: { summary: "measure the venues from one region", load: () => import("./probe.js") },
  doctor: { summary: "check the installation for problems", load: () => import("./doctor/doctor.js") },
  reconcile: {
    summary: "compare all roll-ups with their samples and repair them",
    load: () => import("./reconcile.js"),
  },
  incident: { summary: "retract a false incident", load: () => import("./incident.js") },
  channel: { summary: "set where alerts go", load: () => import("./channel.js") },
  delivery: {
    summary: "show deliveries of alerts, and send them again",
    load: () => import("./delivery.js"),
  },
  registry: {
    summary: "check the age and limits of the registry's entries",
    load: () => import("./registry.js"),
  },
  stalls: { summary: "propose stall thresholds from measured silences", load: () => import("./stalls.js") },
  replay: { summary: "try other rules on a past period", load: () => import("./replay.js") },
  export: {
    summary: "write samples, minutes, days or incidents as Parquet",
    load: () => import("./export/export.js"),
  },
  move: { summary: "move everything to another database", load: () => import("./move/move.js") },
  help: {
    summary: "describe a command",
    help: "Describes a command or one of its actions, as --help after it does; without one, it lists all commands.",
    words: ["[COMMAND]", "[ACTION]"],
    run: ({ words }, runProgram) => runProgram([...words, "--help"]),
  },
  version: {
    summary: "print the version",
    help: "Prints the version of this build.",
    run() {
      process.stdout.write(`${version}
`);
      return Promise.resolve();
    },
  },
};

/**
 * Runs the command that the arguments name. An error ends the process: code 2 for what the user can correct, such as a
 * wrong option, and 64 where the code is the command's answer (exit.ts).
 */
export async function runCommandLine(args: string[]): Promise<void> {
  const [name = ""] = args;
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined;
  // a word that names no command may be a misspelt `status`
  const answers = entry === undefined || ("load" in entry && entry.answers === true);
  if (answers) endAtUncaughtErrors();
  try {
    await runProgram(commands, args);
  } catch (error) {
    // commander ends with this after --help and --version
    if (error instanceof CommanderError && error.exitCode === 0) return;
    await endWithError(error, answers);
  }
}

// The commands as a program of commander, with our messages for wrong usage.

type Entries = Record<string, Action | Entry>;

/** @throws CommanderError with exit code 0 when it has printed a help text or the version */
async function runProgram(commands: Entries, args: string[]): Promise<void> {
  const program = withOurMessages(new Parser("venuewatch"))
    .usage("<command> [options]")
    .helpOption("-h, --help", "print this")
    .version(version, "--version", "print the version")
    .enablePositionalOptions()
    .configureOutput({ writeErr: () => {} })
    .addHelpText("after", "\nvenuewatch <command> --help describes a command.")
    .addHelpText("after", "Settings are environment variables, see docs/settings.md.");
  addEntries(program, commands, (args) => runProgram(commands, args));
  await program.parseAsync(args, { from: "user" });
}

type Run = (args: string[]) => Promise<void>;

/** Each is loaded and declared when the arguments name it. */
function addEntries(parent: Parser, entries: Entries, runProgram: Run): void {
  for (const [name, { summary }] of Object.entries(entries)) withOurMessages(parent.command(name)).summary(summary);
  parent.helpCommand(false);
  parent.hook("preSubcommand", async (_, parser) => {
    const entry = entries[parser.name()]!;
    declareCommand(parser, "load" in entry ? await entry.load() : entry, runProgram);
  });
  // commander itself would print the parent's help for `chanel --help`
  parent.on("beforeHelp", () => {
    const [word] = parent.args;
    if (word !== undefined && !word.startsWith("-")) throw new UserError(faultOf(parent, "commander.unknownCommand"));
  });
}

function declareCommand(parser: Parser, command: Command, runProgram: Run): void {
  // commander wraps paragraphs to the width of the terminal
  parser.description(command.help.replace(/(?<!\n)\n(?!\n)/g, " "));
  if ("actions" in command) {
    parser.usage("<action> [options]");
    parser.addHelpText("after", `\n${pathOf(parser)} <action> --help describes an action.`);
    return addEntries(parser, command.actions, runProgram);
  }
  const options = Object.entries(command.options ?? {}).map(([name, { type, help }]) => {
    const option = new Option(type === "string" ? `--${name} <value>` : `--${name}`, help);
    parser.addOption(option);
    return { name, attribute: option.attributeName() };
  });
  for (const word of command.words ?? []) parser.argument(word);
  parser.action(async () => {
    const value = (attribute: string) => parser.getOptionValue(attribute) as Given["values"][string];
    const values = Object.fromEntries(options.map(({ name, attribute }) => [name, value(attribute)]));
    await command.run({ values, words: parser.args }, runProgram);
  });
}

function withOurMessages(parser: Parser): Parser {
  return parser.exitOverride((error) => {
    if (error.exitCode === 0) throw error;
    throw new UserError(faultOf(parser, error.code, error), { cause: error });
  });
}

/** Repeats names only: a word, or the value of an option, may be a secret whose option was forgotten. */
function faultOf(parser: Parser, code: string, error?: CommanderError): string {
  const see = `see ${pathOf(parser)} --help`;
  const names = parser.commands.map((command) => command.name());
  switch (code) {
    case "commander.help":
      return parser.parent
        ? `an action is missing, expected one of ${names.join(", ")}; ${see}`
        : `a command is missing\n\n${parser.helpInformation().trimEnd()}`;
    case "commander.unknownCommand": {
      const [word = ""] = parser.args;
      const shown = /^[a-z-]{1,20}$/i.test(word) ? ` ${JSON.stringify(word)}` : "";
      const what = parser.parent ? "action" : "command";
      return `unknown ${what}${shown}, expected one of ${names.join(", ")}${didYouMean(word, names)}; ${see}`;
    }
    case "commander.unknownOption": {
      const [option = ""] = /(?<=')(--[^=']+|-.(?='))/.exec(error?.message ?? "") ?? [];
      const options = ["--help", ...parser.options.flatMap(({ long }) => long ?? [])];
      if (options.includes(option)) return `${option} takes no value; ${see}`;
      return `unknown option${option && ` ${option}`}${didYouMean(option, options)}; ${see}`;
    }
    default:
      return `${error?.message.replace(/^error: |\.$/g, "")}; ${see}`;
  }
}

/** With the names of its parents: `venuewatch channel add`. */
function pathOf(parser: Parser): string {
  return parser.parent ? `${pathOf(parser.parent)} ${parser.name()}` : parser.name();
}
