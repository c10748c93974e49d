import type { Action, Given, Options } from "../cli/command.js";
import { type OnDatabase, runOnDatabase } from "../cli/on-database.js";
import { numberWord } from "./number-word.js";
import { print } from "./print.js";

export const json = { type: "boolean", help: "print JSON" } as const;

interface Result {
  json: unknown;
  text: string;
  /** Thrown after the result is printed. */
  error?: Error;
}

/** An action on one channel or delivery: it takes its number, and prints its result as text or JSON. */
export function actionOnOne(
  noun: "channel" | "delivery",
  about: { summary: string; help: string; options?: Options },
  run: (here: OnDatabase, id: number, values: Given["values"]) => Promise<Result>,
): Action {
  return {
    ...about,
    words: ["ID"],
    options: { ...about.options, json },
    async run({ values, words: [word = ""] }) {
      const id = numberWord(noun, word);
      await runOnDatabase(noun, async (here) => {
        const result = await run(here, id, values);
        print(values["json"], result.json, result.text);
        if (result.error) throw result.error;
      });
    },
  };
}
