/** Entries that nobody has compared with their venues for a while, as an operator of an old release has them. */
import { createServer } from "node:http";
import type { Registry, Venue } from "../shared/registry/registry.js";
import { startListener } from "./listener.js";

export interface AgedEntry {
  /** Registry id. */
  venue: string;
  /**
   * A host of the venue, with its port if the address has one: the entry still has a former port of it, at which
   * nothing listens.
   */
  moved: string;
}

/** @param registry of the world */
export async function agedRegistry(registry: Registry, entries: readonly AgedEntry[]): Promise<Registry> {
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
export function checkAged(
  entries: readonly AgedEntry[],
  registry: Registry,
  hostsOf: (venue: Venue) => string[],
): void {
  const problems = entries.flatMap(({ venue: id, moved }) => {
    const venue = registry.venues.find((one) => one.id === id);
    if (!venue) return [`the registry has no venue ${id}`];
    const hosts = hostsOf(venue);
    return hosts.includes(moved) ? [] : [`${id} has no host ${moved}; expected one of ${hosts.join(", ")}`];
  });
  if (problems.length > 0) throw new Error(`The world cannot age its entries:\n${problems.join("\n")}`);
}
