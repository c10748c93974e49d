/**
 * Why a slot has no sample. None of these reasons says anything about the venue.
 *
 * - `overlap` the previous measurement was still running
 * - `late` the slot was started far too late, or not at all: a busy process, a machine that slept
 * - `starved` this process was not scheduled while it measured
 * - `resolver` no name resolves here, or there is no other name to compare with, or the lookup had to wait for others
 * - `network` this machine has no route, by its own error, or because no venue at all answered meanwhile
 * - `sockets` this machine has no free socket, port or memory
 * - `paused` we have chosen to ask later, because the venue limits or blocks our requests without saying for how long
 * - `provider` a third party's node, through which the venue is read, failed, and so did all alternatives to it; or too
 *   few providers of a chain were heard to tell whether it stands
 * - `clock` this machine's clock is off by seconds according to the venues' answers: the sample's time would be wrong
 * - `stale` a kept-alive connection was closed just as it was reused
 * - `starting` a socket that is not open, for a reason that is not known yet
 * - `subscribing` a stream that was not subscribed for the whole slot, not by the venue's fault: its socket was just
 *   opened, or is down for a trouble of the probe
 * - `broken` a bug of the probe, logged as an error
 */
export const unmeasuredReasons = [
  "overlap",
  "late",
  "starved",
  "resolver",
  "network",
  "sockets",
  "paused",
  "provider",
  "clock",
  "stale",
  "starting",
  "subscribing",
  "broken",
] as const;

export type UnmeasuredReason = (typeof unmeasuredReasons)[number];
