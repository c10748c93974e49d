/** What serving one venue needs, whether by REST or by socket. */
import type { IncomingMessage } from "node:http";
import type { Venue } from "../shared/registry/registry.js";
import type { FaultKind, ScriptedFault } from "./faults.js";
import type { Freeze } from "./frozen.js";
import type { Market } from "./market.js";
import type { ScriptedPost } from "./notices/posts.js";
import type { VenuePlayer } from "./player.js";

export interface Stage {
  /** With the real addresses. */
  venue: Venue;
  player: VenuePlayer;
  market: Market;
  freeze: Freeze;
  timeScale: number;
  messagesPerMinuteCap: number;
  latencyMs(region: string | null): number;
  /** The fault under way for a component of this venue, if any. */
  faultOf(component: string, region: string | null, among?: readonly FaultKind[]): ScriptedFault | undefined;
  /** What stands, stood or will stand on the venue's status feed. */
  posts(): ScriptedPost[];
  /** Of the script. */
  now(): Date;
  /** Counts a request, of the status feed too (`official`), an upgrade (`ws:conn`) or a subscription (`ws:<name>`). */
  count(component: string, region: string | null): void;
  violated(missed: string, region: string | null, dropped: boolean): void;
}

/** Probes name their region in the User-Agent: `venuewatch/0.1.0 (+https://…; region=eu-central)`. */
export function regionOf(request: IncomingMessage): string | null {
  const agent = request.headers["user-agent"] ?? "";
  return /;\s*region=([\w-]+)/.exec(agent)?.[1] ?? null;
}
