/** The day whose beginning was computed last: venues seldom send another one. */
let knownDay = 0;
let knownDayMs = NaN;

/**
 * Reads what `Date.parse` reads, from the bytes of a frame: quicker where it is
 * `YYYY-MM-DDThh:mm:ss`, perhaps a fraction, and `Z`, as venues write it. NaN
 * where there is no instant.
 */
export function isoMsOf(bytes: Buffer, from: number, to: number): number {
  const quick = usualMs(bytes, from, to);
  return Number.isNaN(quick)
    ? Date.parse(bytes.toString("latin1", from, to))
    : quick;
}

function usualMs(bytes: Buffer, from: number, to: number): number {
  const length = to - from;
  if (length < 20 || length > 30 || bytes[to - 1] !== 0x5a) return NaN;
  if (bytes[from + 4] !== 0x2d || bytes[from + 7] !== 0x2d) return NaN;
  if (bytes[from + 10] !== 0x54 || bytes[from + 13] !== 0x3a) return NaN;
  if (bytes[from + 16] !== 0x3a) return NaN;
  const year = digits(bytes, from, 4);
  const month = digits(bytes, from + 5, 2);
  const day = digits(bytes, from + 8, 2);
  const hour = digits(bytes, from + 11, 2);
  const minute = digits(bytes, from + 14, 2);
  const second = digits(bytes, from + 17, 2);
  if (!(year >= 1000 && month >= 1 && month <= 12 && day >= 1 && day <= 28))
    return NaN;
  if (!(hour <= 23 && minute <= 59 && second <= 59)) return NaN;
  return (
    dayMs(year, month, day) +
    hour * 3_600_000 +
    minute * 60_000 +
    second * 1000 +
    fractionMs(bytes, from + 19, to - 1)
  );
}

/** Whole milliseconds, cut off like `Date.parse` does. */
function fractionMs(bytes: Buffer, from: number, to: number): number {
  if (from === to) return 0;
  if (bytes[from] !== 0x2e || to - from < 2) return NaN;
  let ms = 0;
  let weight = 100;
  for (let at = from + 1; at < to; at += 1) {
    const digit = bytes[at]! - 0x30;
    if (digit < 0 || digit > 9) return NaN;
    if (weight >= 1) ms += digit * weight;
    weight /= 10;
  }
  return ms;
}

/** NaN where there are others among them. */
function digits(bytes: Buffer, from: number, count: number): number {
  let value = 0;
  for (let at = from; at < from + count; at += 1) {
    const digit = bytes[at]! - 0x30;
    if (digit < 0 || digit > 9) return NaN;
    value = value * 10 + digit;
  }
  return value;
}

function dayMs(year: number, month: number, day: number): number {
  const asked = (year * 100 + month) * 100 + day;
  if (asked !== knownDay) {
    knownDay = asked;
    knownDayMs = Date.UTC(year, month - 1, day);
  }
  return knownDayMs;
}
