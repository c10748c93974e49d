/**
 * Samples in files that wait to be delivered: the segments of one directory, oldest first, read from the front.
 *
 * A segment is a file of lines (spool-record.ts). It is deleted only when all of it has been delivered. No read
 * position is stored on disk: after a crash, the whole oldest segment is delivered again, which is harmless because of
 * the database's unique key.
 */
import type { FileHandle } from "node:fs/promises";
import { open, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "../../shared/log/log.js";
import type { Sample } from "../../shared/measurement/sample.js";
import { newline, sampleOf } from "./spool-record.js";

/** Waiting samples, oldest first. They are returned again until `done` is called. */
export interface Batch {
  samples: readonly Sample[];
  /** The samples are in the database, or never will be: they can be deleted. */
  done: () => void;
}

export interface Segment {
  number: number;
  path: string;
  /** Length of the whole lines of the file. Nothing beyond is read. */
  bytes: number;
  /** Samples that are not delivered yet. */
  samples: number;
  readTo: number;
  /** Samples that are read but not delivered. */
  read: Sample[];
  reading: FileHandle | null;
}

export interface Backlog {
  /** Oldest first; new segments are appended. */
  readonly segments: Segment[];
  samples: () => number;
  bytes: () => number;
  /** The number of the newest file that was found, including unreadable files; 0 if there was none. */
  newest: () => number;
  /** Lines that could not be read, since this backlog was opened. */
  corrupt: () => number;
  /**
   * At most `size` of the oldest; null if none waits.
   *
   * @param growing the segment that is being written at the time of the call; it is not deleted when all of it is
   * delivered
   */
  next: (size: number, growing?: () => Segment | undefined) => Promise<Batch | null>;
  /** Deletes the oldest segment. Samples of it that are in flight are kept in memory. */
  drop: () => Promise<{ segment: Segment; samples: number } | null>;
  /** The files stay. */
  close: () => Promise<void>;
}

/** Holds most of a batch, and takes two milliseconds to read and parse. */
const chunkBytes = 128 * 1024;

const namePattern = /^(\d{12})\.samples$/;

export function emptySegment(directory: string, number: number): Segment {
  return {
    number,
    path: join(directory, `${String(number).padStart(12, "0")}.samples`),
    bytes: 0,
    samples: 0,
    readTo: 0,
    read: [],
    reading: null,
  };
}

/** Numbers of the segments in a directory, oldest first. */
export async function segmentsIn(directory: string): Promise<number[]> {
  const names = await readdir(directory);
  return names
    .flatMap((name) => namePattern.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
}

/** Opens the segments that an earlier process left in a directory. No other process may use it at the same time. */
export async function openBacklog(directory: string, log: Log): Promise<Backlog> {
  const segments: Segment[] = [];
  let corrupt = 0;
  let flying: { segment: Segment; samples: number } | null = null;

  const found = await segmentsIn(directory);
  for (const number of found) {
    const segment = emptySegment(directory, number);
    try {
      await measure(segment, log);
      segments.push(segment);
    } catch (error) {
      if (passes(error)) throw error;
      tellUnreadable(segment, error);
    }
  }

  async function next(size: number, growing: () => Segment | undefined = () => undefined): Promise<Batch | null> {
    flying = null;
    for (let segment = segments[0]; segment; segment = segments[0]) {
      await readMore(segment, size);
      if (segment !== segments[0]) {
        // dropped meanwhile
        await closeReading(segment);
        continue;
      }
      if (segment.read.length > 0) return batchOf(segment, size);
      // it may have been created since the last call
      if (segment === growing()) return null;
      // lines were added, and the segment was sealed, since it was read
      if (segment.readTo < segment.bytes) continue;
      forget(segment);
      await removeFile(segment);
    }
    return null;
  }

  function batchOf(segment: Segment, size: number): Batch {
    const samples = segment.read.slice(0, size);
    flying = { segment, samples: samples.length };
    return {
      samples,
      done() {
        segment.read.splice(0, samples.length);
        segment.samples -= samples.length;
        flying = null;
      },
    };
  }

  async function readMore(segment: Segment, size: number): Promise<void> {
    try {
      while (segment.read.length < size && segment.readTo < segment.bytes)
        parse(segment, await nextChunk(segment), size);
    } catch (error) {
      if (!segments.includes(segment)) return;
      // samples already read are delivered first; some errors, such as a lack of file descriptors, are temporary
      if (segment.read.length > 0) return;
      if (passes(error)) throw error;
      await passOver(segment, error);
    }
  }

  /** Counts lines that are broken. */
  function parse(segment: Segment, chunk: Buffer, size: number): void {
    let from = 0;
    let broken = 0;
    while (segment.read.length < size) {
      const end = chunk.indexOf(newline, from);
      if (end < 0) break;
      const sample = sampleOf(chunk.subarray(from, end));
      if (sample) segment.read.push(sample);
      else broken += 1;
      from = end + 1;
    }
    // no valid line is as long as a chunk: such a chunk is skipped, and the rest of its line counts as one broken line
    segment.readTo += from === 0 ? chunk.length : from;
    if (broken === 0) return;
    corrupt += broken;
    segment.samples -= broken;
    log.error("skipped corrupt lines in a file of the spool", {
      file: segment.path,
      before: segment.readTo,
      lines: broken,
    });
  }

  async function passOver(segment: Segment, error: unknown): Promise<void> {
    corrupt += segment.samples;
    forget(segment);
    tellUnreadable(segment, error);
    await closeReading(segment);
  }

  function tellUnreadable({ path, samples }: Segment, error: unknown): void {
    log.error("cannot read a file of the spool, and skip it: the file stays, and is read again after the next start", {
      file: path,
      samples,
      error,
    });
  }

  async function removeFile(segment: Segment): Promise<void> {
    await closeReading(segment);
    await unlink(segment.path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT")
        log.warn("cannot delete a file of the spool: its samples may be delivered again after a restart", {
          file: segment.path,
          error,
        });
    });
  }

  function forget(segment: Segment): void {
    const place = segments.indexOf(segment);
    if (place >= 0) segments.splice(place, 1);
  }

  return {
    segments,
    samples: () => segments.reduce((sum, { samples }) => sum + samples, 0),
    bytes: () => segments.reduce((sum, { bytes }) => sum + bytes, 0),
    newest: () => found.at(-1) ?? 0,
    corrupt: () => corrupt,
    next,
    async drop() {
      const segment = segments.find(({ bytes }) => bytes > 0);
      if (!segment) return null;
      // a batch in flight may already be in the database
      const kept = flying?.segment === segment ? flying.samples : 0;
      const dropped = segment.samples - kept;
      segment.read.length = kept;
      segment.samples = kept;
      segment.bytes = segment.readTo = 0;
      if (kept === 0) forget(segment);
      await removeFile(segment);
      return { segment, samples: dropped };
    },
    async close() {
      for (const segment of segments) await closeReading(segment);
    },
  };
}

/** Counts whole lines. A partial line at the end was being written when its process died, and is ignored. */
async function measure(segment: Segment, log: Log): Promise<void> {
  const file = await open(segment.path);
  try {
    const chunk = Buffer.allocUnsafe(chunkBytes);
    let at = 0;
    for (;;) {
      const { bytesRead } = await file.read(chunk, 0, chunkBytes, at);
      if (bytesRead === 0) break;
      const lines = chunk.subarray(0, bytesRead);
      for (let i = lines.indexOf(newline); i >= 0;) {
        segment.samples += 1;
        segment.bytes = at + i + 1;
        i = lines.indexOf(newline, i + 1);
      }
      at += bytesRead;
    }
    if (segment.bytes < at)
      log.info("ignored a partial line at the end of a file of the spool", {
        file: segment.path,
        bytes: at - segment.bytes,
      });
  } finally {
    await file.close();
  }
}

async function nextChunk(segment: Segment): Promise<Buffer> {
  segment.reading ??= await open(segment.path);
  const from = segment.readTo;
  const length = Math.min(chunkBytes, segment.bytes - from);
  // dropped meanwhile
  if (length <= 0) return Buffer.alloc(0);
  const chunk = Buffer.allocUnsafe(length);
  const { bytesRead } = await segment.reading.read(chunk, 0, length, from);
  if (segment.bytes < from + length) return Buffer.alloc(0);
  if (bytesRead < length)
    throw new Error(`expected ${length} bytes at ${from}, got ${bytesRead}: another program has truncated the file`);
  return chunk;
}

async function closeReading(segment: Segment): Promise<void> {
  const { reading } = segment;
  segment.reading = null;
  await reading?.close();
}

function passes(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return ["EMFILE", "ENFILE", "ENOMEM", "EAGAIN"].includes(code ?? "");
}
