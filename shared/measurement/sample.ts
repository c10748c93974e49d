/**
 * What one measurement yields. This is all that the probe and the rest of the
 * service share about samples; the table `sample` has the same columns.
 */

/**
 * The closed set of reasons for a bad sample.
 *
 * - `dns` the name did not resolve, while others did
 * - `connect` no TCP connection: refused or unreachable
 * - `tls` the TLS handshake or the certificate failed
 * - `timeout` the deadline passed, whatever had come by then
 * - `http` an unexpected status, redirects included
 * - `blocked` 403, 451 and kin: a geo-block or a firewall
 * - `limited` 429 or 418: the venue rations us
 * - `body` the answer was too large, not JSON, or lacks what proves it good
 * - `handshake` the WebSocket upgrade or a subscription was refused
 * - `closed` the peer closed or reset the connection in mid-exchange
 * - `stall` a stream stayed silent beyond its threshold, its socket being up
 * - `stale` the data's own time stands still or is far behind: event times of a stream, the head of a chain, the time
 *   that an answer bears
 */
export const faults = [
  "dns",
  "connect",
  "tls",
  "timeout",
  "http",
  "blocked",
  "limited",
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
  /** The slot this sample was scheduled for, not the instant it was taken: a replay is idempotent. */
  slotAt: Date;
  /** How long after the slot's instant its turn came, milliseconds; null where that was at most fifty. */
  lateMs: number | null;
  good: boolean;
  /** Null exactly when the sample is good. */
  fault: Fault | null;
  /**
   * How the venue put it that it does not serve the stream, one line of at most 200 characters; null where it said
   * nothing.
   */
  refusal: string | null;
  /**
   * True where the venue prevented the slot: it had told us to wait, or the socket of the stream was down by its fault.
   * `fault` is what prevented it, and nothing else is known. Null: measured.
   */
  unserved: true | null;
  /**
   * REST and `ws:conn` (time to open): first byte sent to last byte received, in microseconds. Null when there is no
   * complete answer.
   */
  latencyUs: number | null;
  /** Phases, microseconds; null on a reused connection and where the phase was not reached. */
  dnsUs: number | null;
  connectUs: number | null;
  tlsUs: number | null;
  firstByteUs: number | null;
  /**
   * REST: whether the connection was opened for this request, or kept from an earlier one; null where none was asked
   * for, and for streams.
   */
  fresh: boolean | null;
  /** Until when the server's certificate is valid; null but where a TLS connection was opened in this slot. */
  certificateExpiresAt: Date | null;
  httpStatus: number | null;
  /** Height of the chain that the answer names, on endpoints that read one. */
  head: number | null;
  /**
   * Where there is a head: the probe's clock less that of the venues, milliseconds; null while too few of them agree.
   */
  clockErrorMs: number | null;
  /** How far off that may be to either side; null exactly when that is. */
  clockErrorWithinMs: number | null;
  /** Streams only: data frames in the slot. */
  messages: number | null;
  /** Streams only: the longest silence that touches the slot, milliseconds. It may have begun before the slot. */
  quietMs: number | null;
  /**
   * By the venue's own time stamp, of the newest event of a stream at its arrival, or of a REST answer's data,
   * milliseconds, less what is known to be wrong with our own clock.
   */
  eventAgeMs: number | null;
  /** Streams whose frames are numbered: how often in the slot a number was not the one that follows. */
  sequenceGaps: number | null;
}
