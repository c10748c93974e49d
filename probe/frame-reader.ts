import { framePaths, pathBefore } from "../server/frame-paths.js";
import { conditionsOf, type Match, type Stream } from "../server/registry.js";
import type { ChannelNumbers } from "./checks.js";
import { compileScan, encodedText, type Scanner } from "./frame-scan.js";
import { chars, isClosed, isSame, kinds } from "./json-bytes.js";

/** Reads the frames of one socket, for all its streams at once. */
export interface FrameReader {
  /** Calls `onData` for each stream whose data the frame is; returns whether it was any's. */
  read(frame: Buffer, channels: ChannelNumbers, onData: OnData): boolean;
}

type OnData = (stream: number, frame: DataFrame) => void;

/** A frame of data. Good only until the next frame is read: there is one for each stream. */
export interface DataFrame {
  bytes: Buffer;
  /** Its number, and what it says of the frame before (sequence.ts); NaN where it says none. */
  last: number;
  before: number;
}

/** What is looked for in the frames of one stream. Paths are places in the list that is scanned for; -1: none. */
interface Wanted {
  /** How many conditions of `match` there are. */
  conditions: number;
  last: number;
  before: number;
  /** All of its paths, as a mask. */
  all: number;
  frame: DataFrame;
}

/** What a value says of one stream. */
interface Decision {
  stream: number;
  rulesOut: boolean;
  holds: (channels: ChannelNumbers) => boolean;
}

/** How frames begin whose streams are known by that. */
interface Beginning {
  bytes: Buffer;
  /** Whose data they are. */
  streams: number[];
}

/** A beginning is kept of the first frame that has no known one, and of each so many after it. */
const keptEvery = 16;

const longestBeginning = 256;

/** Instead of how many conditions are still open. */
const ruledOut = -1;

/**
 * A frame is data of a stream when `match` holds and `ignore` does not. It is scanned until that is known of all
 * streams, and the numbers that its own ones want are found. Frames that begin as an earlier one did, as far as that
 * one was scanned, are as that one was.
 */
export function compileFrameReader(streams: readonly Stream[]): FrameReader {
  const paths = framePaths(streams);
  const scanner = compileScan(paths);
  const wanted = streams.map((stream) => wantedOf(stream, paths));
  const decisions = paths.map((path) =>
    streams.flatMap((stream, place) =>
      decisionsOf(stream, place, path, paths.indexOf(path), scanner),
    ),
  );
  const all = wanted.reduce((mask, one) => mask | one.all, 0);
  const open = new Int8Array(streams.length);
  // Whose data a frame is may depend on what was said before it.
  const hasBeginnings = !streams.some(({ match, ignore }) =>
    [...conditionsOf(match), ...(ignore ? [ignore] : [])].some(channelOf),
  );
  const beginnings: (Beginning | undefined)[] = streams.map(() => undefined);
  let newest = 0;
  let unknown = 0;
  let channels: ChannelNumbers = new Map();

  function onFound(path: number): number {
    const decided = decisions[path]!;
    if (decided.length === 0) return all;
    for (let i = 0; i < decided.length; i += 1) decide(decided[i]!);
    let mask = 0;
    for (let stream = 0; stream < wanted.length; stream += 1)
      if (open[stream] !== ruledOut) mask |= wanted[stream]!.all;
    return mask;
  }

  function decide({ stream, rulesOut, holds }: Decision) {
    if (open[stream] === ruledOut) return;
    if (holds(channels) === rulesOut) open[stream] = ruledOut;
    else if (!rulesOut) open[stream]! -= 1;
  }

  function scanned(frame: Buffer, onData: OnData): boolean {
    for (let stream = 0; stream < wanted.length; stream += 1)
      open[stream] = wanted[stream]!.conditions;
    if (!scanner.scan(frame, all, onFound)) return false;
    const first = open.indexOf(0);
    if (first < 0) return false;
    if (unknown % keptEvery === 0) keep(frame, first);
    unknown += 1;
    for (let stream = first; stream < wanted.length; stream += 1)
      if (open[stream] === 0) tell(stream, frame, onData);
    return true;
  }

  function keep(frame: Buffer, first: number) {
    const length = scanner.lookedAt();
    if (!hasBeginnings || length < 0 || length > longestBeginning) return;
    if (frame[0] !== chars.openObject && frame[0] !== chars.openArray) return;
    const own = [...open.keys()].filter((stream) => open[stream] === 0);
    // Their numbers have to be found.
    if (own.some((stream) => wanted[stream]!.last >= 0)) return;
    beginnings[first] = {
      bytes: Buffer.from(frame.subarray(0, length)),
      streams: own,
    };
    newest = first;
  }

  /** Streams take turns, but often one says much at once. */
  function known(frame: Buffer): Beginning | undefined {
    const last = beginnings[newest];
    if (last && begins(frame, last)) return last;
    for (let first = 0; first < beginnings.length; first += 1) {
      const other = beginnings[first];
      if (first === newest || !other || !begins(frame, other)) continue;
      newest = first;
      return other;
    }
    return undefined;
  }

  function tell(stream: number, bytes: Buffer, onData: OnData) {
    const { frame, last, before } = wanted[stream]!;
    frame.bytes = bytes;
    if (last >= 0) frame.last = scanner.number(last);
    if (before >= 0) frame.before = scanner.number(before);
    onData(stream, frame);
  }

  return {
    read(frame, numbers, onData) {
      channels = numbers;
      const alike = known(frame);
      if (!alike) return scanned(frame, onData);
      const own = alike.streams;
      for (let i = 0; i < own.length; i += 1) tell(own[i]!, frame, onData);
      return true;
    },
  };
}

function begins(frame: Buffer, { bytes }: Beginning): boolean {
  const { length } = frame;
  return (
    length >= bytes.length &&
    isSame(frame, 0, bytes.length, bytes) &&
    isClosed(bytes[0]!, frame[length - 1]!, length)
  );
}

function wantedOf(
  { match, ignore, sequence }: Stream,
  paths: readonly string[],
): Wanted {
  const conditions = conditionsOf(match);
  const place = (path: string | undefined) =>
    path === undefined ? -1 : paths.indexOf(path);
  const last = place(sequence?.path);
  const before = place(pathBefore(sequence));
  const all = [
    ...conditions.map(({ path }) => place(path)),
    ...[place(ignore?.path), last, before],
  ].reduce((mask, path) => (path < 0 ? mask : mask | (1 << path)), 0);
  const frame = { bytes: Buffer.alloc(0), last: NaN, before: NaN };
  return { conditions: conditions.length, last, before, all, frame };
}

function decisionsOf(
  { match, ignore }: Stream,
  stream: number,
  path: string,
  place: number,
  scanner: Scanner,
): Decision[] {
  const all = [
    ...conditionsOf(match).map((condition) => ({ condition, rulesOut: false })),
    ...(ignore ? [{ condition: ignore, rulesOut: true }] : []),
  ];
  return all
    .filter(({ condition }) => condition.path === path)
    .map(({ condition, rulesOut }) => ({
      ...{ stream, rulesOut },
      holds: testOf(condition, place, scanner),
    }));
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
