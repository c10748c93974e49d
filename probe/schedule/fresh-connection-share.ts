import { createHash } from "node:crypto";

/**
 * One slot in so many asks over a connection of its own, so that what a newcomer meets (a name that is gone, a
 * certificate that has expired) is seen although kept connections go on working. At a cadence of five seconds that is
 * once a minute for an endpoint, and less of a load than one reader with a browser.
 */
export const freshEvery = 12;

/** Coprime to `freshEvery`: the endpoints of an origin take turns, as far apart as can be. */
const stride = 5;

/**
 * Whether a slot of an endpoint asks for a fresh connection: the same after a restart, and in whichever process it is
 * measured.
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

/** Venues take turns, too. */
function hashOf(origin: string): number {
  return createHash("sha256").update(origin).digest().readUInt32BE(0);
}
