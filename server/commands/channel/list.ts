import { channelsOf } from "../../alerts/channels/channels.js";
import type { Given, Options } from "../../cli/command.js";
import { runOnDatabase } from "../../cli/on-database.js";
import { print } from "../print.js";
import { channelList } from "./words.js";

export const help = `Lists the channels: where they go, what they are told of, whether they are on, what waits, and what the newest attempt came to.`;

export const options: Options = {
  all: { type: "boolean", help: "also those that were removed" },
  json: { type: "boolean", help: "print JSON" },
};

export async function run({ values }: Given): Promise<void> {
  await runOnDatabase("channel", async ({ pool }) => {
    const channels = await channelsOf(pool, {
      removed: values["all"] === true,
    });
    print(values["json"], channels, channelList(channels));
  });
}
