/** Measures one venue once from here: asks its endpoints, and listens to its streams. */
import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { makeChainHeads } from "../../../probe/measure/chain.js";
import { type Measurement, nothingMeasured } from "../../../probe/measure/measurement.js";
import { makeAgeVerdict } from "../../../probe/measure/rest/age-verdict.js";
import { compileAnswerCheck } from "../../../probe/measure/rest/checks.js";
import { makeRest, type Measure } from "../../../probe/measure/rest/rest.js";
import { makeResolver } from "../../../probe/network/resolver.js";
import type { Log } from "../../../shared/log/log.js";
import { usableShare } from "../../../shared/registry/cadence.js";
import { catalogueEntry, catalogueIds } from "../../../shared/registry/catalogue.js";
import { readChains } from "../../../shared/registry/chain-venues.js";
import { hostsOf } from "../../../shared/registry/components.js";
import type { Limit, Registry, RestEndpoint, Venue } from "../../../shared/registry/registry.js";
import { endpointsOnce } from "../measured-once.js";
import { type Finding, findingsIn } from "./found.js";
import { listened, type Tools, type TriedPart } from "./listen.js";

export interface TryOptions {
  registry: Registry;
  venue: Venue;
  userAgent: string;
  log: Log;
  listenMs: number;
  /** Ends it at once, with what was found so far. */
  interrupt: AbortSignal;
}

export async function tried({ listenMs, interrupt, ...options }: TryOptions): Promise<TriedPart[]> {
  const { venue, userAgent, log } = options;
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(), listenMs);
  setMaxListeners(0, interrupt, ending.signal);
  interrupt.addEventListener("abort", () => ending.abort(), { once: true });
  // where a name does not resolve, others show whether any does
  const others = catalogueIds().map((id) => catalogueEntry(id) as Venue);
  const tools: Tools = { userAgent, log, resolver: makeResolver([venue, ...others].flatMap(hostsOf)) };
  try {
    const parts = await Promise.all([askedOnce(options, tools, interrupt), listened(venue, tools, ending.signal)]);
    return parts.flat();
  } finally {
    clearTimeout(timer);
  }
}

async function askedOnce(
  { registry, venue, log }: Pick<TryOptions, "registry" | "venue" | "log">,
  tools: Tools,
  interrupt: AbortSignal,
): Promise<TriedPart[]> {
  const rest = makeRest(tools);
  const heads = makeChainHeads(readChains(registry));
  const inTurn = makeTurns(venue.limits ?? []);
  const found = new Map<string, Finding[]>();
  const measureOf = (endpoint: RestEndpoint) => {
    const check = compileAnswerCheck(endpoint);
    const verdict = makeAgeVerdict({ venue, endpoint, clock: { read: () => null }, heads, counterpart: null, log });
    const measure = rest.endpoint(endpoint, verdict, (...body) => {
      found.set(`rest:${endpoint.name}`, findingsIn(endpoint, ...body));
      return check(...body);
    });
    return inTurn(endpoint, measure);
  };
  try {
    const parts = await endpointsOnce(venue.rest, measureOf, interrupt);
    return parts.map((part) => ({ ...part, findings: found.get(part.component) ?? [], heard: null }));
  } finally {
    await rest.close();
  }
}

/** Lets each measurement wait until less than the usable share of every limit is asked. */
function makeTurns(limits: readonly Limit[]): (endpoint: RestEndpoint, measure: Measure) => Measure {
  const asked = new Map<Limit, number>();

  function waitMs({ name, url }: RestEndpoint): number {
    const { origin } = new URL(url);
    const counting = limits.filter(
      (limit) => new URL(limit.origin).origin === origin && (limit.endpoints?.includes(name) ?? true),
    );
    const waits = counting.map((limit) => {
      const before = asked.get(limit) ?? 0;
      asked.set(limit, before + 1);
      return Math.floor(before / (limit.requests * usableShare)) * limit.periodMs;
    });
    return Math.max(0, ...waits);
  }

  return (endpoint, measure) => async (signal, fresh) => {
    await sleep(waitMs(endpoint), undefined, { signal }).catch(() => {});
    if (signal.aborted) return { unmeasured: "paused" };
    return Promise.race([measure(signal, fresh), givenUp(signal)]);
  };
}

/** Look-ups of the system cannot be cancelled. */
function givenUp(signal: AbortSignal): Promise<Measurement> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve({ ...nothingMeasured, fault: "timeout" }), { once: true });
  });
}
