/** What can be typed where, derived from the commands themselves. */

import type { Action, Commands, Entry, Runnable } from "../../cli/command.js";

/** A place in the command line: `""` is the beginning, `channel add` follows that action. */
export interface Place {
  path: string;
  /** Commands or actions that may follow. */
  names: readonly Described[];
  options: readonly PlaceOption[];
  /** For each argument besides options, the words that are offered; empty: any. */
  words: readonly (readonly string[])[];
}

export interface Described {
  name: string;
  summary: string;
}

export interface PlaceOption {
  /** With its dashes. */
  name: string;
  help: string;
  takesValue: boolean;
  /** The values that are offered; empty: any. */
  values: readonly string[];
}

const help: PlaceOption = { name: "--help", help: "describe this", takesValue: false, values: [] };
const version: PlaceOption = { name: "--version", help: "print the version", takesValue: false, values: [] };

/**
 * Every place of the commands, the beginning first.
 *
 * @param venues ids, offered for arguments and options that are a venue
 */
export async function placesIn(commands: Commands, venues: readonly string[]): Promise<Place[]> {
  const beginning = { path: "", names: described(commands), options: [help, version], words: [] };
  const offers = { VENUE: venues, COMMAND: Object.keys(commands) };
  const below = await Promise.all(Object.entries(commands).map(([name, entry]) => placesOf(name, entry, offers)));
  return [beginning, ...below.flat()];
}

/** Words that are offered for an argument, by its name in `words`. */
type Offers = Record<string, readonly string[]>;

async function placesOf(path: string, entry: Entry | Action, offers: Offers): Promise<Place[]> {
  const command = "load" in entry ? await entry.load() : entry;
  if (!("actions" in command)) return [placeOf(path, command, offers)];
  const { actions } = command;
  const below = Object.entries(actions).map(([name, action]) => placesOf(`${path} ${name}`, action, offers));
  return [{ path, names: described(actions), options: [help], words: [] }, ...(await Promise.all(below)).flat()];
}

function placeOf(path: string, { options = {}, words = [] }: Runnable, offers: Offers): Place {
  const own = Object.entries(options).map(([name, { type, help, values }]): PlaceOption => ({
    ...{ name: `--${name}`, help, takesValue: type === "string" },
    values: values ?? (name === "venue" ? (offers["VENUE"] ?? []) : []),
  }));
  return { path, names: [], options: [...own, help], words: words.map((word) => offered(word, offers)) };
}

/** `bash|zsh` names its words; brackets and dots say only how many there may be. */
function offered(word: string, offers: Offers): readonly string[] {
  const name = word.replace(/^\[|\]$|…\]$/g, "");
  return name.includes("|") ? name.split("|") : (offers[name] ?? []);
}

function described(entries: Record<string, Entry | Action>): Described[] {
  return Object.entries(entries).map(([name, { summary }]) => ({ name, summary }));
}
