import type { components } from "./openapi.js";
import type { State } from "./memory.js";

/** The state of a venue or a component, as the watch answers it, has changed: also to and from `unknown`. */
export interface StateChange {
  type: "venue" | "component";
  venue: string;
  /** Null: the venue as a whole. */
  component: string | null;
  /** The region whose view this is; absent: the quorum's. */
  region?: string;
  state: State;
  before: State;
}

/** An incident was opened, or changed. `slug` leads to it. */
export interface IncidentChange {
  type: "incident";
  venue: string;
  component: string;
  change: "opened" | "escalated" | "closed" | "retracted";
  severity: components["schemas"]["Severity"];
  slug: string;
  startedAt: string;
  at: string;
}

/** From now on all states are unknown, for this reason; null: the doubt is over. The changes of states follow. */
export interface DoubtChange {
  type: "doubt";
  /** The region whose view is in doubt; absent: the quorum's. */
  region?: string;
  because: string | null;
}

export type Change = StateChange | IncidentChange | DoubtChange;

/**
 * Maximum number of changes that wait for a slow reader. Older ones are dropped: states are also answered from memory.
 */
const mostWaiting = 10_000;

/** Hands changes to one reader, in their order. */
export class ChangeQueue implements AsyncIterableIterator<Change> {
  #waiting: Change[] = [];
  /** Calls of `next` that wait for a change. */
  #readers: ((result: IteratorResult<Change, undefined>) => void)[] = [];
  #ended = false;

  constructor(readonly onEnd: (queue: ChangeQueue) => void) {}

  add(change: Change): void {
    const reader = this.#readers.shift();
    if (reader) return reader({ value: change });
    this.#waiting.push(change);
    if (this.#waiting.length > mostWaiting) this.#waiting.shift();
  }

  /** Changes that wait can still be read. */
  end(): void {
    this.#ended = true;
    for (const reader of this.#readers.splice(0)) reader({ value: undefined, done: true });
  }

  next(): Promise<IteratorResult<Change, undefined>> {
    const value = this.#waiting.shift();
    if (value) return Promise.resolve({ value });
    if (this.#ended) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve) => this.#readers.push(resolve));
  }

  return(): Promise<IteratorResult<Change, undefined>> {
    this.#waiting = [];
    this.end();
    this.onEnd(this);
    return this.next();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
