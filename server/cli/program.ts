/** The commands as a program of commander, with our messages for wrong usage. */

import { Command as Parser, type CommanderError, Option } from "commander";

import { version } from "../../shared/config/package.js";
import { UserError } from "../../shared/process/user-error.js";
import { didYouMean } from "../../shared/text/nearest-word.js";
import type { Action, Command, Entry, Given } from "./command.js";

type Entries = Record<string, Action | Entry>;

/** @throws CommanderError with exit code 0 when it has printed a help text or the version */
export async function runProgram(commands: Entries, args: string[]): Promise<void> {
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
    declare(parser, "load" in entry ? await entry.load() : entry, runProgram);
  });
  // commander itself would print the parent's help for `chanel --help`
  parent.on("beforeHelp", () => {
    const [word] = parent.args;
    if (word !== undefined && !word.startsWith("-")) throw new UserError(faultOf(parent, "commander.unknownCommand"));
  });
}

function declare(parser: Parser, command: Command, runProgram: Run): void {
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
