/** The files that this process writes: it appends to the newest segment, and drops the oldest when space runs out. */
import { randomUUID } from "node:crypto";
import { type FileHandle, open, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "../../shared/log/log.js";
import { DirectoryInUse, type DirectoryLock, lockDirectory } from "../../shared/process/directory-lock.js";
import { type Backlog, openBacklog } from "./backlog.js";
import { type Batch, type Segment, emptySegment } from "./spool-segment.js";

/** Its methods that change files are called one at a time; `next` may run at the same time. */
export type SpoolFiles = ReturnType<typeof makeSpoolFiles>;

/**
 * @param root the region's directory
 * @param onDropped gets the number of samples that were dropped
 */
export function makeSpoolFiles(
  root: string,
  log: Log,
  { maxBytes, segmentBytes }: { maxBytes: number; segmentBytes: number },
  onDropped: (samples: number) => void,
) {
  /** Null until a directory is taken. */
  let place: SpoolPlace | null = null;
  let settling: Promise<SpoolPlace> | null = null;
  let process: string = randomUUID();
  let current: { segment: Segment; file: FileHandle } | null = null;
  let nextNumber = 1;

  return {
    settleIn,
    place: () => place,
    directory: () => place?.directory ?? root,
    /** This probe's identity. */
    process: () => process,
    /** As in a backlog. */
    next: async (size: number): Promise<Batch | null> =>
      (await place?.backlog.next(size, () => current?.segment)) ?? null,
    append,
    dropOldest,
    truncateDelivered,
    /** Closes the file that is being written, and deletes it if it is empty. */
    async close(): Promise<void> {
      const isEmpty = current?.segment.bytes === 0;
      if (current) await seal();
      if (isEmpty) await place!.backlog.next(1);
    },
  };

  /** One at a time: a concurrent second call would take another directory. */
  function settleIn(): Promise<SpoolPlace> {
    return (settling ??= takeOne().finally(() => (settling = null)));
  }

  async function takeOne(): Promise<SpoolPlace> {
    const taken = await takePlace(root, log);
    nextNumber = taken.backlog.newest() + 1;
    process = await identityIn(taken.directory, log, process);
    return (place = taken);
  }

  async function append(lines: Buffer, samples: number): Promise<void> {
    const { directory, backlog } = place ?? (await settleIn());
    while (backlog.bytes() + lines.length > maxBytes && (await dropOldest()));
    if (current && isOver(current.segment)) await seal();
    const { segment, file } = current ?? (await begin(directory));
    try {
      for (let done = 0; done < lines.length;) {
        const { bytesWritten } = await file.write(lines, done, lines.length - done, segment.bytes + done);
        done += bytesWritten;
      }
    } catch (error) {
      // cut off a partial line, which would spoil the next one; a file that cannot be truncated is not written to again
      await file.truncate(segment.bytes).catch(seal);
      throw error;
    }
    segment.bytes += lines.length;
    segment.samples += samples;
  }

  function isOver(segment: Segment): boolean {
    // the next samples are not written to a file that cannot be read, nor to one that was given up
    const isReadable = segment.unreadableUntilMs === null && place!.backlog.segments.includes(segment);
    return segment.bytes >= segmentBytes || !isReadable;
  }

  async function begin(directory: string) {
    const segment = emptySegment(directory, nextNumber++);
    const file = await open(segment.path, "wx");
    place!.backlog.segments.push(segment);
    return (current = { segment, file });
  }

  async function seal(): Promise<void> {
    const { file } = current!;
    current = null;
    await file.close().catch((error: unknown) => {
      log.warn("cannot close a file of the spool", { error });
    });
  }

  /**
   * Truncates the file once all of it is delivered: nothing is delivered twice, and the kernel need not write it out.
   */
  async function truncateDelivered(): Promise<void> {
    if (!place || !current || current.segment.bytes === 0) return;
    const { segment, file } = current;
    if (segment.samples > 0 || place.backlog.oldest() !== segment) return;
    try {
      await file.truncate(0);
      segment.bytes = segment.readTo = 0;
    } catch (error) {
      log.warn("cannot truncate a file of the spool: a new file replaces it", { error });
      await seal();
    }
  }

  /** Resolves to false if there is nothing to drop. */
  async function dropOldest(): Promise<boolean> {
    const oldest = await place?.backlog.drop();
    if (!oldest) return false;
    if (oldest.segment === current?.segment) await seal();
    onDropped(oldest.samples);
    return true;
  }
}

// The directory where a probe's samples wait: the first subdirectory of the region's directory that no living process
// uses. It also stores the probe's identity, which therefore survives a restart.

export interface SpoolPlace {
  directory: string;
  backlog: Backlog;
  release: DirectoryLock["release"];
}

/** @throws UserError if the directory cannot be used */
export async function takePlace(root: string, log: Log): Promise<SpoolPlace> {
  for (let number = 1; ; number++) {
    const place = await takeIfFree(join(root, String(number)), log);
    if (place) return place;
  }
}

/** Null if a living process uses it. */
export async function takeIfFree(directory: string, log: Log): Promise<SpoolPlace | null> {
  try {
    const { release } = await lockDirectory(directory);
    try {
      return { directory, backlog: await openBacklog(directory, log), release };
    } catch (error) {
      await release();
      throw error;
    }
  } catch (error) {
    if (error instanceof DirectoryInUse) return null;
    throw error;
  }
}

const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The identity stored in the directory; if there is none, stores and returns `fresh`. */
export async function identityIn(directory: string, log: Log, fresh: string): Promise<string> {
  const path = join(directory, "process");
  const written = await storedIn(path, log);
  // the stored identity stays for the next start
  if (written === null) return fresh;
  if (uuidForm.test(written.trim())) return written.trim();
  try {
    await writeFile(`${path}.new`, `${fresh}\n`);
    await rename(`${path}.new`, path);
  } catch (error) {
    log.warn("cannot store this probe's identity: after a restart it will count as another probe", { path, error });
  }
  return fresh;
}

/** Empty if there is no such file; null if it cannot be read. */
async function storedIn(path: string, log: Log): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    log.warn("cannot read this probe's identity: until its next start it counts as another probe", { path, error });
    return null;
  }
}
