import { framePaths, pathBefore } from "../server/frame-paths.js";
import type { Match, Stream } from "../server/registry.js";
import type { ChannelNumbers } from "./checks.js";
import { timeMsOf } from "./event-time.js";
import { compileScan, encodedText, type Scanner } from "./frame-scan.js";
import type { Shape } from "./frame-shape.js";
import { kinds } from "./json-bytes.js";

/** Reads the frames of one socket, for all its streams at once. */
export interface FrameReader {
  /** Calls `onData` for each stream whose data the frame is; returns whether it was any's. */
  read(frame: Buffer, channels: ChannelNumbers, onData: OnData): boolean;
}

type OnData = (stream: number, frame: DataFrame) => void;

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

/** The frames of one stream as they are usually built. */
interface Usual {
  shape: Shape;
  /** Whose data they are. */
  streams: number[];
}

/** A shape is kept of the first frame that has no known one, and of each so many after it: keeping costs as much as five scans. */
const keptEvery = 16;

const open = 0;
const matched = 1;
const ruledOut = 2;

/**
 * A frame is data of a stream when `match` holds and `ignore` does not. It is scanned until that is known of all
 * streams, and what its own ones want is found; or just followed, where the shape of the frame is known (frame-shape.ts).
 */
export function compileFrameReader(streams: readonly Stream[]): FrameReader {
  const paths = framePaths(streams);
  const deciding = streams.flatMap(({ match, ignore }) =>
    [match, ignore].flatMap((one) =>
      one?.equals === undefined ? [] : [paths.indexOf(one.path)],
    ),
  );
  const scanner = compileScan(
    paths,
    deciding.reduce((mask, path) => mask | (1 << path), 0),
  );
  const wanted = streams.map((stream) => wantedOf(stream, paths, scanner));
  const decidesFor = paths.map((_, path) =>
    wanted.flatMap(({ match, ignore }, stream) =>
      match === path || ignore === path ? [stream] : [],
    ),
  );
  const all = wanted.reduce((mask, one) => mask | one.all, 0);
  const standing = new Uint8Array(streams.length);
  // Whose data a frame is may depend on what was said before it, or on a value that is read besides.
  const hasShapes =
    !streams.some(({ match }) => channelOf(match)) &&
    !wanted.some(({ time, last, before }) =>
      [time, last, before].some((path) => deciding.includes(path)),
    );
  const usual: (Usual | undefined)[] = streams.map(() => undefined);
  let newest = 0;
  let unknown = 0;
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

  function scanned(frame: Buffer, onData: OnData): boolean {
    for (let stream = 0; stream < standing.length; stream += 1)
      standing[stream] = open;
    const keepsShape = hasShapes && unknown % keptEvery === 0;
    if (!scanner.scan(frame, all, onFound, keepsShape)) return false;
    const first = standing.indexOf(matched);
    if (first < 0) return false;
    unknown += 1;
    if (keepsShape) keep(first);
    for (let stream = first; stream < wanted.length; stream += 1)
      if (standing[stream] === matched) tell(stream, onData);
    return true;
  }

  function keep(first: number) {
    const shape = scanner.shape();
    if (!shape) return;
    const streams = [...standing.keys()].filter(
      (stream) => standing[stream] === matched,
    );
    usual[first] = { shape, streams };
    newest = first;
  }

  /** Streams take turns, but often one says much at once. */
  function followed(frame: Buffer): Usual | undefined {
    const last = usual[newest];
    if (last && scanner.follow(last.shape, frame)) return last;
    for (let first = 0; first < usual.length; first += 1) {
      const other = usual[first];
      if (first === newest || !other) continue;
      if (!scanner.follow(other.shape, frame)) continue;
      newest = first;
      return other;
    }
    return undefined;
  }

  function tell(stream: number, onData: OnData) {
    const { frame, time, unit, last, before } = wanted[stream]!;
    if (time >= 0) frame.eventMs = timeMsOf(scanner, time, unit);
    if (last >= 0) frame.last = scanner.number(last);
    if (before >= 0) frame.before = scanner.number(before);
    onData(stream, frame);
  }

  return {
    read(frame, known, onData) {
      channels = known;
      const alike = followed(frame);
      if (!alike) return scanned(frame, onData);
      const { streams } = alike;
      for (let i = 0; i < streams.length; i += 1) tell(streams[i]!, onData);
      return true;
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

/** The name of the channel whose number is meant. */
function channelOf({ equals }: Match): string | undefined {
  return /^\{chanId:(.+)\}$/.exec(String(equals))?.[1];
}

/** As `compileMatch`, on what was scanned. */
function testOf(
  match: Match,
  path: number,
  scanner: Scanner,
): (channels: ChannelNumbers) => boolean {
  const { equals } = match;
  if (equals === undefined) return () => scanner.kind(path) !== kinds.null;
  if (typeof equals === "number")
    return () =>
      scanner.kind(path) === kinds.number && scanner.value(path) === equals;
  const channel = channelOf(match);
  if (channel !== undefined)
    return (channels) => {
      const number = channels.get(channel);
      return number !== undefined && scanner.value(path) === number;
    };
  const text = encodedText(equals);
  return () => scanner.isText(path, text);
}
