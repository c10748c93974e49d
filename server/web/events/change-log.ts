import type { Pool } from "../../../shared/database/pool.js";
import type { Log } from "../../../shared/log/log.js";
import { makeOutage } from "../../../shared/log/outage.js";
import { singleFlight } from "../../../shared/process/loop.js";

/** The changes of the last day in memory, so that resuming clients cost no query, and those that follow. */
export interface ChangeLog {
  /** Resolves when the changes of the last day are in memory. Rejects if the database cannot be read. */
  ready(): Promise<void>;
  /** Reads the changes since the last reading. */
  catchUp(): Promise<void>;
  /** The number of the newest known change; 0 if the history is empty. */
  newest(): number;
  /** The instant of that change; after a failover, that of the first change since. Null if none was within a day. */
  newestAt(): string | null;
  /**
   * At most `limit` changes after this number; null if some of them may no longer be known, or if the number is in the
   * future.
   *
   * @param ofRegions those of all regions' views; absent: those that are decided
   */
  after(id: number, limit: number, ofRegions?: boolean): readonly ChangeEvent[] | null;
  /** Follows until the returned function is called. Null instead of changes: some were missed, or have been undone. */
  follow(onChanges: Follower): () => void;
}

type Follower = (changes: readonly ChangeEvent[] | null) => void;

/**
 * How often a process with listeners polls the database, which takes it half a millisecond. Notifications would arrive
 * sooner, but a replica sends none.
 */
const pollMs = 100;
const pollAgainMs = 1_000;

/** A busy day has a few thousand changes of 250 bytes. */
const mostDecided = 20_000;
/**
 * Each decision comes with a change of every region's view, and many such changes lead to no decision. They must not
 * displace the decisions.
 */
const mostOfRegions = 40_000;
const pageLength = 1_000;
const keptMs = 86_400_000;

/**
 * After a failover the numbers go on far beyond those that may have been lost (`engine.skip_lost_numbers`). Earlier
 * changes may have been undone.
 */
const idLeap = 100_000;

interface ChangeRow {
  change_id: number;
  at: string;
  recorded_at: Date;
  venue: string;
  category: string;
  region: string | null;
  event: string;
  body: string;
}

/** @param nowMs a monotonic clock */
export function makeChangeLog(pool: Pick<Pool, "file">, log: Log, nowMs = () => performance.now()): ChangeLog {
  let isRead = false;
  let newest = 0;
  let newestAt: string | null = null;
  const [decided, ofRegions] = [makeHistory(mostDecided), makeHistory(mostOfRegions)];
  let readAtMs = nowMs();
  const followers = new Set<Follower>();
  const away = makeOutage(log, awayWords, { level: "warn" });
  let timer: NodeJS.Timeout | null = null;

  const catchUp = singleFlight(async () => {
    // by now the database may have deleted the changes that followed
    if (isRead && nowMs() - readAtMs > keptMs) {
      isRead = false;
      publish(null);
    }
    if (!isRead) {
      const [row] = await pool.file<{ change_id: number }>("changes_from", [mostDecided + mostOfRegions]);
      newest = row!.change_id;
      begin(newest);
      isRead = true;
    }
    for (;;) {
      const rows = await pool.file<ChangeRow>("changes", [newest, pageLength]);
      readAtMs = nowMs();
      if (rows.length > 0) append(rows.map(changeOf));
      if (rows.length < pageLength) break;
    }
  });

  function publish(news: readonly ChangeEvent[] | null): void {
    for (const follower of followers) follower(news);
  }

  function begin(after: number): void {
    decided.begin(after);
    ofRegions.begin(after);
  }

  function append(more: readonly ChangeEvent[]): void {
    const landing = more.findLastIndex(({ id }, at) => id - (more[at - 1]?.id ?? newest) >= idLeap);
    if (landing >= 0) {
      more = more.slice(landing);
      begin(more[0]!.id - 1);
      newestAt = more[0]!.at;
      publish(null);
    }
    newest = more.at(-1)!.id;
    newestAt = more.at(-1)!.at;
    const oldest = +more.at(-1)!.recordedAt - keptMs;
    const isDecided = ({ region }: ChangeEvent) => region === null;
    decided.add(more.filter(isDecided), oldest);
    ofRegions.add(
      more.filter((one) => !isDecided(one)),
      oldest,
    );
    publish(more);
  }

  async function poll(): Promise<void> {
    let againMs = pollMs;
    try {
      await catchUp();
      away.succeeded();
    } catch (error) {
      away.failed("changes", { error });
      againMs = pollAgainMs;
    }
    timer = followers.size > 0 ? setTimeout(() => void poll(), againMs).unref() : null;
  }

  return {
    ready: async () => {
      // while there are followers, the poll keeps it up to date
      if (!isRead || followers.size === 0) await catchUp();
    },
    catchUp,
    newest: () => newest,
    newestAt: () => newestAt,
    after: (id, limit, regional = false) =>
      isRead && id <= newest ? (regional ? ofRegions : decided).after(id, limit) : null,
    follow(onChanges) {
      followers.add(onChanges);
      timer ??= setTimeout(() => void poll(), pollMs).unref();
      return () => followers.delete(onChanges);
    },
  };
}

const awayWords = {
  begins: "changes cannot be read, so listeners get none until the database is back",
  lasts: "changes still cannot be read",
  over: "changes can be read again",
};

function changeOf({ change_id: id, recorded_at, event, body, ...row }: ChangeRow): ChangeEvent {
  const { at, venue, category, region } = row;
  const frame = `id: ${id}\nevent: ${event}\ndata: ${body}\n\n`;
  return { id, at, recordedAt: recorded_at, venue, category, region, frame };
}

/** Something that the engine decided, as `api.change_event` has it. */
export interface ChangeEvent {
  /** Increases with each change, not always by one. */
  id: number;
  /** The instant that decided it, as it is sent. */
  at: string;
  recordedAt: Date;
  venue: string;
  category: string;
  /** Whose view it is; null: decided by quorum, or of an incident. */
  region: string | null;
  /** As it is sent. */
  frame: string;
}

/** The newest changes of one kind in memory, in the order of their numbers: those of the last day, up to a limit. */
export interface History {
  /** Forgets all changes, and from then on holds those after this number. */
  begin(after: number): void;
  /** @param oldest milliseconds since 1970; changes recorded before are forgotten */
  add(more: readonly ChangeEvent[], oldest: number): void;
  /** At most `limit` changes after this number; null if some of them may no longer be known. */
  after(id: number, limit: number): readonly ChangeEvent[] | null;
}

function makeHistory(most: number): History {
  let floor = 0;
  let changes: ChangeEvent[] = [];
  return {
    begin(after) {
      floor = after;
      changes = [];
    },
    add(more, oldest) {
      changes = changes.concat(more);
      const young = changes.findIndex(({ recordedAt }) => +recordedAt > oldest);
      const forgotten = Math.max(changes.length - most, young < 0 ? changes.length : young);
      if (forgotten <= 0) return;
      floor = changes[forgotten - 1]!.id;
      changes = changes.slice(forgotten);
    },
    after(id, limit) {
      if (id < floor) return null;
      const start = firstAfter(changes, id);
      return changes.slice(start, start + limit);
    },
  };
}

/** The place of the first change with a greater number: there are tens of thousands. */
function firstAfter(changes: readonly ChangeEvent[], id: number): number {
  let [low, high] = [0, changes.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (changes[middle]!.id > id) high = middle;
    else low = middle + 1;
  }
  return low;
}
