/**
 * The result of one measurement. The probe and the rest of the service share nothing else about samples; the table
 * `sample` has the same columns.
 */

/**
 * The closed set of reasons for a bad sample.
 *
 * - `dns` the name did not resolve, while others did
 * - `connect` no TCP connection: refused or unreachable
 * - `tls` the TLS handshake or the certificate failed
 * - `timeout` the deadline passed before the exchange was complete
 * - `http` an unexpected status, redirects included
 * - `blocked` 403, 451, or what the registry says of the answer: a geo-block or a firewall
 * - `limited` 429, 418, 402, or what the registry says of the answer: the venue asks us to wait
 * - `halted` the venue says, by what the registry knows of its words, that it does not trade
 * - `body` the answer was too large, not JSON, or failed its proof
 * - `handshake` the WebSocket upgrade or a subscription was refused
 * - `closed` the peer closed or reset the connection during the exchange
 * - `stall` a stream stayed silent beyond its threshold while its socket was up
 * - `stale` the data's own time does not advance, or is far behind: event times of a stream, the head of a chain, or
 *   the time in an answer
 */
export const faults = [
  "dns",
  "connect",
  "tls",
  "timeout",
  "http",
  "blocked",
  "limited",
  "halted",
  "body",
  "handshake",
  "closed",
  "stall",
  "stale",
] as const;

export type Fault = (typeof faults)[number];

export interface Sample {
  /** Registry id of the venue. */
  venue: string;
  /** `rest:<name>`, `ws:<name>` or `ws:conn`. */
  component: string;
  /**
   * The slot that this sample was scheduled for, not the instant of the measurement: this makes redelivery idempotent.
   */
  slotAt: Date;
  /** How late the slot was started, milliseconds; null where that was at most fifty. */
  lateMs: number | null;
  good: boolean;
  /** Null exactly when the sample is good. */
  fault: Fault | null;
  /**
   * The venue's text by which it refused the stream, one line of at most 200 characters; null where there was none.
   */
  refusal: string | null;
  /**
   * True for an unserved slot: the venue had told us to wait, or the stream's socket was down by the venue's fault.
   * Then `fault` is the cause, and nothing else is known. Null: measured.
   */
  unserved: true | null;
  /**
   * REST and `ws:conn` (time to open): first byte sent to last byte received, in microseconds. Null when there is no
   * complete answer, and where another node than the first of an endpoint's alternatives answered.
   */
  latencyUs: number | null;
  /** Phases, microseconds; null on a reused connection and where the phase was not reached. */
  dnsUs: number | null;
  connectUs: number | null;
  tlsUs: number | null;
  firstByteUs: number | null;
  /**
   * REST: true where the connection was opened for this request, false where it was reused; null where no connection
   * was requested, and for streams.
   */
  fresh: boolean | null;
  /** When the server's certificate expires; null unless a TLS connection was opened in this slot. */
  certificateExpiresAt: Date | null;
  httpStatus: number | null;
  /** The chain height in the answer, on endpoints that read one. */
  head: number | null;
  /** With a head: the probe's clock minus the venues' clock, milliseconds; null while too few venues agree. */
  clockErrorMs: number | null;
  /** The uncertainty of `clockErrorMs` to either side; null exactly when that is null. */
  clockErrorWithinMs: number | null;
  /** Streams only: data frames in the slot. */
  messages: number | null;
  /** Streams only: the longest silence that overlaps the slot, milliseconds. It may have begun before the slot. */
  quietMs: number | null;
  /**
   * Age by the venue's own timestamp, milliseconds, corrected by the known error of our clock: of a stream's newest
   * event at its arrival, or of a REST answer's data.
   */
  eventAgeMs: number | null;
  /** Streams with numbered frames: how often in the slot a number was not the next one. */
  sequenceGaps: number | null;
}

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

/** Probe troubles: what keeps a probe from measuring, or from measuring correctly. */
export const troubleKinds = ["network", "resolver", "sockets", "clock", "starved", "spool"] as const;

export type TroubleKind = (typeof troubleKinds)[number];

export interface Trouble {
  kind: TroubleKind;
  since: Date;
  /** What was observed, in a sentence for operators. */
  detail: string;
}
