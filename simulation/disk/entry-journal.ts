/**
 * Changes of directory entries that are not on the medium yet. A rename is one change of two entries, so it happens as
 * a whole. POSIX promises an entry only after its directory is synced; syncing a file is not enough.
 */
import type { SeededRandom } from "../seeded-random.js";
import type { DirectoryInode, Inode } from "./inode.js";

/** Sets the entry to an inode; null removes it. */
export interface EntryChange {
  directory: DirectoryInode;
  name: string;
  inode: Inode | null;
}

interface Entry {
  atMs: number;
  changes: readonly EntryChange[];
  /** Directories that it removes. */
  removed: readonly DirectoryInode[];
}

export type EntryJournal = ReturnType<typeof makeEntryJournal>;

export function makeEntryJournal() {
  /** Oldest first. */
  let waiting: Entry[] = [];

  return {
    add(changes: readonly EntryChange[], removed: readonly DirectoryInode[], nowMs: number): void {
      waiting.push({ atMs: nowMs, changes, removed });
    },
    /** Stores the changes of a directory, and the earlier ones that they build on. */
    sync(directory: DirectoryInode): void {
      const needed = new Set<Entry>();
      const names = new Set<string>();
      for (const entry of waiting.toReversed()) {
        const concerns = entry.changes.some((one) => one.directory === directory || names.has(keyOf(one)));
        if (!concerns) continue;
        needed.add(entry);
        for (const one of entry.changes) names.add(keyOf(one));
      }
      for (const entry of waiting) if (needed.has(entry)) store(entry);
      waiting = waiting.filter((entry) => !needed.has(entry));
    },
    storeOlderThan(ms: number): void {
      while (waiting[0] && waiting[0].atMs < ms) store(waiting.shift()!);
    },
    /**
     * Each change happened or not. Those of one name happen in order: where one is lost, later ones of that name are
     * lost too. Otherwise a file that nobody has deleted could vanish with all its names.
     */
    crash(random: SeededRandom): void {
      const lostNames = new Set<string>();
      const lostIn = new Set<DirectoryInode>();
      for (const entry of waiting) {
        const builds =
          entry.changes.some((one) => lostNames.has(keyOf(one))) || entry.removed.some((one) => lostIn.has(one));
        if (!builds && random.chance(0.5)) {
          store(entry);
          continue;
        }
        for (const one of entry.changes) {
          lostNames.add(keyOf(one));
          lostIn.add(one.directory);
        }
      }
      waiting = [];
    },
  };
}

function keyOf({ directory, name }: EntryChange): string {
  return `${directory.number}/${name}`;
}

function store(entry: Entry): void {
  for (const { directory, name, inode } of entry.changes)
    if (inode) directory.stored.set(name, inode);
    else directory.stored.delete(name);
}
