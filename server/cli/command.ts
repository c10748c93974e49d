/** What the file of a command exports: one command, or actions to choose from. */
export type Command = Runnable | Actions;

export interface Runnable {
  /** Describes the command; `--help` adds the usage and the options. */
  help: string;
  options?: Options;
  /**
   * Arguments besides options, as commander declares them: `ID` is required, `[VENUE]` may be missing, and `[ID...]` is
   * any number of them.
   */
  words?: string[];
  /**
   * A command that runs in lifecycle.ts ends the process itself.
   *
   * @param runProgram runs other arguments instead, for `help`
   */
  run: (given: Given, runProgram: (args: string[]) => Promise<void>) => Promise<void>;
}

export interface Actions {
  /** Describes the noun; `--help` adds the list of actions. */
  help: string;
  actions: Record<string, Action | Entry>;
}

export type Options = Record<string, { type: "string" | "boolean"; help: string }>;

export interface Given {
  values: Record<string, string | boolean | undefined>;
  words: string[];
}

export interface Action extends Runnable {
  summary: string;
}

/** A command or action that is loaded on demand. */
export interface Entry {
  summary: string;
  load: () => Promise<Command>;
  /** Set if its exit code is its answer (`endWithAnswer`). */
  answers?: true;
}
