/**
 * A world of simulated venues: real HTTP and WebSocket servers on loopback that play every venue of a registry in its
 * own protocol, for clients of several regions. A script makes them lag, stall, send false data and fail. The tests and
 * the demo run on it.
 */
import { createServer, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Registry, Venue } from "../shared/registry/registry.js";
import { checkFaults } from "./fault-check.js";
import { faultOf, nextChange, type ScriptedFault } from "./faults.js";
import { type Listener, startListener } from "./listener.js";
import { loopbackRegistry, measuredHosts, nodeHosts } from "./loopback-registry.js";
import { type Latency, latencyMs, makeMarket } from "./market.js";
import { feedServer } from "./notices/feed-server.js";
import { serveFeed, type SimulatedFeed } from "./notices/feed.js";
import { checkPosts, type ScriptedPost } from "./notices/posts.js";
import { isPlayed } from "./notices/words.js";
import type { VenuePlayer } from "./player.js";
import { playerOf } from "./players.js";
import { serveRest } from "./rest.js";
import { serveSockets, type Sockets } from "./sockets.js";
import { makeFreeze, type Stage } from "./stage.js";

export interface WorldOptions {
  registry: Registry;
  faults?: ScriptedFault[];
  /**
   * What the venues post on their status feeds. A function is called at each reading, and its result is not checked.
   */
  posts?: ScriptedPost[] | (() => ScriptedPost[]);
  /** Entries of the world's registry that are out of date. */
  aged?: AgedEntry[];
  /** The most messages that a stream sends per minute. Default: its typical rate. */
  messagesPerMinuteCap?: number;
  /** Port of a venue's own listener by its id. Default: any free port. */
  ports?: Record<string, number>;
  /** Players of venues that players.ts does not list, by venue id. */
  players?: Record<string, VenuePlayer>;
  /** The clock of the script and of the venues' time stamps. */
  now?: () => Date;
  /**
   * Every interval of a venue (pings, deadlines, data) passes this many times faster. Default 1. Beyond 100, some
   * keep-alive times fall below what a registry file may hold.
   */
  timeScale?: number;
  /** `plausible`: 10–180 ms, constant per venue and region. Default `none`. */
  latency?: Latency;
  /** Called for each request, upgrade and subscription. */
  onRequest?: (observed: Observed) => void;
}

export interface World extends Pick<Observations, "requests" | "violations"> {
  /** The registry that leads to this world: loopback addresses, keep-alive times divided by the time scale. */
  registry: Registry;
  /** The same registry without the age of its entries. */
  corrected: Registry;
  /** Adds a fault to the script; without `from`, it begins at once. Throws when the world cannot play it. */
  fault(fault: ScriptedFault): void;
  /** Ends every fault; resolves when all venues listen again. Posts remain. */
  clear(): Promise<void>;
  openSockets(of?: Partial<Pick<Observed, "venue" | "region">>): number;
  close: () => Promise<void>;
}

/** A venue that is being played: its listeners and its sockets. */
interface Standing {
  id: string;
  /** The venue's own under null, those of third parties' nodes under their hosts. */
  listeners: Map<string | null, Listener>;
  sockets: Sockets;
}

