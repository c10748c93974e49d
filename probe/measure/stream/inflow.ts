import { mebibyte } from "../../../shared/config/byte-units.js";
import { partsOf } from "../../../shared/http/parsed-json.js";

/** Arrival time of frames. All frames of one chunk share the same object, and other frames have another. */
export interface Arrival {
  /** `performance.now()` */
  readonly atMs: number;
  /** By the wall clock, milliseconds since 1970. */
  readonly unixMs: number;
}

/** Limits of what a peer may send. Beyond them the socket is ended, no matter what was sent. */
export type Flow = Record<"frames" | "chunks" | "bytes" | "parts", Allowance>;

/** Tracks the arrivals on one socket: when they come, and whether they are too many. */
export interface Inflow {
  opened: (atMs: number) => void;
  /** Must be called for each chunk, before its frames are parsed. Limits bytes, because fragments emit no events. */
  onChunk: (chunk: Buffer) => void;
  /** Must be called for each frame that was decompressed: a kilobyte may become a megabyte. */
  onDecompressed: (bytes: number) => void;
  /** Must be called for frames of any kind, with the message if it is one, before it is parsed. */
  onFrame: (message?: Buffer) => Arrival;
  /** When the newest frame arrived; without one, when the socket opened; until then `startMs`. */
  heardMs: () => number;
}

export interface InflowOptions {
  flow?: Flow | undefined;
  /** Start of the connection, by `performance.now()`. */
  startMs: number;
  /** Called for frames of any kind; once for all that arrived in one chunk. */
  onHeard: (arrival: Arrival) => void;
  /** Called with words about the limit that is exceeded. */
  onFlood: (detail: string) => void;
}

/**
 * The busiest socket of the registry usually receives some fifty frames a second. At peak times it may be a hundred
 * times as many, which is no fault. Frames up to this limit take a fifteenth of a core's time. Bytes are limited more
 * tightly: they may arrive as fragments of two bytes, whose cost is far out of proportion to their size. So is the cost
 * of chunks, whose number the limit of fragments does not bound: each byte of a frame may arrive alone. Parts are the
 * brackets, commas and colons of JSON. Each of them has a cost as well: V8 keeps each new key until it next collects
 * all of its memory. Five thousand of Binance's trades have 110,000.
 */
const usualFlow: Flow = {
  frames: { burst: 100_000, perSecond: 20_000 },
  chunks: { burst: 100_000, perSecond: 20_000 },
  bytes: { burst: 16 * mebibyte, perSecond: 4 * mebibyte },
  parts: { burst: 300_000, perSecond: 200_000 },
};

export function makeInflow({ flow = usualFlow, startMs, onHeard, onFlood }: InflowOptions): Inflow {
  const framesLeft = makeBucket(flow.frames);
  const chunksLeft = makeBucket(flow.chunks);
  const bytesLeft = makeBucket(flow.bytes);
  const partsLeft = makeBucket(flow.parts);
  // Read once per chunk: its frames arrived together, and reading clocks costs more than handling small frames.
  let arrival: Arrival = { atMs: startMs, unixMs: Date.now() };
  let heard = arrival;

  function flooded(what: keyof Flow) {
    const { burst, perSecond } = flow[what];
    onFlood(`the peer sends too much: more than ${burst} ${what} at once, or ${perSecond} a second`);
  }

  return {
    opened(atMs) {
      heard = { atMs, unixMs: Date.now() };
    },
    onChunk({ length }) {
      arrival = { atMs: performance.now(), unixMs: Date.now() };
      if (!bytesLeft.take(length, arrival.atMs)) flooded("bytes");
      else if (!chunksLeft.take(1, arrival.atMs)) flooded("chunks");
    },
    onDecompressed(bytes) {
      if (!bytesLeft.take(bytes, arrival.atMs)) flooded("bytes");
    },
    onFrame(message) {
      if (!framesLeft.take(1, arrival.atMs)) flooded("frames");
      else if (message && !partsLeft.take(partsOf(message), arrival.atMs)) flooded("parts");
      else if (arrival !== heard) {
        heard = arrival;
        onHeard(arrival);
      }
      return arrival;
    },
    heardMs: () => heard.atMs,
  };
}

interface Allowance {
  burst: number;
  perSecond: number;
}

/** A token bucket: allows `burst` at once, and `perSecond` a second after that. */
export function makeBucket({ burst, perSecond }: Allowance): {
  /** Takes the amount if so much is left at `atMs` (by `performance.now()`). Returns whether it was. */
  take(amount: number, atMs: number): boolean;
} {
  // An array, because each new fraction in a variable is allocated as an object, which most frames would cause.
  const left = new Float64Array([burst]);
  let filledMs: number | null = null;

  return {
    take(amount, atMs) {
      if (left[0]! < amount) {
        const passedMs = atMs - (filledMs ?? atMs);
        left[0] = Math.min(burst, left[0]! + (passedMs * perSecond) / 1000);
        filledMs = atMs;
      }
      filledMs ??= atMs;
      if (left[0]! < amount) return false;
      left[0]! -= amount;
      return true;
    },
  };
}
