import { removeChannel } from "../../alerts/channels/remove-channel.js";
import type { Given, Options } from "../../cli/command.js";
import { runOnDatabase } from "../../cli/on-database.js";
import { numberWord } from "../number-word.js";
import { print } from "../print.js";

export const help = `Removes a channel: its URL, key and secrets are wiped, and what waits for it is skipped. It cannot be undone. The log of what it
was sent stays, and channel list --all shows it.`;

export const words = ["ID"];

export const options: Options = {
  json: { type: "boolean", help: "print JSON" },
};

export async function run({ values, words: [word = ""] }: Given): Promise<void> {
  const id = numberWord("channel", word);
  await runOnDatabase("channel", async ({ pool }) => {
    const removed = await removeChannel(pool, id);
    print(
      values["json"],
      removed,
      `channel ${id} is removed; deliveries that waited and are skipped now: ${removed.skipped}\n`,
    );
  });
}
