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

export function makeHistory(most: number): History {
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
