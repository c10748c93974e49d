import type { Delivery } from "../../alerts/delivery/delivery.js";
import { missedBy, replayAll, replaysOf } from "../../alerts/delivery/replay-deliveries.js";
import type { Given, Options } from "../../cli/command.js";
import { runOnDatabase } from "../../cli/on-database.js";
import { UserError } from "../../../shared/process/user-error.js";
import { withSender } from "../send-now.js";
import { numberWord } from "../number-word.js";
import { print } from "../print.js";
import { since } from "../since.js";
import { outcomeIn } from "./words.js";

export const help = `Sends alerts again at once, from here, in the order in which things happened, an attempt each: these deliveries, or with
--channel what failed or was skipped there and did not arrive later. The eventId stays, the signature is new, and the incident is
shown as it is now. It works on a channel that is off, and moves neither its switch nor its failures.

Not sent are alerts of incidents that were retracted. A receiver that asks to be left alone gets nothing more.`;

export const words = ["[ID…]"];

const usualSince = "24h";

export const options = {
  channel: { type: "string", help: "what this channel missed, by its number" },
  since: {
    type: "string",
    help: `with --channel: since then, like 30m, 2h or 7d ago (default ${usualSince})`,
  },
  json: { type: "boolean", help: "print JSON" },
} satisfies Options;

export async function run({ values, words }: Given): Promise<void> {
  const given = values as Partial<Record<keyof typeof options, string>>;
  const ids = words.map((word) => numberWord("delivery", word));
  if (ids.length > 0 === (given.channel !== undefined))
    throw new UserError(
      `delivery replay: expected numbers of deliveries or --channel, got ${ids.length > 0 ? "both" : "neither"}`,
    );
  if (given.since !== undefined && given.channel === undefined)
    throw new UserError("delivery replay: --since goes with --channel, not with numbers of deliveries");
  const channel = given.channel === undefined ? null : numberWord("channel", given.channel);
  const from = since("--since", given.since ?? usualSince, new Date());
  await runOnDatabase("delivery", async (here) => {
    const replays = channel === null ? await replaysOf(here.pool, ids) : await missedBy(here.pool, channel, from);
    const sent: Delivery[] = [];
    let failed = 0;
    await withSender(here, async (by, signal) => {
      for await (const one of replayAll(by, replays, signal)) {
        const { replay, sent: again } = one;
        if (again) sent.push(again.delivery);
        if (again?.delivery.state !== "delivered") failed += 1;
        if (values["json"]) continue;
        const came = again
          ? `as ${again.delivery.id}: ${outcomeIn(again.delivery.attempts.at(-1))}`
          : "not sent, as the receiver wants nothing more now";
        process.stdout.write(`delivery ${replay.delivery} (event ${replay.event}, ${replay.slug}) ${came}\n`);
      }
    });
    print(
      values["json"],
      sent,
      replays.length === 0
        ? `nothing to send again: channel ${channel} missed nothing since ${from.toISOString()}\n`
        : "",
    );
    if (failed > 0)
      throw new UserError(`${failed} of ${replays.length} did not arrive; venuewatch delivery show says more of each`);
  });
}
