import { countsAsAway } from "../../shared/database/away.js";
import type { Log } from "../../shared/log/log.js";
import { startLoop } from "../../shared/process/loop.js";
import { stackOf } from "../../shared/process/user-error.js";

export interface FeedReaders {
  /** Aborts the readings in progress, and resolves when they have ended. */
  close: () => Promise<void>;
}

/** Concurrent feed readers: one feed that hangs does not delay the others, and few bodies are held in memory. */
const readersAtOnce = 3;

/** Delay after a reading failed because of a fault of this service. */
const readAgainMs = 5_000;

/**
 * Reads the venue feeds while this core is the leader. A core that loses the lease still completes its current reading,
 * since no other core reads that feed until it is due again. Closing aborts the reading.
 *
 * @param readNextFeed resolves with the milliseconds until the next feed is due
 * @param leads checked before each reading, and every `lookMs` while this core does not lead
 */
export function startFeedReaders(
  readNextFeed: (signal: AbortSignal) => Promise<number>,
  leads: () => boolean,
  lookMs: number,
  log: Log,
): FeedReaders {
  const closing = new AbortController();

  async function read(): Promise<number> {
    if (!leads()) return lookMs;
    try {
      return await readNextFeed(closing.signal);
    } catch (error) {
      if (!closing.signal.aborted && !countsAsAway(log, "readings of feeds", error))
        log.error("reading a venue feed failed; retrying later", { stack: stackOf(error) });
      return readAgainMs;
    }
  }

  const readers = Array.from({ length: readersAtOnce }, () => startLoop(read));
  return {
    async close() {
      closing.abort();
      await Promise.all(readers.map((reader) => reader.end()));
    },
  };
}