export async function startWorld(options: WorldOptions): Promise<World> {
  const { registry, ports = {}, players = {}, aged = [] } = options;
  const { now = () => new Date() } = options;
  const { latency = "none", timeScale = 1 } = options;
  const { messagesPerMinuteCap = Infinity } = options;
  let faults = [...(options.faults ?? [])];
  checkFaults(faults, registry);
  checkAged(aged, registry, measuredHosts);
  const { posts: given = [] } = options;
  if (Array.isArray(given)) checkPosts(given, registry);
  const market = makeMarket(now);
  const freeze = makeFreeze();
  const { count, requests, violated, violations } = makeObservations(options.onRequest);
  const nodes = nodeHosts(registry.venues);
  const standing: Standing[] = [];
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  try {
    for (const venue of registry.venues) standing.push(await open(venue));
  } catch (error) {
    await close();
    throw error;
  }
  await applyFaults();
  const corrected = loopbackRegistry(registry, portOf, timeScale);
  return {
    registry: await agedRegistry(corrected, aged),
    corrected,
    ...{ fault, clear, requests, openSockets, violations, close },
  };

  function open(venue: Venue): Promise<Standing> {
    const stage = stageOf(venue);
    const hosts = measuredHosts(venue).filter((host) => nodes.has(host));
    return standUp(stage, feedOf(stage, registry.venues), hosts, ports[venue.id] ?? 0);
  }

  function stageOf(venue: Venue): Stage {
    return {
      venue,
      player: players[venue.id] ?? playerOf(venue),
      market,
      freeze,
      timeScale,
      messagesPerMinuteCap,
      latencyMs: (region) => latencyMs(latency, venue.id, region),
      faultOf: (component, client, among) => faultOf(faults, { ...client, venue: venue.id, component }, now(), among),
      posts: () => postsOf(venue.id),
      now,
      count: (component, region) => count({ venue: venue.id, component, region }),
      violated: (missed, region, dropped) => violated({ at: now(), venue: venue.id, region, missed, dropped }),
    };
  }

  function fault(added: ScriptedFault) {
    checkFaults([added], registry);
    faults.push(added);
    void applyFaults();
  }

  function postsOf(venue: string): ScriptedPost[] {
    const scripted = Array.isArray(given) ? given : given();
    return scripted.filter((post) => post.venue === venue);
  }

  async function clear() {
    faults = [];
    await applyFaults();
  }

  /** Adapts listeners and open sockets to the script, now and whenever a fault begins or ends. */
  async function applyFaults() {
    clearTimeout(timer);
    if (closed) return;
    const at = now();
    const nextAt = Math.min(...faults.map((fault) => nextChange(fault, at)));
    if (nextAt < Infinity) timer = setTimeout(() => void applyFaults(), Math.min(nextAt - at.getTime(), 2 ** 31 - 1));
    for (const { sockets } of standing) sockets.faultsChanged();
    await Promise.all(
      standing.flatMap(({ id, listeners }) =>
        [...listeners].map(([host, listener]) => listener.setOpen(!isRefused(id, host, at))),
      ),
    );
  }

  function isRefused(venue: string, host: string | null, at: Date): boolean {
    const target = { venue, component: "", region: null, host };
    return faultOf(faults, target, at, ["refused"]) !== undefined;
  }

  function openSockets({ venue, region }: Partial<Observed> = {}) {
    return standing
      .filter(({ id }) => venue === undefined || id === venue)
      .reduce((sum, { sockets }) => sum + sockets.open(region), 0);
  }

  function portOf(venue: string, host: string): number {
    const { listeners } = standing.find(({ id }) => id === venue)!;
    return (listeners.get(host) ?? listeners.get(null)!).port;
  }

  async function close() {
    closed = true;
    clearTimeout(timer);
    await Promise.all(standing.flatMap(({ listeners }) => [...listeners.values()].map((one) => one.close())));
  }
}

/**
 * Begins to play a venue.
 *
 * @param hosts the nodes of third parties through which it is read
 */
async function standUp(
  stage: Stage,
  feed: SimulatedFeed | null,
  hosts: readonly string[],
  port: number,
): Promise<Standing> {
  const sockets = serveSockets(stage);
  const onRequest = serveRest(stage, feed);
  const listeners = new Map([[null as string | null, await listen(port)]]);
  for (const host of hosts) listeners.set(host, await listen(0));
  return { id: stage.venue.id, listeners, sockets };

  function listen(port: number): Promise<Listener> {
    // Longer than any cadence, so that a probe may reuse its connections.
    const server = createServer({ keepAliveTimeout: 330_000 }, onRequest);
    server.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) =>
      feed?.isAsked(request) ? feed.push(request, socket, head) : sockets.onUpgrade(request, socket, head),
    );
    return startListener(server, port);
  }
}

/** Null if the venue has no feed that the world plays, or another venue serves it. */
function feedOf(stage: Stage, venues: readonly Venue[]): SimulatedFeed | null {
  const { venue } = stage;
  if (feedServer(venue, venues) !== venue) return null;
  const { kind, api, page } = venue.official!;
  return isPlayed(kind) ? serveFeed({ kind, api: api!, page }, stage) : null;
}

