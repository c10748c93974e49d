import type { KeepAlive, Registry, Venue } from "../shared/registry/registry.js";
import { feedServer } from "./notices/feed-server.js";

// The registry for the world's clients: every address leads to the world, and every time is on the world's scale.
//
// Statements of an entry that do not hold here are left out: nothing ends on a day of the calendar, no request is
// limited unless a fault says so, and no edge repeats an answer.

/**
 * @param portOf the port on 127.0.0.1 that plays a host of a venue
 * @param timeScale divides the keep-alive times
 */
export function loopbackRegistry(registry: Registry, portOf: PortOf, timeScale: number): Registry {
  return {
    ...registry,
    venues: registry.venues.map((venue) => ({
      ...loopbackVenue(venue, (url) => loopbackUrl(url, venue.id, portOf), timeScale),
      official: loopbackOfficial(venue, registry.venues, portOf),
      ...loopbackTransfers(venue, (url) => loopbackUrl(url, venue.id, portOf)),
    })),
  };
}

export type PortOf = (venue: string, host: string) => number;

/**
 * Hosts of third parties' nodes, through which venues are read. Each has a listener of its own, so that one can refuse
 * connections, or limit requests, while another answers.
 */
export function nodeHosts(venues: readonly Venue[]): ReadonlySet<string> {
  const asked = venues.flatMap(({ rest, socket }) => [...rest, ...(socket ? [socket] : [])]);
  return new Set(
    asked.flatMap(({ url, alternatives = [] }) =>
      alternatives.length > 0 ? [url, ...alternatives].map((one) => new URL(one).host) : [],
    ),
  );
}

/** All hosts at which a venue is measured, with their ports where the addresses have one. */
export function measuredHosts({ rest, socket }: Venue): string[] {
  const asked = [...rest, ...(socket ? [socket, ...socket.streams] : [])];
  const urls = asked.flatMap((one) => [one.url ?? [], "alternatives" in one ? (one.alternatives ?? []) : []].flat());
  return [...new Set(urls.map((url) => new URL(url).host))];
}

type AddressOf = (url: string) => string;

function loopbackVenue(venue: Venue, addressOf: AddressOf, timeScale: number): Venue {
  const { socket } = venue;
  const scaled = (ms: number | null) => ms && divided(ms, timeScale);
  return {
    ...asPlayed(venue),
    rest: venue.rest.map((endpoint) => ({
      ...endpoint,
      ...loopbackAddresses(endpoint, addressOf),
    })),
    socket: socket && {
      ...socket,
      ...loopbackAddresses(socket, addressOf),
      keepAlive: {
        ...socket.keepAlive,
        send: scaledSend(socket.keepAlive.send, timeScale),
        replyWithinMs: scaled(socket.keepAlive.replyWithinMs),
        deadAfterMs: scaled(socket.keepAlive.deadAfterMs),
      },
      maxConnectionMs: scaled(socket.maxConnectionMs),
      streams: socket.streams.map((stream) => (stream.url ? { ...stream, url: addressOf(stream.url) } : stream)),
    },
  };
}

/** Fields that hold for the real venue only. */
const ofTheReal: ReadonlySet<string> = new Set([
  "until",
  "checkedAt",
  "limits",
  "edgeCacheMs",
] satisfies (keyof Venue)[]);

function asPlayed(venue: Venue): Venue {
  return Object.fromEntries(Object.entries(venue).filter(([field]) => !ofTheReal.has(field))) as unknown as Venue;
}

function loopbackAddresses({ url, alternatives }: { url: string; alternatives?: string[] }, addressOf: AddressOf) {
  return {
    url: addressOf(url),
    ...(alternatives && { alternatives: alternatives.map(addressOf) }),
  };
}

/** Venues that share a feed also share it here, at the addresses of the venue that serves it. */
function loopbackOfficial(venue: Venue, venues: Venue[], portOf: PortOf): Venue["official"] {
  const { official } = venue;
  const { id } = feedServer(venue, venues) ?? venue;
  return (
    official && {
      ...official,
      page: official.page && loopbackUrl(official.page, id, portOf),
      api: official.api && loopbackUrl(official.api, id, portOf),
    }
  );
}

function loopbackTransfers({ transfers }: Venue, addressOf: AddressOf): Pick<Venue, "transfers"> {
  if (!transfers || transfers.kind === null) return {};
  return { transfers: { ...transfers, api: addressOf(transfers.api) } };
}

function scaledSend(send: KeepAlive["send"], timeScale: number) {
  return "everyMs" in send ? { ...send, everyMs: divided(send.everyMs, timeScale) } : send;
}

function divided(ms: number, timeScale: number): number {
  return Math.max(1, Math.round(ms / timeScale));
}

/** `wss://host:9443/a?b` becomes `ws://127.0.0.1:<port>/host:9443/a?b`: one listener plays all hosts of a venue. */
function loopbackUrl(url: string, venue: string, portOf: PortOf): string {
  const { protocol, host } = new URL(url);
  const scheme = protocol === "wss:" || protocol === "ws:" ? "ws" : "http";
  return `${scheme}://127.0.0.1:${portOf(venue, host)}${worldPath(url)}`;
}

/** The request target under which the world plays a real address. */
export function worldPath(url: string): string {
  const { host, pathname, search } = new URL(url);
  return `/${host}${pathname}${search}`;
}
