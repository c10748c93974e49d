/** The registry for the world's clients: every address leads to the world, and every time is on the world's scale. */
import type { KeepAlive, Registry, Venue } from "../shared/registry/registry.js";
import { feedServer } from "./notices/feed-server.js";

/**
 * @param portOf the port on 127.0.0.1 that plays a venue
 * @param timeScale divides the keep-alive times
 */
export function loopbackRegistry(registry: Registry, portOf: (venue: string) => number, timeScale: number): Registry {
  return {
    ...registry,
    venues: registry.venues.map((venue) => ({
      ...loopbackVenue(venue, portOf(venue.id), timeScale),
      official: loopbackOfficial(venue, registry.venues, portOf),
    })),
  };
}

function loopbackVenue(venue: Venue, port: number, timeScale: number): Venue {
  const { socket } = venue;
  const scaled = (ms: number | null) => ms && divided(ms, timeScale);
  return {
    ...venue,
    rest: venue.rest.map((endpoint) => ({
      ...endpoint,
      ...loopbackAddresses(endpoint, port),
    })),
    socket: socket && {
      ...socket,
      ...loopbackAddresses(socket, port),
      keepAlive: {
        ...socket.keepAlive,
        send: scaledSend(socket.keepAlive.send, timeScale),
        replyWithinMs: scaled(socket.keepAlive.replyWithinMs),
        deadAfterMs: scaled(socket.keepAlive.deadAfterMs),
      },
      maxConnectionMs: scaled(socket.maxConnectionMs),
      streams: socket.streams.map((stream) =>
        stream.url ? { ...stream, url: loopbackUrl(stream.url, port) } : stream,
      ),
    },
  };
}

/** The venue's own listener plays the nodes of third parties, too. */
function loopbackAddresses({ url, alternatives }: { url: string; alternatives?: string[] }, port: number) {
  return {
    url: loopbackUrl(url, port),
    ...(alternatives && { alternatives: alternatives.map((other) => loopbackUrl(other, port)) }),
  };
}

/** Venues that share a feed also share it here, at the addresses of the venue that serves it. */
function loopbackOfficial(venue: Venue, venues: Venue[], portOf: (venue: string) => number): Venue["official"] {
  const { official } = venue;
  const port = portOf((feedServer(venue, venues) ?? venue).id);
  return (
    official && {
      ...official,
      page: official.page && loopbackUrl(official.page, port),
      api: official.api && loopbackUrl(official.api, port),
    }
  );
}

function scaledSend(send: KeepAlive["send"], timeScale: number) {
  return "everyMs" in send ? { ...send, everyMs: divided(send.everyMs, timeScale) } : send;
}

function divided(ms: number, timeScale: number): number {
  return Math.max(1, Math.round(ms / timeScale));
}

/** `wss://host:9443/a?b` becomes `ws://127.0.0.1:<port>/host:9443/a?b`: one listener plays all hosts of a venue. */
function loopbackUrl(url: string, port: number): string {
  const { protocol } = new URL(url);
  const scheme = protocol === "wss:" || protocol === "ws:" ? "ws" : "http";
  return `${scheme}://127.0.0.1:${port}${worldPath(url)}`;
}

/** The request target under which the world plays a real address. */
export function worldPath(url: string): string {
  const { host, pathname, search } = new URL(url);
  return `/${host}${pathname}${search}`;
}