/** The world's observations of its clients. */
interface Observed {
  venue: string;
  component: string;
  region: string | null;
}

export interface Violation {
  at: Date;
  venue: string;
  region: string | null;
  /** What the client omitted or did wrong. */
  missed: string;
  /** Whether the venue closed the socket because of it. */
  dropped: boolean;
}

interface Observations {
  count: (observed: Observed) => void;
  /**
   * Counts REST requests, upgrades (`ws:conn`) and subscriptions (`ws:<name>`) so far. Requests for status feeds
   * (`official`) and lists of deposits and withdrawals (`transfers`) count only where they are asked for, because they
   * measure no venue.
   */
  requests: (of?: Partial<Observed>) => number;
  violated: (violation: Violation) => void;
  /** Keep-alive rules that clients broke; the newest thousand. */
  violations: readonly Violation[];
}

const unmeasured: ReadonlySet<string> = new Set(["official", "transfers"]);

/** @param onCount called for each */
function makeObservations(onCount: (observed: Observed) => void = () => {}): Observations {
  const counts = new Map<string, Observed & { count: number }>();
  const violations: Violation[] = [];
  return { count, requests, violated, violations };

  function count(observed: Observed) {
    onCount(observed);
    const key = Object.values(observed).join(" ");
    const known = counts.get(key);
    if (known) known.count += 1;
    else counts.set(key, { ...observed, count: 1 });
  }

  function requests({ venue, component, region }: Partial<Observed> = {}) {
    return [...counts.values()]
      .filter((one) => venue === undefined || one.venue === venue)
      .filter((one) => (component === undefined ? !unmeasured.has(one.component) : one.component === component))
      .filter((one) => region === undefined || one.region === region)
      .reduce((sum, one) => sum + one.count, 0);
  }

  function violated(violation: Violation) {
    violations.push(violation);
    if (violations.length > 1000) violations.shift();
  }
}

// Entries that nobody has compared with their venues for a while, as an operator of an old release has them.

interface AgedEntry {
  /** Registry id. */
  venue: string;
  /**
   * A host of the venue, with its port if the address has one: the entry still has a former port of it, at which
   * nothing listens.
   */
  moved: string;
}

/** @param registry of the world */
async function agedRegistry(registry: Registry, entries: readonly AgedEntry[]): Promise<Registry> {
  if (entries.length === 0) return registry;
  const port = await desertedPort();
  const movedOf = (id: string) => entries.find(({ venue }) => venue === id)?.moved;
  return {
    ...registry,
    venues: registry.venues.map((venue) => {
      const moved = movedOf(venue.id);
      return moved === undefined ? venue : movedFrom(venue, moved, port);
    }),
  };
}

async function desertedPort(): Promise<number> {
  const listener = await startListener(createServer(), 0);
  await listener.setOpen(false);
  return listener.port;
}

/** The world's addresses have the real host as the first part of their path. */
function movedFrom({ rest, socket, ...venue }: Venue, host: string, port: number): Venue {
  const former = <Asked extends { url?: string }>(asked: Asked): Asked => {
    const { url } = asked;
    return url !== undefined && new URL(url).pathname.startsWith(`/${host}/`)
      ? { ...asked, url: url.replace(/:\d+\//, `:${port}/`) }
      : asked;
  };
  return {
    ...venue,
    rest: rest.map(former),
    socket: socket && { ...former(socket), streams: socket.streams.map(former) },
  };
}

/** @throws Error that names every entry that is of no venue, or of none of its hosts */
function checkAged(entries: readonly AgedEntry[], registry: Registry, hostsOf: (venue: Venue) => string[]): void {
  const problems = entries.flatMap(({ venue: id, moved }) => {
    const venue = registry.venues.find((one) => one.id === id);
    if (!venue) return [`the registry has no venue ${id}`];
    const hosts = hostsOf(venue);
    return hosts.includes(moved) ? [] : [`${id} has no host ${moved}; expected one of ${hosts.join(", ")}`];
  });
  if (problems.length > 0) throw new Error(`The world cannot age its entries:\n${problems.join("\n")}`);
}
