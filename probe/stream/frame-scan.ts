/**
 * Finds the values at given paths in the text of a JSON frame in one pass, without building objects.
 *
 * On valid JSON whose objects have no key twice it finds what `JSON.parse` and `parsePath` find. Of a key that comes
 * twice the first counts, for the scan stops as soon as nothing more is wanted; what stands behind that place, and
 * within values that nobody asked for, is not checked.
 */
import { maxFramePaths } from "../../shared/registry/frame-paths.js";
import { pathSteps } from "../../shared/registry/json-path.js";
import { isoMsOf } from "./iso-time.js";
import {
  afterBlanks,
  beforeBlanks,
  chars,
  containerEnd,
  isClosed,
  isSame,
  type Kind,
  kinds,
  plainEnd,
  textEnd,
  wholeNumber,
  wordEnd,
  wordKind,
} from "./json-bytes.js";

const {
  quote,
  backslash,
  comma,
  colon,
  openObject,
  closeObject,
  openArray,
  closeArray,
} = chars;

/** Of so many values that were passed over it is known where they are. */
const passedAtMost = 16;

/** Where a scan ends before the frame does, and what has no end. */
const stopped = -1;

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
  /** How many bytes of the frame the last scan looked at, beside its last one: with these the same, another scan ends as it did. -1: all. */
  lookedAt(): number;
  /** Whether the last scan passed over the byte there, in a value that is not wanted: with any of `0123456789:;<=>?` for a digit it ends as it did. */
  isPassed(at: number): boolean;
  /** Where the value begins, and where it ends; of a text, what is between its quotes. */
  from(path: number): number;
  to(path: number): number;
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
  let lookedAt = -1;
  const passedFrom = new Int32Array(passedAtMost);
  const passedTo = new Int32Array(passedAtMost);
  let passed = 0;
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
    lookedAt = -1;
    passed = 0;
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
    if (wanted !== 0) return true;
    // The quote of a text, the bracket of a container, what ends a word.
    lookedAt = valueTo + 1;
    return false;
  }

  function skipped(at: number): number {
    const first = bytes[at];
    let after: number;
    if (first === quote) {
      after = textEnd(bytes, at + 1, end);
    } else if (first === openArray || first === openObject) {
      after = containerEnd(bytes, at + 1, end);
    } else {
      after = wordEnd(bytes, at, end);
      if (after === at) return fail();
    }
    return after === stopped ? fail() : pass(at, after);
  }

  /** Where the container ends of which no more is wanted. */
  function rest(at: number): number {
    const after = containerEnd(bytes, at, end);
    return after === stopped ? fail() : pass(at, after);
  }

  function pass(at: number, after: number): number {
    if (passed === passedAtMost) return after;
    passedFrom[passed] = at;
    passedTo[passed] = after;
    passed += 1;
    return after;
  }

  function isPassed(at: number): boolean {
    for (let i = 0; i < passed; i += 1)
      if (at >= passedFrom[i]! && at < passedTo[i]!) return true;
    return false;
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
    lookedAt: () => lookedAt,
    isPassed,
    from: (path) => from[path]!,
    to: (path) => to[path]!,
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
