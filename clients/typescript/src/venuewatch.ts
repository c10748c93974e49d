import type { components, operations } from "./openapi.js";
import { type Fetch, type ReadLimits, readJson } from "./read.js";
import { Watch, type WatchOptions } from "./watch.js";

type Schemas = components["schemas"];

type Query<Operation extends keyof operations> = Omit<
  NonNullable<operations[Operation]["parameters"]["query"]>,
  "format"
>;

export interface VenuewatchOptions extends Partial<ReadLimits> {
  /** The base address of a venuewatch service, such as `https://status.example.org`. */
  url: string;
  /** Absent: the global one. */
  fetch?: Fetch;
}

/**
 * A venuewatch service. Each method reads one document of its API and fails with a `VenuewatchError`. A program that
 * asks often should `watch` instead.
 */
export class Venuewatch {
  readonly #base: URL;
  readonly #fetch: Fetch;
  readonly #limits: ReadLimits;

  /** @throws TypeError if `url` is no URL */
  constructor({ url, fetch = (...args) => globalThis.fetch(...args), ...limits }: VenuewatchOptions) {
    if (!/^https?:\/\//i.test(url))
      throw new TypeError(`expected url such as "https://status.example.org", got "${url}"`);
    this.#base = new URL(url.replace(/[?#].*$/s, "").replace(/\/*$/, "/"));
    this.#fetch = fetch;
    this.#limits = { timeoutMs: 10_000, maxBytes: 4 * 2 ** 20, ...limits };
  }

  /** The board: every venue with its components, and the open incidents. */
  status(query: Query<"getStatus"> = {}): Promise<Schemas["StatusResponse"]> {
    return this.#read("status", query);
  }

  /** One venue and its components, in about a kilobyte: by quorum, or as one region sees them. */
  state(venue: string, query: Query<"getTargetState"> = {}): Promise<Schemas["VenueStateResponse"]> {
    return this.#read(`targets/${encodeURIComponent(venue)}/state`, query);
  }

  /** Everything about one venue. */
  venue(venue: string, query: Query<"getTarget"> = {}): Promise<Schemas["ExchangeResponse"]> {
    return this.#read(`targets/${encodeURIComponent(venue)}`, query);
  }

  /** Incidents, newest first, by pages. */
  incidents(query: Query<"listIncidents"> = {}): Promise<Schemas["IncidentsResponse"]> {
    return this.#read("incidents", query);
  }

  /** One incident, with the votes behind it. */
  incident(slug: string): Promise<Schemas["IncidentDetailResponse"]> {
    return this.#read(`incidents/${encodeURIComponent(slug)}`);
  }

  /** The venues compared over a window. */
  reliability(query: Query<"getReliability"> = {}): Promise<Schemas["ReliabilityResponse"]> {
    return this.#read("reliability", query);
  }

  /** The probe fleet and its quorum. */
  regions(): Promise<Schemas["RegionsResponse"]> {
    return this.#read("regions");
  }

  /** What the venues declare about deposits and withdrawals, by asset and network. */
  transfers(query: Query<"listTransfers"> = {}): Promise<Schemas["TransfersResponse"]> {
    return this.#read("transfers", query);
  }

  /**
   * Whether the venue declares that an asset can be withdrawn: on this network, or on any. It is not measured, and
   * `"unknown"` is never to be taken for yes.
   *
   * @param network its id in the service's list, such as `tron`, or the venue's own name for it. A venue that says it
   *   by asset alone says of no network that it is open.
   */
  canWithdraw(venue: string, asset: string, network?: string): Promise<boolean | "unknown"> {
    return this.#can("withdrawal", venue, asset, network);
  }

  /** The same of deposits. */
  canDeposit(venue: string, asset: string, network?: string): Promise<boolean | "unknown"> {
    return this.#can("deposit", venue, asset, network);
  }

  async #can(direction: "deposit" | "withdrawal", venue: string, asset: string, network?: string) {
    const { stale, transfers } = await this.transfers({ venue, asset: asset.toUpperCase() });
    const states = transfers.flatMap((line) => {
      const { state } = line[direction];
      if (network === undefined || [line.network, line.venueNetwork].includes(network)) return [state];
      if (line.venueNetwork !== null) return [];
      return [state === "open" ? "unknown" : state];
    });
    // old data say nothing of the present
    if (stale !== false) return "unknown";
    if (states.includes("open")) return true;
    return states.length > 0 && states.every((state) => state === "paused") ? false : "unknown";
  }

  /**
   * Follows the states of venues, and answers from memory. Close it at the end.
   *
   * @throws TypeError if `regions` are given without `venues`, or with too many
   */
  watch(options: WatchOptions = {}): Watch {
    const urlOf = (path: string, query: object) => this.#url(path, query);
    const read = (path: string, query: object) => this.#read<object>(path, query);
    return new Watch({ fetch: this.#fetch, urlOf, read }, options);
  }

  #read<Body>(path: string, query: object = {}): Promise<Body> {
    return readJson(this.#fetch, this.#url(path, query), this.#limits) as Promise<Body>;
  }

  #url(path: string, query: object): URL {
    const url = new URL(`v1/${path}`, this.#base);
    for (const [name, value] of Object.entries(query) as [string, string | number | null | undefined][])
      if (value !== undefined && value !== null) url.searchParams.set(name, String(value));
    return url;
  }
}
