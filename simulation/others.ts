/** The servers of others: venues, and their status pages. */
import type { Registry } from "../shared/registry/registry.js";
import type { Ledger } from "./ledger.js";
import type { Network } from "./network/network.js";
import type { SeededRandom } from "./seeded-random.js";
import { drawStatusPage, serveStatusPage, type StatusPage } from "./status-page.js";
import { type FaultyServer, startFaultyServer } from "./supervised.js";
import { makeSimulatedChain, type SimulatedChain, startSimulatedVenue } from "./venue.js";
import type { Machine, VirtualTime } from "./virtual-time.js";

export interface Others {
  /** The servers of venues and of their status pages. */
  servers: ReadonlyMap<string, FaultyServer>;
  statusPages: readonly StatusPage[];
  chain: SimulatedChain;
}

export interface OthersOptions {
  registry: Registry;
  /** With the venue that comes later: its server runs from the beginning. */
  largerRegistry: Registry;
  time: VirtualTime;
  random: SeededRandom;
  network: Network;
  ledger: Ledger;
  makeMachine: (name: string) => Machine;
}

export function startOthers(options: OthersOptions): Others {
  const { registry, largerRegistry, time, random, network, ledger, makeMachine } = options;
  const chain = makeSimulatedChain(time.nowMs);
  const venues = largerRegistry.venues.map(({ id }) => {
    const machine = makeMachine(id);
    network.name(`${id}.venue`, machine);
    return startFaultyServer(time, machine, () => startSimulatedVenue(chain));
  });
  const statusPages = registry.venues
    .filter(({ official }) => official !== null)
    .map(({ id }) => drawStatusPage(id, random.branch(`status page of ${id}`), time.nowMs()));
  const statusServers = statusPages.map((page) => {
    const onRequest = (path: string) => ledger.feedRequests.push({ venue: page.venue, path, atMs: time.nowMs() });
    return startFaultyServer(time, makeMachine(`${page.venue}-status`), () =>
      serveStatusPage(page, time.nowMs, onRequest),
    );
  });
  return { servers: new Map([...venues, ...statusServers].map((server) => [server.name, server])), statusPages, chain };
}
