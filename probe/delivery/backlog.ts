/**
 * Samples in files that wait to be delivered: the segments of one directory, oldest first.
 *
 * No read position is stored on disk: after a crash, the whole oldest segment is delivered again, which is harmless
 * because of the database's unique key.
 */
import type { Log } from "../../shared/log/log.js";
import {
  closeReading,
  deleteSegment,
  emptySegment,
  FileTruncated,
  measureSegment,
  readSegment,
  type Segment,
  segmentsIn,
  type Batch,
} from "./spool-segment.js";

export interface Backlog {
  /** Oldest first; new segments are appended. */
  readonly segments: Segment[];
  /** The oldest segment that can be read now. */
  oldest: () => Segment | undefined;
  /** Includes those in files that cannot be read now, as far as they were counted. */
  samples: () => number;
  bytes: () => number;
  /** The number of the newest file that was found; 0 if there was none. */
  newest: () => number;
  /** Samples in corrupt lines, and in files that were deleted or truncated, since this backlog was opened. */
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

/** How long a file that could not be read is left alone. */
const unreadableForMs = 60_000;

/** Opens the segments that an earlier process left in a directory. No other process may use it at the same time. */
export async function openBacklog(directory: string, log: Log): Promise<Backlog> {
  const segments: Segment[] = [];
  let corrupt = 0;
  let flying: { segment: Segment; samples: number } | null = null;

  const found = await segmentsIn(directory);
  for (const number of found) {
    const segment = { ...emptySegment(directory, number), isMeasured: false };
    segments.push(segment);
    try {
      await measureSegment(segment, log);
    } catch (error) {
      if (isPassing(error)) throw error;
      leaveAlone(segment, error, log);
    }
  }

  async function next(size: number, growing: () => Segment | undefined = () => undefined): Promise<Batch | null> {
    flying = null;
    for (let segment = oldest(); segment; segment = oldest()) {
      await readMore(segment, size);
      if (segment !== oldest()) {
        // dropped meanwhile, or unreadable
        await closeReading(segment);
        continue;
      }
      if (segment.read.length > 0) return batchOf(segment, size);
      // it may have been created since the last call
      if (segment === growing()) return null;
      // lines were added, and the segment was sealed, since it was read
      if (segment.readTo < segment.bytes) continue;
      forget(segment);
      await deleteSegment(segment, log);
    }
    return null;
  }

  function oldest(): Segment | undefined {
    return segments.find(({ unreadableUntilMs }) => (unreadableUntilMs ?? -Infinity) <= performance.now());
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
      if (!segment.isMeasured) await measureSegment(segment, log);
      while (segment.read.length < size && segment.readTo < segment.bytes) {
        const broken = await readSegment(segment, size, log);
        corrupt += broken;
      }
      if (segment.unreadableUntilMs === null) return;
      segment.unreadableUntilMs = null;
      log.info("a file of the spool can be read again", { file: segment.path, samples: segment.samples });
    } catch (error) {
      if (!segments.includes(segment)) return;
      // samples already read are delivered first; some errors, such as a lack of file descriptors, are temporary
      if (segment.read.length > 0) return;
      if (isPassing(error)) throw error;
      if (isLost(error)) giveUp(segment, error);
      else leaveAlone(segment, error, log);
    }
  }

  function giveUp(segment: Segment, error: unknown): void {
    corrupt += segment.samples;
    forget(segment);
    log.error("another program has deleted or truncated a file of the spool: its samples are lost", {
      file: segment.path,
      samples: segment.samples,
      error,
    });
  }

  function forget(segment: Segment): void {
    const place = segments.indexOf(segment);
    if (place >= 0) segments.splice(place, 1);
  }

  return {
    segments,
    oldest,
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
      await deleteSegment(segment, log);
      return { segment, samples: dropped };
    },
    async close() {
      for (const segment of segments) await closeReading(segment);
    },
  };
}

/** A failing disk may recover, and reading from it again must not require a restart. */
function leaveAlone(segment: Segment, error: unknown, log: Log): void {
  const wasReadable = segment.unreadableUntilMs === null;
  segment.unreadableUntilMs = performance.now() + unreadableForMs;
  if (wasReadable)
    log.error("cannot read a file of the spool: its samples wait in it, and the probe tries again every minute", {
      file: segment.path,
      samples: segment.isMeasured ? segment.samples : "unknown",
      error,
    });
}

function isLost(error: unknown): boolean {
  return error instanceof FileTruncated || (error as NodeJS.ErrnoException).code === "ENOENT";
}

function isPassing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return ["EMFILE", "ENFILE", "ENOMEM", "EAGAIN"].includes(code ?? "");
}
