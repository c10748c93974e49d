import type { components } from "./openapi.js";

/** `unknown`: nobody knows, or the client is not sure. */
export type State = components["schemas"]["State"];
export type Category = components["schemas"]["Category"];

/** The states of a venue in memory. */
export interface Row {
  id: string;
  name: string;
  category: Category;
  state: State;
  components: Map<string, State>;
  /** It includes the changes until this instant. */
  asOfMs: number;
}

/** A change of a state, as the stream sends it. */
export interface StateEvent {
  at: string;
  venue: string;
  /** Absent: of the venue as a whole. */
  component?: string;
  /** The region whose view this is; absent: the quorum's. */
  region?: string;
  state: string;
}

/** The rest of an event is not kept, because it may be long. */
type Kept = Pick<StateEvent, "venue" | "state"> & { component?: string | undefined };

/** A document that was read: the states of some venues at one instant. */
export interface ReadRows {
  generatedAt: string;
  rows: {
    id: string;
    name: string;
    category: Category;
    state: string;
    components: { component: string; state: string }[];
  }[];
}

/**
 * The states of venues: what was read, and the changes since. A document shows an instant, not an event, and may come
 * from a cache or from a slower server than the stream's. So the memory keeps the events that a document may lack, and
 * applies to it all that happened after its instant. A document from before the start of the stream is of no use.
 */
export class Memory {
  rows = new Map<string, Row>();
  /** A document must show this instant or a later one, or what happened in between is missing. */
  #fromMs = -Infinity;
  #recent: { atMs: number; event: Kept }[] = [];

  /**
   * Starts again with a stream that sends all changes after this instant; null: after any. The rows stay until the next
   * reading.
   */
  begin(at: string | null): void {
    this.#fromMs = at === null ? -Infinity : instant(at);
    this.#recent = [];
  }

  /** @returns false if it is too old to continue with the events of the stream */
  load(read: ReadRows[]): boolean {
    const instants = read.map(({ generatedAt }) => instant(generatedAt));
    const oldest = Math.min(...instants);
    if (oldest < this.#fromMs) return false;
    this.rows = new Map();
    for (const [place, { rows }] of read.entries())
      for (const { id, name, category, state, components } of rows) {
        const states = new Map(components.map((one) => [one.component, stateOf(one.state)]));
        this.rows.set(id, { id, name, category, state: stateOf(state), components: states, asOfMs: instants[place]! });
      }
    this.#recent = this.#recent.filter(({ atMs }) => atMs > oldest);
    for (const { atMs, event } of this.#recent) this.#apply(atMs, event);
    this.#fromMs = oldest;
    return true;
  }

  /** @returns whether the venue and the component are known */
  apply(event: StateEvent): boolean {
    const atMs = instant(event.at);
    const { venue, component, state } = event;
    if ([venue, component ?? "", state].some((one) => typeof one !== "string"))
      throw new Error("expected texts as venue, component and state of an event");
    this.#recent.push({ atMs, event: { venue, component, state } });
    // a document that is still being read must be newer than what is forgotten
    if (this.#recent.length > mostRecent) this.#fromMs = Math.max(this.#fromMs, this.#recent.shift()!.atMs);
    return this.#apply(atMs, event);
  }

  #apply(atMs: number, { venue, component, state }: Kept): boolean {
    const row = this.rows.get(venue);
    if (!row || (component !== undefined && !row.components.has(component))) return false;
    if (atMs <= row.asOfMs) return true;
    if (component === undefined) row.state = stateOf(state);
    else row.components.set(component, stateOf(state));
    return true;
  }
}

/** Enough for a storm of all venues and components several times over; a megabyte. */
const mostRecent = 5_000;

/** A word that is new in a later version is not understood, so the state is unknown. */
function stateOf(word: string): State {
  return word === "operational" || word === "degraded" || word === "outage" ? word : "unknown";
}

function instant(text: string): number {
  const ms = Date.parse(text);
  if (Number.isNaN(ms))
    throw new Error(`expected an instant such as 2026-01-31T12:00:00.000Z, got ${JSON.stringify(text)}`);
  return ms;
}
