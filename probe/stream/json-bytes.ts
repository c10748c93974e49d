/** JSON as bytes: where its texts, words and containers end. Nothing here allocates but for numbers that are not whole. */

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
export type Kind = (typeof kinds)[keyof typeof kinds];

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openObject = 0x7b;
const closeObject = 0x7d;
const openArray = 0x5b;
const closeArray = 0x5d;

/** To be taken apart where it is used: what a module takes from another one by name is loaded again each time. */
export const chars = {
  quote,
  backslash,
  comma,
  colon,
  openObject,
  closeObject,
  openArray,
  closeArray,
} as const;

/** No end was found. */
const nowhere = -1;

/** What ends a number or a word: a blank, a comma, a closing bracket. */
const endsWord = new Uint8Array(256);
for (const char of " \t\n\r,]}") endsWord[char.charCodeAt(0)] = 1;

export function afterBlanks(bytes: Buffer, from: number, end: number): number {
  // Venues write none.
  if (bytes[from]! > 0x20) return from;
  let at = from;
  while (at < end && isBlank(bytes[at]!)) at += 1;
  return at;
}

export function beforeBlanks(bytes: Buffer): number {
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
export function isClosed(first: number, last: number, length: number): boolean {
  if (first === openObject) return last === closeObject;
  if (first === openArray) return last === closeArray;
  return first !== quote || (last === quote && length > 1);
}

/** Where the text that began before `from` has its closing quote, or its first escape; `end`: nowhere. */
export function plainEnd(bytes: Buffer, from: number, end: number): number {
  let at = from;
  while (at < end && bytes[at] !== quote && bytes[at] !== backslash) at += 1;
  return at;
}

/** Where the text ends that began before `from`, behind its closing quote. */
export function textEnd(bytes: Buffer, from: number, end: number): number {
  for (let at = from; at < end; at += 1) {
    const byte = bytes[at];
    if (byte === quote) return at + 1;
    if (byte === backslash) at += 1;
  }
  return nowhere;
}

/** Where the container ends that began before `from`. Brackets are counted, not compared. */
export function containerEnd(bytes: Buffer, from: number, end: number): number {
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
  return nowhere;
}

export function wordEnd(bytes: Buffer, from: number, end: number): number {
  let at = from;
  while (at < end && endsWord[bytes[at]!] === 0) at += 1;
  return at;
}

export function wordKind(bytes: Buffer, from: number, to: number): Kind {
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
export function wholeNumber(bytes: Buffer, from: number, to: number): number {
  if (to - from > 15 || to === from || bytes[from] === 0x30) return -1;
  // In two parts of small integers: a fraction's arithmetic takes twice as long for each digit.
  const middle = Math.max(from, to - 9);
  const low = digitsOf(bytes, middle, to);
  if (middle === from || low < 0) return low;
  const high = digitsOf(bytes, from, middle);
  return high < 0 ? -1 : high * 1e9 + low;
}

/** Of nine at the most; -1 where one is none. */
function digitsOf(bytes: Buffer, from: number, to: number): number {
  let value = 0;
  for (let at = from; at < to; at += 1) {
    // of all bytes the ten digits alone become 0 to 9
    const digit = bytes[at]! ^ 0x30;
    if (digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}

export function isSame(
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
