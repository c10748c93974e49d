import { framePaths, pathBefore } from "../../shared/registry/frame-paths.js";
import {
  conditionsOf,
  type Match,
  type Stream,
} from "../../shared/registry/registry.js";
import type { ChannelNumbers } from "../rest/checks.js";
import {
  beginningOf,
  bytesAre,
  makeBeginningMatcher,
  type Beginning,
} from "./frame-beginning.js";
import { compileScan, encodedText, type Scanner } from "./frame-scan.js";
import { chars, kinds, wholeNumber } from "./json-bytes.js";
import type { FrameNumbers } from "./sequence.js";

/** Reads the frames of one socket, for all its streams at once. */
export interface FrameReader {
  /**
   * Calls `onData` for each stream whose data the frame is; returns whether it was any's.
   *
   * @param channels another map whenever a number in it is another
   */
  read(frame: Buffer, channels: ChannelNumbers, onData: OnData): boolean;
}

/** `numbers` are good only until the next frame is read: there is one object for each stream. */
type OnData = (stream: number, frame: Buffer, numbers: FrameNumbers) => void;

/** What is looked for in the frames of one stream. Paths are places in the list that is scanned for; -1: none. */
interface Wanted {
  /** How many conditions of `match` there are. */
  conditions: number;
  last: number;
  before: number;
  /** All of its paths, as a mask. */
  all: number;
  numbers: FrameNumbers;
}

/** What a value says of one stream. */
interface Decision {
  stream: number;
  rulesOut: boolean;
  /** Whether it is decided by what the value is; otherwise, by whether there is one. */
  isOfValue: boolean;
  holds: (channels: ChannelNumbers) => boolean;
}

/** What is known of frames by how they begin. */
interface Known {
  beginning: Beginning;
  /** Whose data they are. */
  streams: number[];
  numbers: NumberAt[];
}

/** Where a number of a stream's frames is: its own, or that of the frame before. */
interface NumberAt {
  stream: number;
  isLast: boolean;
  from: number;
  to: number;
}

/** Of how many beginnings of each stream's frames one knows; Bitfinex' trades have two. */
const knownOfEach = 2;

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
  const matcher = makeBeginningMatcher();
  let knowns: (Known | undefined)[] = [];
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
    for (let stream = first; stream < wanted.length; stream += 1) {
      if (open[stream] !== 0) continue;
      const { last, before, numbers } = wanted[stream]!;
      if (last >= 0) numbers.last = scanner.number(last);
      if (before >= 0) numbers.before = scanner.number(before);
      onData(stream, frame, numbers);
    }
    return true;
  }

  function keep(frame: Buffer, first: number) {
    const length = scanner.lookedAt();
    if (length < 0 || length > longestBeginning) return;
    if (frame[0] !== chars.openObject && frame[0] !== chars.openArray) return;
    const own = [...open.keys()].filter((stream) => open[stream] === 0);
    const numbers = own.flatMap((stream) => {
      const { last, before } = wanted[stream]!;
      return [last, before].flatMap((path, which) => {
        const [from, to] = [scanner.from(path), scanner.to(path)];
        return path < 0 ? [] : { stream, path, isLast: which === 0, from, to };
      });
    });
    const isIn = (at: number) => (place: { from: number; to: number }) =>
      at >= place.from && at < place.to;
    const free = paths.flatMap((_, path) =>
      isFree(path) ? { from: scanner.from(path), to: scanner.to(path) } : [],
    );
    const again = numbers.filter(({ path }) => isReadAgain(path));
    const beginning = beginningOf(
      Buffer.from(frame.subarray(0, length)),
      (at) => {
        if (again.some(isIn(at))) return bytesAre.any;
        const isDigit = scanner.isPassed(at) || free.some(isIn(at));
        return isDigit ? bytesAre.digits : bytesAre.same;
      },
    );
    if (!beginning) return;
    const place = first * knownOfEach;
    newest = newest === place ? place + 1 : place;
    knowns[newest] = { beginning, streams: own, numbers };
  }

  /** Whether only that the value is there decides anything. */
  function isFree(path: number): boolean {
    return (
      scanner.kind(path) === kinds.string &&
      decisions[path]!.every(({ isOfValue }) => !isOfValue)
    );
  }

  /** Whether the value decides nothing, and is known for a number when it is read again. */
  function isReadAgain(path: number): boolean {
    return scanner.kind(path) === kinds.number && decisions[path]!.length === 0;
  }

  /** Streams take turns, but often one says much at once. */
  function knownOf(frame: Buffer): Known | undefined {
    const last = knowns[newest];
    if (!last) return undefined;
    matcher.look(frame);
    if (matcher.begins(frame, last.beginning)) return last;
    for (let place = 0; place < knowns.length; place += 1) {
      const other = knowns[place];
      if (place === newest || !other) continue;
      if (!matcher.begins(frame, other.beginning)) continue;
      newest = place;
      return other;
    }
    return undefined;
  }

  /** Returns whether they are whole numbers, as they were in the frame that is known. */
  function readNumbers(frame: Buffer, numbers: NumberAt[]): boolean {
    for (let i = 0; i < numbers.length; i += 1) {
      const { stream, isLast, from, to } = numbers[i]!;
      const value = wholeNumber(frame, from, to);
      if (value < 0) return false;
      const said = wanted[stream]!.numbers;
      if (isLast) said.last = value;
      else said.before = value;
    }
    return true;
  }

  return {
    read(frame, numbers, onData) {
      if (numbers !== channels) {
        // Whose data a frame is may depend on what was said before it.
        channels = numbers;
        knowns = [];
      }
      const known = knownOf(frame);
      if (!known || !readNumbers(frame, known.numbers))
        return scanned(frame, onData);
      const { streams: own } = known;
      for (let i = 0; i < own.length; i += 1)
        onData(own[i]!, frame, wanted[own[i]!]!.numbers);
      return true;
    },
  };
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
  const numbers = { last: NaN, before: NaN };
  return { conditions: conditions.length, last, before, all, numbers };
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
      ...{ stream, rulesOut, isOfValue: condition.equals !== undefined },
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
      scanner.kind(path) === kinds.number && scanner.number(path) === equals;
  if (typeof equals === "boolean")
    return () => scanner.kind(path) === (equals ? kinds.true : kinds.false);
  const channel = channelOf(match);
  if (channel !== undefined)
    return (channels) => {
      const number = channels.get(channel);
      if (typeof number === "number")
        return (
          scanner.kind(path) === kinds.number && scanner.number(path) === number
        );
      return number !== undefined && scanner.value(path) === number;
    };
  const text = encodedText(equals);
  return () => scanner.isText(path, text);
}
