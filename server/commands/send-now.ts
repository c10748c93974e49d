import { hostname } from "node:os";
import { makePoster } from "../alerts/delivery/post.js";
import { makeSealing } from "../alerts/channels/sealing.js";
import type { SendNowOptions } from "../alerts/delivery/send-now.js";
import { serviceAddress } from "../alerts/channels/service-address.js";
import type { OnDatabase } from "../cli/on-database.js";
import { version } from "../../shared/config/package.js";
import { channelKeyOf } from "../../shared/config/settings.js";

/**
 * Sends alerts for an operator who waits for the result. When the command is stopped, the attempt in progress is
 * aborted, recorded as such, and awaited.
 *
 * Links in the alerts use the address that core stored, not this shell's BASE_URL.
 *
 * @param work stops when its signal aborts
 * @throws UserError when no core has stored the service's address yet
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
    // its error is reported where it is awaited
    await working.catch(() => {});
  });
  return working;
}
