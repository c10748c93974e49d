import { deliveryOf } from "../../alerts/delivery/deliveries.js";
import type { Given, Options } from "../../cli/command.js";
import { runOnDatabase } from "../../cli/on-database.js";
import { numberWord } from "../number-word.js";
import { print } from "../print.js";
import { deliveryText } from "./words.js";

export const help = `Shows one delivery with every attempt: when, by whom, what came of it, and the beginning of the receiver's answer.`;

export const words = ["ID"];

export const options: Options = {
  json: { type: "boolean", help: "print JSON" },
};

export async function run({ values, words: [word = ""] }: Given): Promise<void> {
  const id = numberWord("delivery", word);
  await runOnDatabase("delivery", async ({ pool }) => {
    const delivery = await deliveryOf(pool, id);
    print(values["json"], delivery, deliveryText(delivery));
  });
}
