import { hostname } from "node:os";
import { makePoster } from "../alerts/delivery/post.js";
import { makeSealing } from "../alerts/channels/sealing.js";
import type { SendNowOptions } from "../alerts/delivery/send-now.js";
import { serviceAddress } from "../alerts/channels/service-address.js";
import type { OnDatabase } from "../cli/on-database.js";
import { version } from "../../shared/config/package.js";
import { channelKeyOf } from "../../shared/config/settings.js";

/**
 * Sends alerts for an operator who waits for it. When the command is stopped, what is under way is cut, noted so, and
 * waited for.
 *
 * Links in them are those of the service, whatever BASE_URL this shell has.
 *
 * @param work is told to stop by its signal
 * @throws UserError when no core has kept the service's address yet
 */
export async function withSender<Result>(
  { pool, settings, life }: OnDatabase,
  work: (by: SendNowOptions, signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const sealing = makeSealing(channelKeyOf(settings));
  const { baseUrl, siteUrl } = await serviceAddress(pool);
  const poster = makePoster({ allowLoopback: settings.alertLoopback });
  const stopping = new AbortController();
  const working = work(
    {
      db: pool,
      sealing,
      poster,
      baseUrl,
      userAgent: `venuewatch/${version} (+${siteUrl}; alerts)`,
      sender: `${hostname()}:${process.pid}, by hand`,
    },
    stopping.signal,
  );
  life.onClose("sending", async () => {
    stopping.abort();
    await poster.close();
    // what is wrong with it is told by whoever awaits it
    await working.catch(() => {});
  });
  return working;
}
