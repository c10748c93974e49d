import { channelsOf, noChannel } from "../../alerts/channels/channels.js";
import { credentialOf } from "../../alerts/channels/credential.js";
import { replaceCredential, rotateSecret } from "../../alerts/channels/rotate-channel.js";
import { makeSealing } from "../../alerts/channels/sealing.js";
import type { Given, Options } from "../../cli/command.js";
import { runOnDatabase } from "../../cli/on-database.js";
import { channelKeyOf } from "../../../shared/config/settings.js";
import { UserError } from "../../../shared/process/user-error.js";
import { numberWord } from "../number-word.js";
import { print } from "../print.js";
import { credentialText } from "./credential-text.js";

export const help = `Replaces what is secret. Of a native channel the signing secret: the new one is shown, this once, and for a while both sign, so
that the receiver can change at any time. Of a chat or paging channel the URL or the key.`;

export const words = ["ID"];

/** A month: a secret that should go is not kept for longer. */
const mostHours = 720;
const usualHours = 24;

export const options = {
  overlap: {
    type: "string",
    help: `of native: hours for which the former secret signs too, 0 to ${mostHours} (default ${usualHours})`,
  },
  url: {
    type: "string",
    secret: true,
    help: "of chat: the new URL; - reads it from standard input",
  },
  key: {
    type: "string",
    secret: true,
    help: "of paging: the new routing key; - reads it from standard input",
  },
  json: { type: "boolean", help: "print JSON" },
} satisfies Options;

type Values = Partial<Record<keyof typeof options, string>>;

export async function run({ values, words: [word = ""] }: Given): Promise<void> {
  const id = numberWord("channel", word);
  const given = values as Values;
  const hours = hoursOf(given.overlap);
  await runOnDatabase("channel", async ({ pool, settings }) => {
    const sealing = makeSealing(channelKeyOf(settings));
    const [standing] = await channelsOf(pool, { id });
    if (!standing) throw await noChannel(pool, id);
    const { format } = standing;
    if (format === "native") {
      refuse(
        given,
        ["url", "key"],
        `channel ${id} is native: its signing secret is replaced; for another URL add another channel`,
      );
      const rotated = await rotateSecret(pool, sealing, id, hours);
      const until = rotated.channel.formerSecretUntil;
      print(
        values["json"],
        rotated,
        [
          `new signing secret of channel ${id}, shown this once: ${rotated.secret}\n`,
          until === null ? "the former one ended now\n" : `the former one signs beside it until ${until}\n`,
        ].join(""),
      );
      return;
    }
    refuse(
      given,
      ["overlap"],
      `channel ${id} is of format ${format}: its ${format === "chat" ? "URL" : "key"} is replaced at once`,
    );
    const credential = credentialOf(
      format,
      await credentialText("channel rotate", format, given),
      settings.alertLoopback,
    );
    const channel = await replaceCredential(pool, sealing, id, credential);
    print(values["json"], { channel }, `channel ${id} goes to ${channel.to} from now on\n`);
  });
}

function refuse(given: Values, unfit: (keyof Values)[], why: string): void {
  const option = unfit.find((option) => given[option] !== undefined);
  if (option !== undefined) throw new UserError(`channel rotate: --${option} does not fit: ${why}`);
}

function hoursOf(text: string | undefined): number {
  if (text === undefined) return usualHours;
  const hours = /^\d{1,3}$/.test(text) ? Number(text) : NaN;
  if (hours <= mostHours) return hours;
  throw new UserError(`--overlap: expected whole hours from 0 to ${mostHours}, got ${JSON.stringify(text)}`);
}
