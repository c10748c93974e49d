/**
 * Finds the values at given paths in the text of a JSON frame in one pass, without building objects.
 *
 * On valid JSON whose objects have no key twice it finds what `JSON.parse` and `parsePath` find. Of a key that comes
 * twice the first counts, for the scan stops as soon as nothing more is wanted; what stands behind that place, and
 * within values that nobody asked for, is not checked.
 */
import { maxFramePaths } from "../server/frame-paths.js";
import { pathSteps } from "../server/json-path.js";
import { isoMsOf } from "./iso-time.js";

/** What stands at a path. `absent`: nothing was found there (yet). */
export const kinds = {
  absent: 0,
  string: 1,
  number: 2,
  true: 3,
  false: 4,
  null: 5,
  container: 6,
} as const;
type Kind = (typeof kinds)[keyof typeof kinds];

export interface Scanner {
  /**
   * Scans a frame until its end, or until nothing more is wanted.
   *
   * @param wanted one bit for each path, in the order in which they were given
   * @param onFound called at each wanted path that leads to a value; returns what is wanted from here on
   * @returns whether all that was looked at is JSON, and the frame's last byte closes what its first opens
   */
  scan(
    frame: Buffer,
    wanted: number,
    onFound: (path: number) => number,
  ): boolean;
  kind(path: number): Kind;
  /** Whether the value is a text, and this one. */
  isText(path: number, text: EncodedText): boolean;
  /** A text or a number; undefined for what is neither. */
  value(path: number): string | number | undefined;
  /** A number, or a text as `Number()` reads it; NaN for what is neither. */
  number(path: number): number;
  /** An ISO 8601 text as `Date.parse` reads it, milliseconds since 1970; NaN for what is none. */
  isoMs(path: number): number;
}

export interface EncodedText {
  text: string;
  bytes: Buffer;
}

/** A text to look for, in both its forms. */
export function encodedText(text: string): EncodedText {
  return { text, bytes: Buffer.from(text) };
}

interface Node {
  /** Bits of the paths that lead here or further. */
  mask: number;
  /** The path that ends here; -1: none. */
  path: number;
  members: { key: EncodedText; size: number; node: Node }[];
  elements: (Node | undefined)[];
}

/** Where a scan ends before the frame does. */
const stopped = -1;

/**
 * @param paths as `parsePath` takes them, no two the same
 * @throws Error that names what is no path; RangeError beyond `maxFramePaths`
 */
