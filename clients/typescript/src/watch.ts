/**
 * Follows the states of venues in memory. It opens the stream first and then reads the states, so that nothing is
 * missed in between; `Memory` puts the two together.
 *
 * A state is answered only while there is no doubt about it. There is doubt until the first reading, while the stream
 * is not connected or silent, while the service says that its data is stale, and when nothing could be read for a long
 * time.
 */
import { type Change, ChangeQueue, type IncidentChange } from "./changes.js";
import { isOlder, now } from "./clocks.js";
import { type Category, Memory, type ReadRows, type Row, type State } from "./memory.js";
import { type Fetch, shown, VenuewatchError } from "./read.js";
import { bodyOf, noVenue, staleOf } from "./said.js";
import type { StreamEvent } from "./sse.js";
import { Stream, type StreamTiming } from "./stream.js";

export interface WatchOptions {
  /** Ids of the venues to watch; former ones are accepted. Absent: all, or those of `categories`. */
  venues?: readonly string[];
  categories?: readonly Category[];
  /**
   * Ids of regions whose own views are also watched, such as the one that the bot runs in. Each has its own connection
   * and one request for each of `venues`, so these must be named, at most fifty.
   */
  regions?: readonly string[];
  /** Called with each change, in order. Its failure, or rejection if it is async, is given to `onProblem`. */
  onChange?: (change: Change) => unknown;
  /** Called with what is wrong, in words for a log. Absent: `console.warn`. The watch goes on by itself. */
  onProblem?: (problem: string) => unknown;
  timing?: Partial<WatchTiming>;
}

export interface WatchTiming extends StreamTiming {
  /** How often all states are read again, to notice venues that are new or gone. Default: ten minutes. */
  rereadMs: number;
  /** After this long without a reading, all states are unknown. Default: half an hour. */
  oldestMs: number;
  /** After this long without states, `ready` rejects with the doubt. Default: 30 s. Infinity: without a limit. */
  readyMs: number;
}

const usualTiming: WatchTiming = {
  silenceMs: 40_000,
  connectMs: 10_000,
  retryLeastMs: 1_000,
  retryMostMs: 30_000,
  rereadMs: 600_000,
  oldestMs: 1_800_000,
  readyMs: 30_000,
};

/** A timer of Node with a longer time would fire at once. */
const mostTimerMs = 2 ** 31 - 1;

/** A venue as it is in memory. While there is doubt, its states are unknown. */
export interface WatchedVenue {
  id: string;
  name: string;
  category: Category;
  state: State;
  components: Record<string, State>;
}

/** Selects a component, or a region's view. */
export interface Of {
  component?: string | undefined;
  /** One of the regions that are watched. */
  region?: string | undefined;
}

interface Service {
  fetch: Fetch;
  urlOf: (path: string, query: object) => URL;
  read: (path: string, query: object) => Promise<object>;
}

type Rows = ReadRows["rows"];
type Document = ReadRows & { stale: unknown };
type StateDocument = Omit<Document, "rows"> & Rows[number] & { region?: { region: string } | null };

interface Shown {
  venue: string;
  component: string | null;
  state: State;
}

export class Watch {
  /**
   * Resolves when the states are known for the first time. Rejects if a venue of `venues` does not exist, if the watch
   * is closed before, and after `readyMs`, with the doubt; the watch goes on all the same. Before the states are known,
   * all are `unknown`.
   */
  readonly ready: Promise<void>;

  readonly #service: Service;
  readonly #options: WatchOptions;
  readonly #timing: WatchTiming;
  readonly #stream: Stream;
  readonly #memory = new Memory();
  readonly #queues = new Set<ChangeQueue>();
  /** Whose view this is; null: by quorum. */
  readonly #region: string | null;
  /** The views of regions. Their changes are this watch's. */
  readonly #views = new Map<string, Watch>();
  /** The present ids of venues that are watched under a former one. */
  readonly #present = new Map<string, string>();
  readonly #reported = new Set<string>();
  #settle!: { resolve: () => void; reject: (error: Error) => void };

  #closed = false;
  /** Why there is no stream; null while there is one, and it has said where it begins. */
  #fault: string | null = "not connected yet";
  #stale = true;
  #mustRead = true;
  #readAt = now();
  #lastChange = -1;
  /** Beginnings of the stream. A document that was requested before one is of no use after it. */
  #beginnings = 0;
  /** Starts the next reading; undefined: none is planned. */
  #readTimer: ReturnType<typeof setTimeout> | undefined;
  readonly #readyTimer: ReturnType<typeof setTimeout>;
  #readForNew = false;
  #lastProblem = "";
  /** The venues as last reported. */
  readonly #shown = new Map<string, Shown>();
  #wasDoubted = true;

