import { deliveriesOf } from "../../alerts/delivery/deliveries.js";
import { deliveryStates } from "../../alerts/delivery/delivery.js";
import type { Given, Options } from "../../cli/command.js";
import { runOnDatabase } from "../../cli/on-database.js";
import { UserError } from "../../../shared/process/user-error.js";
import { numberWord } from "../number-word.js";
import { oneOf } from "../one-of.js";
import { print } from "../print.js";
import { since } from "../since.js";
import { deliveryList } from "./words.js";

export const help = `Lists deliveries, newest first. Options hold together.`;

const mostRows = 10_000;
const usualRows = 50;

export const options = {
  channel: { type: "string", help: "of this channel, by its number" },
  incident: { type: "string", help: "of this incident, by its slug" },
  state: { type: "string", help: `only ${deliveryStates.join(", ")}` },
  since: { type: "string", help: "made since then, like 30m, 2h or 7d ago" },
  limit: {
    type: "string",
    help: `at the most, up to ${mostRows} (default ${usualRows})`,
  },
  json: { type: "boolean", help: "print JSON" },
} satisfies Options;

export async function run({ values }: Given): Promise<void> {
  const given = values as Partial<Record<keyof typeof options, string>>;
  const limit = limitOf(given.limit);
  const wanted = {
    channel: given.channel === undefined ? null : numberWord("channel", given.channel),
    incident: given.incident ?? null,
    state: given.state === undefined ? null : oneOf("--state", deliveryStates, given.state),
    since: given.since === undefined ? null : since("--since", given.since, new Date()),
    limit,
  };
  await runOnDatabase("delivery", async ({ pool }) => {
    const deliveries = await deliveriesOf(pool, wanted);
    const more = deliveries.length === limit ? `the newest ${limit}; --limit shows more\n` : "";
    print(values["json"], deliveries, deliveryList(deliveries) + more);
  });
}

function limitOf(text: string | undefined): number {
  if (text === undefined) return usualRows;
  const rows = /^\d{1,5}$/.test(text) ? Number(text) : NaN;
  if (rows >= 1 && rows <= mostRows) return rows;
  throw new UserError(`--limit: expected a whole number from 1 to ${mostRows}, got ${JSON.stringify(text)}`);
}
