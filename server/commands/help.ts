import type { Commands, Given } from "../cli/command.js";
import { foundCommand } from "../cli/found-command.js";
import { helpOf, helpOfAll } from "../cli/help-text.js";
import { UserError } from "../../shared/process/user-error.js";

export const help = `Describes a command or one of its actions, as --help after it does; without one, it lists all
commands.`;

export const words = ["[COMMAND]", "[ACTION]"];

export async function run({ words }: Given, commands: Commands): Promise<void> {
  process.stdout.write(`${words.length === 0 ? helpOfAll(commands) : await helpAt(words, commands)}\n`);
}

async function helpAt(path: string[], commands: Commands): Promise<string> {
  const found = await foundCommand(commands, path);
  if (found.rest.length > 0)
    throw new UserError(`${found.name} has no actions; venuewatch help ${found.name} describes it`);
  return helpOf(found);
}