  /** Made by `Venuewatch.watch`. */
  constructor(service: Service, options: WatchOptions, region: string | null = null) {
    const { regions = [], venues = [] } = options;
    if (regions.length > 0 && (venues.length === 0 || venues.length > mostViewed))
      throw new TypeError(`expected venues beside regions, at most ${mostViewed}, got ${venues.length}`);
    this.#service = service;
    this.#options = options;
    this.#region = region;
    this.#timing = { ...usualTiming, ...options.timing };
    for (const one of new Set(regions)) {
      const onChange = (change: Change) => this.#emit(change);
      const onProblem = (problem: string) => this.#problem(`as ${one} sees it: ${problem}`);
      this.#views.set(one, new Watch(service, { ...options, regions: [], onChange, onProblem }, one));
    }
    const own = new Promise<void>((resolve, reject) => (this.#settle = { resolve, reject }));
    this.ready = Promise.all([own, ...[...this.#views.values()].map(({ ready }) => ready)]).then(() => {});
    // without waiting for it, onProblem receives it
    this.ready.catch(() => {});
    const { readyMs } = this.#timing;
    const giveUp = () => this.#settle.reject(new Error(`no states within ${readyMs} ms: ${this.doubt}`));
    this.#readyTimer = setTimeout(giveUp, Math.min(readyMs, mostTimerMs));
    this.#stream = new Stream(service.fetch, (query) => service.urlOf("events", { region, ...query }), this.#timing, {
      event: (event) => this.#receive(event),
      down: (because) => {
        this.#fault = because;
        this.#problem(because);
        this.#publish();
      },
      look: () => this.#publish(),
    });
  }

  /**
   * Whether a venue, or one of its components, is down. True: a quorum of regions says so. False: it works, perhaps
   * badly (`degraded`). Else `"unknown"`, which counts as true: `if (isDown(…))` takes it for down, and
   * `if (!isDown(…))` never takes it for up. So do not compare with `=== true`.
   *
   * @param of a component, `{ region }` for what one of the watched regions sees by itself, or both
   */
  isDown(venue: string, of?: string | Of): boolean | "unknown" {
    const state = this.stateOf(venue, of);
    return state === "unknown" ? state : state === "outage";
  }

  /** `unknown` also for a venue or a component that does not exist; a venue is then reported to `onProblem`, once. */
  stateOf(venue: string, of?: string | Of): State {
    const { component, region = null } = typeof of === "string" ? { component: of } : (of ?? {});
    if (region !== this.#region && region !== null) {
      const view = this.#views.get(region);
      if (view) return view.stateOf(venue, { component, region });
      this.#report(`region ${region}`, `region ${JSON.stringify(shown(region))} is not watched: name it in regions`);
      return "unknown";
    }
    const row = this.#row(venue);
    if (!row || this.doubt !== null) return "unknown";
    return component === undefined ? row.state : (row.components.get(component) ?? "unknown");
  }

  /** Why all states are unknown, in words for a log; null while they are not. */
  get doubt(): string | null {
    const { silenceMs, oldestMs } = this.#timing;
    if (this.#closed) return "the watch is closed";
    if (this.#fault !== null) return this.#fault;
    if (this.#stream.isSilent) return `nothing came for ${silenceMs} ms`;
    if (this.#stale) return "the service says that its data is stale";
    if (this.#mustRead) return "the states have not been read yet";
    if (isOlder(this.#readAt, oldestMs)) return `the states could not be read again for ${oldestMs} ms`;
    return null;
  }

  /** Null if the venue is not known. */
  venue(id: string): WatchedVenue | null {
    const row = this.#row(id);
    return row ? watched(row, this.doubt !== null) : null;
  }

  /** All watched venues that the service has. Empty before the first reading. */
  venues(): WatchedVenue[] {
    const isDoubted = this.doubt !== null;
    return [...this.#memory.rows.values()].map((row) => watched(row, isDoubted));
  }

  /** All changes from now on. Ends when the watch is closed. */
  changes(): AsyncIterableIterator<Change> {
    const queue = new ChangeQueue((one) => this.#queues.delete(one));
    if (this.#closed) queue.end();
    else this.#queues.add(queue);
    return queue;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const view of this.#views.values()) view.close();
    this.#stream.close();
    clearTimeout(this.#readTimer);
    clearTimeout(this.#readyTimer);
    this.#publish();
    for (const queue of this.#queues) queue.end();
    this.#settle.reject(new Error("the watch was closed before the states were known"));
  }

  #receive({ id, event, data }: StreamEvent): void {
    // events that came together with the one whose callback has closed the watch
    if (this.#closed || data === "") return;
    const body = bodyOf(data);
    const number = Number(id);
    if (id === "" || !Number.isSafeInteger(number)) throw new Error(`expected a number as id, got ${shown(id)}`);
    if (event === "start" || event === "reset") {
      const stale = staleOf(body);
      this.#memory.begin(body.at ?? null);
      this.#lastChange = number;
      this.#stale = true;
      this.#freshness(stale, event === "start" ? 0 : this.#spread());
    } else if (event === "freshness") {
      this.#freshness(staleOf(body), this.#spread());
    } else if (["venue", "component", "incident"].includes(event)) {
      // a service that repeats itself must not bring back an old state
      if (number <= this.#lastChange) return;
      this.#lastChange = number;
      if (event !== "incident") this.#checkRegion(body.region);
      if (event === "incident") this.#reportIncident(body);
      else if (!this.#memory.apply(body) && this.#wants(body)) this.#readNew();
    } else return;
    this.#publish();
  }

  /** After a beginning, and after the data was stale, the states have to be read. */
  #freshness(stale: boolean, spreadMs: number): void {
    if (this.#stale && !stale) {
      this.#beginnings++;
      this.#mustRead = true;
      this.#readSoon(spreadMs);
    }
    this.#stale = stale;
    this.#fault = null;
  }

  /** So that all clients of a service do not ask at once. */
  #spread(): number {
    return Math.random() * this.#timing.retryLeastMs;
  }

  #reportIncident(event: IncidentChange): void {
    const { venue, component, change, severity, slug, startedAt, at } = event;
    if (this.#wants(event)) this.#emit({ type: "incident", venue, component, change, severity, slug, startedAt, at });
  }

  #wants({ venue, category }: { venue: string; category?: string }): boolean {
    const { venues, categories } = this.#options;
    if (venues) return venues.some((one) => (this.#present.get(one) ?? one) === venue);
    return categories === undefined || categories.some((one) => one === category);
  }

  /** For a venue or a component that is new: a reading brings its state, perhaps a moment later. */
  #readNew(): void {
    if (this.#readForNew || this.#mustRead) return;
    this.#readForNew = true;
    this.#readSoon(this.#timing.retryLeastMs);
  }

  #readSoon(waitMs: number, failures = 0): void {
    if (this.#closed) return;
    clearTimeout(this.#readTimer);
    this.#readTimer = setTimeout(() => void this.#read(failures), waitMs);
  }

  async #read(failures: number): Promise<void> {
    const { retryLeastMs, retryMostMs, rereadMs } = this.#timing;
    const beginnings = this.#beginnings;
    const isOver = () => this.#closed || beginnings !== this.#beginnings;
    this.#readForNew = false;
    this.#readTimer = undefined;
    try {
      const { documents, unknown } = await this.#documents(failures > 0);
      if (isOver()) return;
      if (documents.some(staleOf)) throw new Error("what was read is stale, and is read again");
      if (!this.#memory.load(documents)) throw new Error("what was read is older than the stream, and is read again");
      this.#mustRead = false;
      this.#readAt = now();
      // a reading that is already planned is for a venue or a component that appeared during this one
      if (this.#readTimer === undefined) this.#readSoon(rereadMs * (0.9 + Math.random() / 5));
      clearTimeout(this.#readyTimer);
      for (const problem of unknown) this.#problem(problem);
      if (unknown.length > 0) this.#settle.reject(new Error(unknown.join("; ")));
      else this.#settle.resolve();
    } catch (error) {
      if (isOver()) return;
      const waitMs = error instanceof VenuewatchError ? (error.retryAfterMs ?? 0) : 0;
      this.#problem((error as Error).message);
      const growingMs = Math.min(retryMostMs, retryLeastMs * 2 ** failures);
      this.#readSoon(Math.max(waitMs, growingMs * (0.5 + Math.random() / 2)), failures + 1);
    }
    this.#publish();
  }

  /** @param isAgain the last reading was of no use; a cache in between may still have it, so the address is changed */
  async #documents(isAgain: boolean): Promise<{ documents: Document[]; unknown: string[] }> {
    const { venues, categories } = this.#options;
    const query = isAgain ? { after: this.#stream.lastId || "0" } : {};
    const documents: Document[] = [];
    const unknown: string[] = [];
    if (this.#region !== null) {
      for (const asked of venues!)
        if (!(await this.#addState(documents, asked, query))) unknown.push(noVenue(asked, []));
      return { documents, unknown };
    }
    if (venues?.length === 1 && (await this.#addState(documents, venues[0]!, query))) return { documents, unknown };

    const category = categories?.length === 1 ? categories[0] : undefined;
    const board = (await this.#service.read("status", { category, ...query })) as Omit<Document, "rows"> & {
      venues: Rows;
    };
    documents.push({ ...board, rows: board.venues.filter(({ id, category }) => this.#wants({ venue: id, category })) });
    const known = board.venues.map(({ id }) => id);
    for (const asked of venues ?? [])
      if (!known.includes(asked) && !(await this.#addState(documents, asked, query)))
        unknown.push(noVenue(asked, known));
    return { documents, unknown };
  }

  /** @returns false if there is no such venue, not even under a former id */
  async #addState(documents: Document[], asked: string, query: object): Promise<boolean> {
    try {
      const path = `targets/${encodeURIComponent(asked)}/state`;
      const body = (await this.#service.read(path, { region: this.#region, ...query })) as StateDocument;
      this.#checkRegion(body.region?.region);
      if (body.id !== asked) this.#present.set(asked, body.id);
      documents.push({ ...body, rows: [body] });
      return true;
    } catch (error) {
      if (error instanceof VenuewatchError && error.status === 404 && error.problem) return false;
      throw error;
    }
  }

  /** An older service would ignore the region, and answer by quorum. */
  #checkRegion(of: string | null | undefined): void {
    if ((of ?? null) !== this.#region)
      throw new Error(
        `expected the view of ${this.#region ?? "all regions"}, got that of ${shown(of ?? "all regions")}`,
      );
  }

  #row(asked: string): Row | undefined {
    const { rows } = this.#memory;
    const row = rows.get(asked) ?? rows.get(this.#present.get(asked) ?? asked);
    if (!row && !this.#mustRead) this.#report(asked, noVenue(asked, [...rows.keys()]));
    return row;
  }

  /** Reports each misspelt name once. */
  #report(asked: string, problem: string): void {
    if (this.#reported.has(asked)) return;
    if (this.#reported.size < mostReported) this.#reported.add(asked);
    this.#problem(problem);
  }

  /** The same problem again and again is reported once. */
  #problem(problem: string): void {
    if (problem === this.#lastProblem) return;
    this.#lastProblem = problem;
    const log = (text: string) => console.warn(`venuewatch: ${text}`);
    const report = (one: string) => (this.#options.onProblem ? this.#options.onProblem(one) : log(one));
    call(report, problem, (error) => log(`onProblem failed: ${String(error)}`));
  }

  /** Reports the answers that have changed. */
  #publish(): void {
    const because = this.doubt;
    const isDoubted = because !== null;
    const found = new Map<string, Shown>();
    for (const { id: venue, state, components } of this.#memory.rows.values()) {
      found.set(venue, { venue, component: null, state: isDoubted ? "unknown" : state });
      for (const [component, state] of components)
        found.set(`${venue} ${component}`, { venue, component, state: isDoubted ? "unknown" : state });
    }
    const gone = [...this.#shown].filter(([key]) => !found.has(key));
    const wasClosed = this.#closed;
    if (isDoubted !== this.#wasDoubted) {
      this.#wasDoubted = isDoubted;
      this.#emit({ type: "doubt", ...this.#ofRegion, because });
    }
    for (const [key, one] of [...found, ...gone.map(([key, one]) => [key, { ...one, state: "unknown" }] as const)]) {
      // a callback has closed the watch, which made all states unknown: the changes found before are outdated
      if (this.#closed !== wasClosed) return;
      const before = this.#shown.get(key)?.state ?? "unknown";
      if (found.has(key)) this.#shown.set(key, one);
      else this.#shown.delete(key);
      if (one.state === before) continue;
      this.#emit({ type: one.component === null ? "venue" : "component", ...this.#ofRegion, ...one, before });
    }
  }

  get #ofRegion(): { region?: string } {
    return this.#region === null ? {} : { region: this.#region };
  }

  #emit(change: Change): void {
    for (const queue of this.#queues) queue.add(change);
    const report = (one: Change) => this.#options.onChange?.(one);
    call(report, change, (error) => this.#problem(`onChange failed: ${String(error)}`));
  }
}

/** Maximum number of venues when regions' views are watched. */
const mostViewed = 50;

/** This many misspelt names are reported once each; further ones may be reported again. */
const mostReported = 1_000;

/** The watch goes on, whatever the bot does, also when it does it later. */
function call<One>(callback: (one: One) => unknown, one: One, onFailure: (error: unknown) => void): void {
  new Promise((resolve) => resolve(callback(one))).catch(onFailure);
}

function watched({ id, name, category, state, components }: Row, isDoubted: boolean): WatchedVenue {
  const known = (one: State) => (isDoubted ? "unknown" : one);
  const states = [...components].map(([component, one]) => [component, known(one)] as const);
  return { id, name, category, state: known(state), components: Object.fromEntries(states) };
}
