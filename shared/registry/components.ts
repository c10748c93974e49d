/** What a venue of the registry is measured by. */
import { publicAddress } from "./addresses.js";
import type { SocketConfig, Venue } from "./registry.js";

/** A part with a state of its own: an endpoint, a stream, or `ws:conn`, the socket that the streams share. */
export interface Component {
  /** `rest:<name>`, `ws:<name>` or `ws:conn`. */
  id: string;
  kind: "rest" | "ws";
  label: string;
  /** What may be shown of the address that is measured; null for a chain, which is read at several. */
  target: string | null;
  cadenceMs: number;
}

/**
 * All components of a venue: its endpoints, then the socket, then the streams, in the order of the registry. The socket
 * has the shortest cadence of its streams.
 */
export function componentsOf(venue: Venue): Component[] {
  const rest = venue.rest.map(({ name, label, url, cadenceMs }): Component => ({
    id: `rest:${name}`,
    kind: "rest",
    label,
    target: publicAddress(url),
    cadenceMs,
  }));
  return [...rest, ...chainComponents(venue), ...socketComponents(venue.socket)];
}

/** The component of a chain. */
export const chainComponent = "rest:head";

function chainComponents({ heads }: Venue): Component[] {
  if (!heads) return [];
  return [{ id: chainComponent, kind: "rest", label: "New blocks", target: null, cadenceMs: heads.cadenceMs }];
}

function socketComponents(socket: SocketConfig | null): Component[] {
  if (socket === null) return [];
  const connection: Component = {
    id: "ws:conn",
    kind: "ws",
    label: "Socket",
    target: publicAddress(socket.url),
    cadenceMs: Math.min(...socket.streams.map((stream) => stream.cadenceMs)),
  };
  const streams = socket.streams.map(({ name, label, url, cadenceMs }): Component => ({
    id: `ws:${name}`,
    kind: "ws",
    label,
    target: publicAddress(url ?? socket.url),
    cadenceMs,
  }));
  return [connection, ...streams];
}

/** The names or addresses of all hosts at which a venue is measured, possibly with repetitions. */
export function hostsOf({ rest, socket }: Venue): string[] {
  const urls = [
    ...rest.flatMap(({ url, alternatives = [] }) => [url, ...alternatives]),
    ...(socket ? [socket.url, ...(socket.alternatives ?? [])] : []),
    ...(socket?.streams.flatMap(({ url }) => url ?? []) ?? []),
  ];
  return urls.map((url) => new URL(url).hostname);
}
