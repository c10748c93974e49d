import { masked } from "../../shared/text/masked-text.js";
import { nearestWord } from "../../shared/text/nearest-word.js";
import { UserError } from "../../shared/process/user-error.js";
import type { Action, Actions, Command, Commands, Entry } from "./command.js";

/** There is no such command, so it is not known which exit codes were expected. */
export class NoSuchCommand extends UserError {
  override name = "NoSuchCommand";
}

export interface FoundCommand {
  /** With the names of its actions: `channel add`. */
  name: string;
  command: Command;
  /** What follows. */
  rest: string[];
}

/**
 * Follows the words to a command, and on to its action as long as they name one.
 *
 * @throws UserError where a word names none
 */
export async function foundCommand(commands: Commands, [name = "", ...rest]: string[]): Promise<FoundCommand> {
  const entry = entryOf(commands, name);
  if (entry === undefined)
    throw new NoSuchCommand(
      `there is no command ${JSON.stringify(masked(name))}, expected one of ${Object.keys(commands).join(", ")}${didYouMean(name, Object.keys(commands))}; see venuewatch --help`,
    );
  return actionOf({ name, command: await entry.load(), rest });
}

async function actionOf({ name, command, rest }: FoundCommand): Promise<FoundCommand> {
  const [action, ...others] = rest;
  if (!("actions" in command) || action === undefined || isHelp(action)) return { name, command, rest };
  const entry = entryOf(command.actions, action);
  if (entry === undefined) throw noSuchAction(name, command, action);
  const loaded = "load" in entry ? await entry.load() : entry;
  return actionOf({ name: `${name} ${action}`, command: loaded, rest: others });
}

export function isHelp(word: string | undefined): boolean {
  return word === "--help" || word === "-h";
}

/** @param action absent: there was none */
export function noSuchAction(name: string, { actions }: Actions, action?: string): UserError {
  const names = Object.keys(actions);
  const got = action === undefined ? "needs an action" : `has no action ${JSON.stringify(action)}`;
  const hint = action === undefined ? "" : didYouMean(action, names);
  return new UserError(`${name} ${got}, expected one of ${names.join(", ")}${hint}; see venuewatch ${name} --help`);
}

/** A question to append to an error; empty if no word is near. It does not repeat what was typed. */
export function didYouMean(typed: string, words: readonly string[]): string {
  const near = nearestWord(typed, words);
  return near === null ? "" : `; did you mean ${near}?`;
}

function entryOf<One extends Action | Entry>(entries: Record<string, One>, name: string): One | undefined {
  return Object.hasOwn(entries, name) ? entries[name] : undefined;
}
