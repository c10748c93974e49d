import { createHash } from "node:crypto";

/**
 * One slot in this many opens a new connection, so that the probe sees faults that only new clients meet (a missing
 * name, an expired certificate) while kept-alive connections still work. At a cadence of five seconds that is once a
 * minute for an endpoint, and less load than one reader with a browser.
 */
export const freshEvery = 12;

/** Coprime to `freshEvery`: the endpoints of an origin take turns, as far apart as possible. */
const stride = 5;

/**
 * Whether a slot of an endpoint uses a new connection. The result is the same after a restart, and in every process.
 *
 * @param place of the endpoint among those of its venue
 */
export function makeFreshConnectionShare(
  { url, cadenceMs }: { url: string; cadenceMs: number },
  place: number,
): (slotAt: Date) => boolean {
  const turn = (hashOf(new URL(url).origin) + place * stride) % freshEvery;
  return (slotAt) => Math.floor(+slotAt / cadenceMs) % freshEvery === turn;
}

/** Spreads the turns of the venues. */
function hashOf(origin: string): number {
  return createHash("sha256").update(origin).digest().readUInt32BE(0);
}
