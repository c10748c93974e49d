/** What a file in `commands/` exports: something to run, or some actions to choose from. */
export type Command = Runnable | Actions;

export interface Runnable {
  /** What it does, in some sentences; `--help` adds the usage and the options. */
  help: string;
  options?: Options;
  /** The words that it takes besides options, as `--help` shows them; `[ID…]` stands for any number. */
  words?: string[];
  /** A command with a life (lifecycle.ts) exits by itself. */
  run: (given: Given) => Promise<void>;
}

export interface Actions {
  /** What they are about; `--help` adds the list. */
  help: string;
  actions: Record<string, Entry>;
}

export type Options = Record<
  string,
  {
    type: "string" | "boolean";
    help: string;
    /**
     * Whoever has the value can do harm. Then no word is repeated in a message: it may be one that missed its option.
     */
    secret?: boolean;
  }
>;

export interface Given {
  values: Record<string, string | boolean | undefined>;
  words: string[];
}

export interface Entry {
  summary: string;
  load: () => Promise<Command>;
}
