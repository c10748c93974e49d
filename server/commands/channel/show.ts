import { channelOf } from "../../alerts/channels/channels.js";
import type { Given, Options } from "../../cli/command.js";
import { runOnDatabase } from "../../cli/on-database.js";
import { numberWord } from "../number-word.js";
import { print } from "../print.js";
import { channelText } from "./words.js";

export const help = `Shows one channel, a removed one too. venuewatch delivery list --channel ID shows what it was sent.`;

export const words = ["ID"];

export const options: Options = {
  json: { type: "boolean", help: "print JSON" },
};

export async function run({ values, words: [word = ""] }: Given): Promise<void> {
  const id = numberWord("channel", word);
  await runOnDatabase("channel", async ({ pool }) => {
    const channel = await channelOf(pool, id);
    print(values["json"], channel, channelText(channel));
  });
}
