/**
 * Why a slot has no sample. None of these is a word about the venue.
 *
 * - `overlap` the measurement before was still running
 * - `late` the slot came up far too late, or not at all: a busy process, a machine that slept
 * - `starved` this process stood still while it measured
 * - `resolver` no name resolves here, or there is no other name to compare with; or the look-up had to wait for others
 * - `network` no way out of this machine: it says so itself, or nobody at all answered meanwhile
 * - `sockets` no socket, port or memory to be had on this machine
 * - `clock` this machine's clock is off by seconds, as the venues' answers say: the sample's time would be wrong
 * - `stale` a connection kept from earlier was closed just as it was used again
 * - `starting` a socket that is not open, and of which it is not known yet why
 * - `subscribing` a stream that was not subscribed for the whole slot, and not by a fault of the venue: its socket was
 *   just opened, or is down for trouble of our own
 * - `broken` a fault of the probe itself, logged as an error
 */
export const unmeasuredReasons = [
  "overlap",
  "late",
  "starved",
  "resolver",
  "network",
  "sockets",
  "clock",
  "stale",
  "starting",
  "subscribing",
  "broken",
] as const;

export type UnmeasuredReason = (typeof unmeasuredReasons)[number];