export function compileScan(paths: readonly string[]): Scanner {
  if (paths.length > maxFramePaths)
    throw new RangeError(
      `expected at most ${maxFramePaths} paths to scan for, got ${paths.length}`,
    );
  const root = nodeOf(paths);
  const kindOf = new Uint8Array(paths.length);
  const from = new Int32Array(paths.length);
  const to = new Int32Array(paths.length);
  const escaped = new Uint8Array(paths.length);
  let bytes: Buffer = Buffer.alloc(0);
  let end = 0;
  let wanted = 0;
  let broken = false;
  let found: (path: number) => number = () => 0;

  function scan(
    frame: Buffer,
    wantedAtFirst: number,
    onFound: (path: number) => number,
  ): boolean {
    bytes = frame;
    wanted = wantedAtFirst;
    found = onFound;
    broken = false;
    // For so few a call of fill() costs more.
    for (let path = 0; path < kindOf.length; path += 1)
      kindOf[path] = kinds.absent;
    const begin = afterBlanks(frame, 0, frame.length);
    end = beforeBlanks(frame);
    if (begin >= end || !isClosed(frame[begin]!, frame[end - 1]!, end - begin))
      return false;
    const at = scanValue(root, begin);
    return !broken && (at === stopped || at === end);
  }

  /** Returns where the value ends, or `stopped`. */
  function scanValue(node: Node, at: number): number {
    const first = bytes[at];
    if (first === quote) {
      const plainTo = plainEnd(bytes, at + 1, end);
      const isEscaped = bytes[plainTo] === backslash;
      const after = isEscaped ? textEnd(bytes, plainTo, end) : plainTo + 1;
      if (after === stopped || after > end) return fail();
      if (node.path >= 0) escaped[node.path] = isEscaped ? 1 : 0;
      return note(node, kinds.string, at + 1, after - 1) ? after : stopped;
    }
    if (first === openObject || first === openArray) {
      if (!note(node, kinds.container, at, at)) return stopped;
      if ((node.mask & wanted) === 0) return skipped(at);
      return first === openObject
        ? scanObject(node, at + 1)
        : scanArray(node, at + 1);
    }
    const after = wordEnd(bytes, at, end);
    const kind = wordKind(bytes, at, after);
    if (kind === kinds.absent) return fail();
    return note(node, kind, at, after) ? after : stopped;
  }

  function scanObject({ members, mask }: Node, begin: number): number {
    let at = afterBlanks(bytes, begin, end);
    if (bytes[at] === closeObject) return at + 1;
    for (;;) {
      if (bytes[at] !== quote) return fail();
      const keyFrom = at + 1;
      let keyEnd = plainEnd(bytes, keyFrom, end) + 1;
      let node: Node | null;
      if (bytes[keyEnd - 1] === backslash) {
        keyEnd = textEnd(bytes, keyEnd - 1, end);
        if (keyEnd === stopped) return fail();
        node = escapedMemberOf(members, keyFrom, keyEnd - 1);
      } else {
        if (keyEnd > end) return fail();
        node = memberOf(members, keyFrom, keyEnd - 1);
      }
      at = bytes[keyEnd] === colon ? keyEnd : afterBlanks(bytes, keyEnd, end);
      if (bytes[at] !== colon) return fail();
      at = afterBlanks(bytes, at + 1, end);
      at = node === null ? skipped(at) : scanValue(node, at);
      if (at === stopped) return stopped;
      if ((mask & wanted) === 0) return rest(at);
      at = afterBlanks(bytes, at, end);
      if (bytes[at] === closeObject) return at + 1;
      if (bytes[at] !== comma) return fail();
      at = afterBlanks(bytes, at + 1, end);
    }
  }

  function scanArray({ elements, mask }: Node, begin: number): number {
    let at = afterBlanks(bytes, begin, end);
    if (bytes[at] === closeArray) return at + 1;
    for (let index = 0; ; index += 1) {
      const node = elements[index];
      at =
        node === undefined || (node.mask & wanted) === 0
          ? skipped(at)
          : scanValue(node, at);
      if (at === stopped) return stopped;
      if (index >= elements.length || (mask & wanted) === 0) return rest(at);
      at = afterBlanks(bytes, at, end);
      if (bytes[at] === closeArray) return at + 1;
      if (bytes[at] !== comma) return fail();
      at = afterBlanks(bytes, at + 1, end);
    }
  }

  /** The wanted member of this name, which holds no escapes. */
  function memberOf(
    members: Node["members"],
    keyFrom: number,
    keyTo: number,
  ): Node | null {
    const length = keyTo - keyFrom;
    for (let i = 0; i < members.length; i += 1) {
      const { key, size, node } = members[i]!;
      if (size !== length) continue;
      if (
        (node.mask & wanted) !== 0 &&
        isSame(bytes, keyFrom, keyTo, key.bytes)
      )
        return node;
    }
    return null;
  }

  function escapedMemberOf(
    members: Node["members"],
    keyFrom: number,
    keyTo: number,
  ): Node | null {
    const text = unescaped(bytes, keyFrom, keyTo);
    const member = members.find(({ key }) => key.text === text);
    return member && (member.node.mask & wanted) !== 0 ? member.node : null;
  }

  /** Returns whether anything is still wanted. */
  function note(
    { path }: Node,
    kind: Kind,
    valueFrom: number,
    valueTo: number,
  ): boolean {
    if (path < 0 || (wanted & (1 << path)) === 0) return true;
    kindOf[path] = kind;
    from[path] = valueFrom;
    to[path] = valueTo;
    wanted &= ~(1 << path) & found(path);
    return wanted !== 0;
  }

  function skipped(at: number): number {
    const first = bytes[at];
    let after: number;
    if (first === quote) after = textEnd(bytes, at + 1, end);
    else if (first === openArray || first === openObject)
      after = containerEnd(bytes, at + 1, end);
    else {
      after = wordEnd(bytes, at, end);
      if (after === at) return fail();
    }
    return after === stopped ? fail() : after;
  }

  /** Where the container ends of which no more is wanted. */
  function rest(at: number): number {
    const after = containerEnd(bytes, at, end);
    return after === stopped ? fail() : after;
  }

  function fail(): number {
    broken = true;
    return stopped;
  }

  function value(path: number): string | number | undefined {
    if (kindOf[path] === kinds.string)
      return escaped[path] === 1
        ? unescaped(bytes, from[path]!, to[path]!)
        : bytes.toString("utf8", from[path], to[path]);
    return kindOf[path] === kinds.number
      ? Number(bytes.toString("latin1", from[path], to[path]))
      : undefined;
  }

  return {
    scan,
    kind: (path) => kindOf[path] as Kind,
    isText(path, text) {
      if (kindOf[path] !== kinds.string) return false;
      return escaped[path] === 1
        ? value(path) === text.text
        : isSame(bytes, from[path]!, to[path]!, text.bytes);
    },
    value,
    number(path) {
      const kind = kindOf[path];
      if (kind !== kinds.number && kind !== kinds.string) return NaN;
      const whole = wholeNumber(bytes, from[path]!, to[path]!);
      return whole >= 0 ? whole : Number(value(path));
    },
    isoMs: (path) =>
      kindOf[path] === kinds.string
        ? isoMsOf(bytes, from[path]!, to[path]!)
        : NaN,
  };
}

