import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";

/** Where the last complete record of a file is, in bytes; if both are 0, there is none. */
export interface LastRecord {
  from: number;
  to: number;
}

const lineFeed = 0x0a;
const quote = 0x22;

/**
 * Finds the last complete record. It reads the file from the beginning, since reading backwards cannot show whether a
 * line feed ends a record or is inside quotes.
 *
 * @param quotes whether there may be line feeds inside quotes
 */
export async function lastRecord(path: string, quotes: boolean): Promise<LastRecord> {
  const last = { from: 0, to: 0 };
  let [at, within] = [0, false];
  function ends(to: number): void {
    last.from = last.to;
    last.to = to;
  }
  for await (const piece of createReadStream(path, {
    highWaterMark: 1 << 20,
  })) {
    const bytes = piece as Buffer;
    if (!within && (!quotes || !bytes.includes(quote))) {
      const [before, end] = lastTwo(bytes);
      if (before >= 0) ends(at + before + 1);
      if (end >= 0) ends(at + end + 1);
    } else {
      for (const [i, byte] of bytes.entries()) {
        if (byte === quote) within = !within;
        else if (byte === lineFeed && !within) ends(at + i + 1);
      }
    }
    at += bytes.length;
  }
  return last;
}

export async function readPart(path: string, from: number, to: number): Promise<string> {
  const file = await open(path);
  try {
    const bytes = Buffer.alloc(to - from);
    await file.read(bytes, 0, bytes.length, from);
    return bytes.toString();
  } finally {
    await file.close();
  }
}

/** The positions of the last line feed but one and of the last one; -1 if there is none. */
function lastTwo(bytes: Buffer): [number, number] {
  const end = bytes.lastIndexOf(lineFeed);
  return [end > 0 ? bytes.lastIndexOf(lineFeed, end - 1) : -1, end];
}
