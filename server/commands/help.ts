import type { Given } from "../cli/command.js";

export const help = `Describes a command or one of its actions, as --help after it does; without one, it lists all
commands.`;

export const words = ["[COMMAND]", "[ACTION]"];

export function run({ words }: Given, runProgram: (args: string[]) => Promise<void>): Promise<void> {
  return runProgram([...words, "--help"]);
}
