import { framePaths, pathBefore } from "../server/frame-paths.js";
import type { Match, Stream } from "../server/registry.js";
import type { ChannelNumbers } from "./checks.js";
import { timeMsOf } from "./event-time.js";
import { compileScan, encodedText, kinds, type Scanner } from "./frame-scan.js";

/** Reads the frames of one socket, for all its streams at once. */
export interface FrameReader {
  /** Calls `onData` for each stream whose data the frame is; returns whether it was any's. */
  read(
    frame: Buffer,
    channels: ChannelNumbers,
    onData: (stream: number, frame: DataFrame) => void,
  ): boolean;
}

/** What a frame of data says of itself. Good only until the next frame is read: there is one for each stream. */
export interface DataFrame {
  /** The venue's own time, milliseconds since 1970; null where there is none that can be read. */
  eventMs: number | null;
  /** Its number, and what it says of the frame before (sequence.ts); NaN where it says none. */
  last: number;
  before: number;
}

/** What is looked for in the frames of one stream. Paths are places in the list that is scanned for; -1: none. */
interface Wanted {
  match: number;
  ignore: number;
  time: number;
  unit: NonNullable<Stream["eventTime"]>["unit"];
  last: number;
  before: number;
  /** All of them, as a mask. */
  all: number;
  matches: (channels: ChannelNumbers) => boolean;
  isIgnored: (channels: ChannelNumbers) => boolean;
  frame: DataFrame;
}

const open = 0;
const matched = 1;
const ruledOut = 2;

/**
 * A frame is data of a stream when `match` holds and `ignore` does not. It is scanned until that is known of all
 * streams, and what its own ones want is found.
 */
export function compileFrameReader(streams: readonly Stream[]): FrameReader {
  const paths = framePaths(streams);
  const scanner = compileScan(paths);
  const wanted = streams.map((stream) => wantedOf(stream, paths, scanner));
  const decidesFor = paths.map((_, path) =>
    wanted.flatMap(({ match, ignore }, stream) =>
      match === path || ignore === path ? [stream] : [],
    ),
  );
  const all = wanted.reduce((mask, one) => mask | one.all, 0);
  const standing = new Uint8Array(streams.length);
  let channels: ChannelNumbers = new Map();

  function onFound(path: number): number {
    const decided = decidesFor[path]!;
    if (decided.length === 0) return all;
    for (const stream of decided) decide(stream, wanted[stream]!, path);
    let mask = 0;
    for (let stream = 0; stream < wanted.length; stream += 1)
      if (standing[stream] !== ruledOut) mask |= wanted[stream]!.all;
    return mask;
  }

  function decide(stream: number, one: Wanted, path: number) {
    if (path === one.match && !one.matches(channels))
      standing[stream] = ruledOut;
    if (path === one.ignore && one.isIgnored(channels))
      standing[stream] = ruledOut;
    if (path === one.match && standing[stream] === open)
      standing[stream] = matched;
  }

  return {
    read(frame, known, onData) {
      channels = known;
      for (let stream = 0; stream < standing.length; stream += 1)
        standing[stream] = open;
      if (!scanner.scan(frame, all, onFound)) return false;
      let isData = false;
      for (let stream = 0; stream < wanted.length; stream += 1) {
        if (standing[stream] !== matched) continue;
        isData = true;
        const one = wanted[stream]!;
        const { frame: told } = one;
        if (one.time >= 0) told.eventMs = timeMsOf(scanner, one.time, one.unit);
        if (one.last >= 0) told.last = scanner.number(one.last);
        if (one.before >= 0) told.before = scanner.number(one.before);
        onData(stream, told);
      }
      return isData;
    },
  };
}

function wantedOf(
  { match, ignore, eventTime, sequence }: Stream,
  paths: readonly string[],
  scanner: Scanner,
): Wanted {
  const place = (path: string | undefined) =>
    path === undefined ? -1 : paths.indexOf(path);
  const places = {
    match: place(match.path),
    ignore: place(ignore?.path),
    time: place(eventTime?.path),
    last: place(sequence?.path),
    before: place(pathBefore(sequence)),
  };
  return {
    ...places,
    unit: eventTime?.unit ?? "ms",
    all: Object.values(places).reduce(
      (mask, path) => (path < 0 ? mask : mask | (1 << path)),
      0,
    ),
    matches: testOf(match, places.match, scanner),
    isIgnored: ignore ? testOf(ignore, places.ignore, scanner) : () => false,
    frame: { eventMs: null, last: NaN, before: NaN },
  };
}

/** As `compileMatch`, on what was scanned. */
function testOf(
  { equals }: Match,
  path: number,
  scanner: Scanner,
): (channels: ChannelNumbers) => boolean {
  if (equals === undefined) return () => scanner.kind(path) !== kinds.null;
  if (typeof equals === "number")
    return () =>
      scanner.kind(path) === kinds.number && scanner.value(path) === equals;
  const channel = /^\{chanId:(.+)\}$/.exec(equals)?.[1];
  if (channel !== undefined)
    return (channels) => {
      const number = channels.get(channel);
      return number !== undefined && scanner.value(path) === number;
    };
  const text = encodedText(equals);
  return () => scanner.isText(path, text);
}
