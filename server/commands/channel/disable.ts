import { disableChannel } from "../../alerts/channels/switch-channel.js";
import type { Given, Options } from "../../cli/command.js";
import { runOnDatabase } from "../../cli/on-database.js";
import { numberWord } from "../number-word.js";
import { print } from "../print.js";
import { stateIn } from "./words.js";

export const help = `Switches a channel off. What happens meanwhile is logged as skipped, and not sent later by itself.`;

export const words = ["ID"];

export const options: Options = {
  json: { type: "boolean", help: "print JSON" },
};

export async function run({ values, words: [word = ""] }: Given): Promise<void> {
  const id = numberWord("channel", word);
  await runOnDatabase("channel", async ({ pool }) => {
    const { before, channel } = await disableChannel(pool, id);
    print(
      values["json"],
      { channel },
      before.state === "off"
        ? `channel ${id} was ${stateIn(before)}\n`
        : `channel ${id} is off; venuewatch channel enable ${id} switches it on\n`,
    );
  });
}
