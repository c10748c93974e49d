import { sendNow } from "../../alerts/delivery/send-now.js";
import type { Given, Options } from "../../cli/command.js";
import { runOnDatabase } from "../../cli/on-database.js";
import { UserError } from "../../../shared/process/user-error.js";
import { withSender } from "../send-now.js";
import { deliveryText, outcomeIn } from "../delivery/words.js";
import { numberWord } from "../number-word.js";
import { print } from "../print.js";

export const help = `Sends a test alert at once, from here, and says what came of it. It has eventId 0 and test true; at a paging service it opens an
incident, which is to be resolved there. It works on a channel that is off, and moves neither its switch nor its failures.`;

export const words = ["ID"];

export const options: Options = {
  json: { type: "boolean", help: "print JSON" },
};

export async function run({ values, words: [word = ""] }: Given): Promise<void> {
  const id = numberWord("channel", word);
  await runOnDatabase("channel", async (here) => {
    const { delivery } = await withSender(here, (by) => sendNow(by, id, null));
    print(values["json"], delivery, deliveryText(delivery));
    if (delivery.state !== "delivered")
      throw new UserError(`the test alert did not arrive: ${outcomeIn(delivery.attempts.at(-1))}`);
  });
}
