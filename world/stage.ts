/** The common parts that REST and sockets need to serve one venue. */
import type { IncomingMessage } from "node:http";
import type { Venue } from "../shared/registry/registry.js";
import { type Client, type FaultKind, type ScriptedFault, startOf } from "./faults.js";
import type { Market, Tick } from "./market.js";
import type { ScriptedPost } from "./notices/posts.js";
import type { VenuePlayer } from "./player.js";

export interface Stage {
  /** The venue with its real addresses. */
  venue: Venue;
  player: VenuePlayer;
  market: Market;
  freeze: Freeze;
  timeScale: number;
  messagesPerMinuteCap: number;
  latencyMs(region: string | null): number;
  /** The fault in progress for a component of this venue, if any. */
  faultOf(component: string, client: Client, among?: readonly FaultKind[]): ScriptedFault | undefined;
  /** All past, present and future posts on the venue's status feed. */
  posts(): ScriptedPost[];
  /** The script's clock. */
  now(): Date;
  /**
   * Counts a request (one of the status feed as `official`, one of the list as `transfers`), an upgrade (`ws:conn`) or
   * a subscription (`ws:<name>`).
   */
  count(component: string, region: string | null): void;
  violated(missed: string, region: string | null, dropped: boolean): void;
}

/**
 * Probes name their region in the User-Agent: `venuewatch/0.1.0 (+https://…; region=eu-central)`. The host is the first
 * part of the path (`worldPath`).
 */
export function clientOf(request: IncomingMessage): Client {
  const agent = request.headers["user-agent"] ?? "";
  return {
    region: /;\s*region=([\w-]+)/.exec(agent)?.[1] ?? null,
    host: /^\/([^/?]*)/.exec(request.url ?? "")?.[1] ?? null,
  };
}

// The one event that is sent again and again while a fault lasts that freezes it.

/**
 * @param fault one that freezes, in progress
 * @returns the event to send: while the fault is in progress, the event of its beginning, the same for every client;
 * otherwise the one that `make` makes
 */
type Freeze = (fault: ScriptedFault | undefined, at: Date, make: () => Tick) => Tick;

export function makeFreeze(): Freeze {
  const held = new WeakMap<ScriptedFault, { fromMs: number; tick: Tick }>();
  return (fault, at, make) => {
    if (!fault) return make();
    const fromMs = startOf(fault, at);
    const known = held.get(fault);
    if (known?.fromMs === fromMs) return known.tick;
    const now = make();
    const tick = fromMs === -Infinity ? now : { ...now, ms: fromMs };
    held.set(fault, { fromMs, tick });
    return tick;
  };
}
