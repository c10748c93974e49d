/** Creates the channels of the demo's receivers as `channel add` does. */
import { addChannel } from "../server/alerts/channels/add-channel.js";
import { channelsOf } from "../server/alerts/channels/channels.js";
import { credentialOf } from "../server/alerts/channels/credential.js";
import { openDestination, type SealedDestination } from "../server/alerts/channels/open-destination.js";
import { removeChannel } from "../server/alerts/channels/remove-channel.js";
import type { Sealing } from "../server/alerts/channels/sealing.js";
import type { Pool } from "../shared/database/pool.js";
import type { Log } from "../shared/log/log.js";
import { UserError } from "../shared/process/user-error.js";
import { demoAddresses, type DemoReceiver, demoReceivers, storeSecrets } from "./demo-receivers.js";

/**
 * Afterwards each receiver has exactly one channel. An existing channel is reused. A new one replaces a channel that
 * leads elsewhere or that this key can no longer read.
 *
 * @param dir the directory where the world stored its receivers' addresses, and from which the receivers read their
 * secrets
 */
export async function addDemoChannels(pool: Pool, sealing: Sealing, dir: string, log: Log): Promise<void> {
  const addresses = await demoAddresses(dir);
  const secrets: Record<string, string> = {};
  for (const receiver of demoReceivers) {
    const url = addresses[receiver.name]!;
    const secret =
      (await secretOfStanding(pool, sealing, receiver, url, log)) ?? (await add(pool, sealing, receiver, url, log));
    if (secret !== "") secrets[receiver.name] = secret;
  }
  await storeSecrets(dir, secrets);
}

/**
 * Returns an empty string where the format has no secret, and null where the receiver has no channel that leads to it.
 */
async function secretOfStanding(
  pool: Pool,
  sealing: Sealing,
  { name, channel: wanted }: DemoReceiver,
  url: string,
  log: Log,
): Promise<string | null> {
  let found: string | null = null;
  for (const { id, description } of await channelsOf(pool, {})) {
    if (description !== wanted.description) continue;
    const [sealed] = await pool.file<SealedDestination>("channel_destination", [id]);
    const to = opened(sealed!, sealing);
    if (found === null && to?.url === url) found = to.secret;
    else {
      await removeChannel(pool, id);
      log.info("removed a channel that does not lead to its receiver", { receiver: name, id });
    }
  }
  return found;
}

function opened(sealed: SealedDestination, sealing: Sealing) {
  try {
    const to = openDestination(sealed, sealing);
    if (to.format === "paging") return null;
    return {
      url: to.url,
      secret: to.format === "native" ? to.secrets[0]! : "",
    };
  } catch (error) {
    // the demo was started with another key before
    if (error instanceof UserError) return null;
    throw error;
  }
}

async function add(
  pool: Pool,
  sealing: Sealing,
  { name, channel }: DemoReceiver,
  url: string,
  log: Log,
): Promise<string> {
  const added = await addChannel(pool, sealing, {
    ...channel,
    serviceRegion: null,
    credential: credentialOf(channel.format, url, true),
    categories: null,
    open: false,
  });
  log.info("added a channel", { receiver: name, id: added.channel.id });
  return added.secret ?? "";
}