function nodeOf(paths: readonly string[]): Node {
  const root: Node = { mask: 0, path: -1, members: [], elements: [] };
  paths.forEach((text, path) => {
    let node = root;
    node.mask |= 1 << path;
    for (const step of pathSteps(text)) {
      node = child(node, step);
      node.mask |= 1 << path;
    }
    if (node.path >= 0) throw new Error(`${text} is to be scanned for twice`);
    node.path = path;
  });
  return root;
}

function child(node: Node, step: string | number): Node {
  const known =
    typeof step === "number"
      ? node.elements[step]
      : node.members.find(({ key }) => key.text === step)?.node;
  if (known) return known;
  const made: Node = { mask: 0, path: -1, members: [], elements: [] };
  if (typeof step === "number") node.elements[step] = made;
  else {
    const key = encodedText(step);
    node.members.push({ key, size: key.bytes.length, node: made });
  }
  return made;
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openObject = 0x7b;
const closeObject = 0x7d;
const openArray = 0x5b;
const closeArray = 0x5d;

/** What ends a number or a word: a blank, a comma, a closing bracket. */
const endsWord = new Uint8Array(256);
for (const char of " \t\n\r,]}") endsWord[char.charCodeAt(0)] = 1;

function afterBlanks(bytes: Buffer, from: number, end: number): number {
  // Venues write none.
  if (bytes[from]! > 0x20) return from;
  let at = from;
  while (at < end && isBlank(bytes[at]!)) at += 1;
  return at;
}

function beforeBlanks(bytes: Buffer): number {
  let end = bytes.length;
  while (end > 0 && isBlank(bytes[end - 1]!)) end -= 1;
  return end;
}

function isBlank(byte: number): boolean {
  return (
    byte <= 0x20 &&
    (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09)
  );
}

/** A frame that was cut off is no data, wherever the scan would have stopped. */
function isClosed(first: number, last: number, length: number): boolean {
  if (first === openObject) return last === closeObject;
  if (first === openArray) return last === closeArray;
  return first !== quote || (last === quote && length > 1);
}

/** Where the text that began before `from` has its closing quote, or its first escape; `end`: nowhere. */
function plainEnd(bytes: Buffer, from: number, end: number): number {
  let at = from;
  while (at < end && bytes[at] !== quote && bytes[at] !== backslash) at += 1;
  return at;
}

/** Where the text ends that began before `from`, behind its closing quote. */
function textEnd(bytes: Buffer, from: number, end: number): number {
  for (let at = from; at < end; at += 1) {
    const byte = bytes[at];
    if (byte === quote) return at + 1;
    if (byte === backslash) at += 1;
  }
  return stopped;
}

/** Where the container ends that began before `from`. Brackets are counted, not compared. */
function containerEnd(bytes: Buffer, from: number, end: number): number {
  let depth = 1;
  let at = from;
  while (at < end) {
    const byte = bytes[at]!;
    at += 1;
    if (byte === quote) {
      while (at < end && bytes[at] !== quote)
        at += bytes[at] === backslash ? 2 : 1;
      at += 1;
    } else if (byte >= openArray) {
      if (byte === openArray || byte === openObject) depth += 1;
      else if (byte === closeArray || byte === closeObject) {
        depth -= 1;
        if (depth === 0) return at;
      }
    }
  }
  return stopped;
}

function wordEnd(bytes: Buffer, from: number, end: number): number {
  let at = from;
  while (at < end && endsWord[bytes[at]!] === 0) at += 1;
  return at;
}

function wordKind(bytes: Buffer, from: number, to: number): Kind {
  const first = bytes[from];
  if (first === 0x74) return isWord(bytes, from, to, "true", kinds.true);
  if (first === 0x66) return isWord(bytes, from, to, "false", kinds.false);
  if (first === 0x6e) return isWord(bytes, from, to, "null", kinds.null);
  if (wholeNumber(bytes, from, to) > 0) return kinds.number;
  return numberPattern.test(bytes.toString("latin1", from, to))
    ? kinds.number
    : kinds.absent;
}

const numberPattern = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;

function isWord(
  bytes: Buffer,
  from: number,
  to: number,
  word: string,
  kind: Kind,
): Kind {
  return bytes.toString("latin1", from, to) === word ? kind : kinds.absent;
}

/** The value of digits that begin with another than 0 and are few enough to be exact; -1 for all else. */
function wholeNumber(bytes: Buffer, from: number, to: number): number {
  if (to - from > 15 || to === from || bytes[from] === 0x30) return -1;
  let value = 0;
  for (let at = from; at < to; at += 1) {
    const digit = bytes[at]! - 0x30;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}

function isSame(
  bytes: Buffer,
  from: number,
  to: number,
  other: Buffer,
): boolean {
  const length = to - from;
  if (length !== other.length) return false;
  for (let at = 0; at < length; at += 1)
    if (bytes[from + at] !== other[at]) return false;
  return true;
}

/** The inside of a JSON text; undefined where its escapes are wrong. */
function unescaped(
  bytes: Buffer,
  from: number,
  to: number,
): string | undefined {
  try {
    return JSON.parse(`"${bytes.toString("utf8", from, to)}"`) as string;
  } catch {
    return undefined;
  }
}
