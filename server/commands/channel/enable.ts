import { enableChannel } from "../../alerts/channels/switch-channel.js";
import type { Given, Options } from "../../cli/command.js";
import { runOnDatabase } from "../../cli/on-database.js";
import { numberWord } from "../number-word.js";
import { print } from "../print.js";
import { stateIn } from "./words.js";

export const help = `Switches a channel on, whoever had switched it off, and counts its failures anew. What was skipped or failed meanwhile stays so:
--open tells it of what is still open, venuewatch delivery replay sends what you choose.`;

export const words = ["ID"];

export const options: Options = {
  open: {
    type: "boolean",
    help: "tell it of what is open now and did not reach it",
  },
  json: { type: "boolean", help: "print JSON" },
};

export async function run({ values, words: [word = ""] }: Given): Promise<void> {
  const id = numberWord("channel", word);
  const open = values["open"] === true;
  await runOnDatabase("channel", async ({ pool }) => {
    const { before, channel, queued } = await enableChannel(pool, id, open);
    print(
      values["json"],
      { channel, queued },
      [
        before.state === "on" ? `channel ${id} was on already\n` : `channel ${id} is on; it was ${stateIn(before)}\n`,
        ...(open ? [`alerts of what is open now: ${queued}, core sends them\n`] : []),
      ].join(""),
    );
  });
}
