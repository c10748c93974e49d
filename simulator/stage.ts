/** The common parts that REST and sockets need to serve one venue. */
import type { IncomingMessage } from "node:http";
import type { Venue } from "../shared/registry/registry.js";
import type { Client, FaultKind, ScriptedFault } from "./faults.js";
import type { Freeze } from "./frozen.js";
import type { Market } from "./market.js";
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
   * Counts a request (one of the status feed as `official`), an upgrade (`ws:conn`) or a subscription (`ws:<name>`).
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
