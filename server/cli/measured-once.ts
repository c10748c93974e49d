/** Measures a venue once, with the probe's own code. */
import { isUnmeasured } from "../../probe/measure/measurement.js";
import type { Measure } from "../../probe/measure/rest/rest.js";
import { type Down, openSocket } from "../../probe/measure/stream/socket.js";
import type { Resolver } from "../../probe/network/resolver.js";
import type { Fault } from "../../shared/measurement/sample.js";
import { headersAt } from "../../shared/registry/credentials.js";
import type { RestEndpoint, Venue } from "../../shared/registry/registry.js";
import { plainText } from "../../shared/text/untrusted-text.js";

/** The result for one endpoint or socket. */
export interface MeasuredPart {
  /** `rest:<name>`, `ws:conn`, or `ws:<name>` for a stream with a socket of its own. */
  component: string;
  /** Further streams on the same socket. */
  sharedWith: readonly string[];
  url: string;
  /** Null: good, or not measured. */
  fault: Fault | null;
  /** A reason of `unmeasuredReasons`, or why it was skipped or cut short; null: it was measured. */
  unmeasured: string | null;
  /** Also set for an answer whose rest we did not wait for. */
  httpStatus: number | null;
  /** What else is known of a socket's fault; the venue may have written it. */
  detail: string | null;
  tookMs: number | null;
  certificateExpiresAt: Date | null;
}

export const nothingKnown = {
  ...{ sharedWith: [], fault: null, unmeasured: null, httpStatus: null },
  ...{ detail: null, tookMs: null, certificateExpiresAt: null },
} as const;

/** It was not even tried. */
export function isSkipped({ unmeasured }: MeasuredPart): boolean {
  return unmeasured?.startsWith("skipped ") === true;
}

/** Faults that affect a whole host: its other endpoints are skipped. */
const hostFaults = new Set(["dns", "connect", "tls", "timeout"]);

/** Connections to one host. Simultaneous handshakes slow each other down. */
const mostLanes = 3;

/**
 * Measures endpoints, those of different hosts at the same time. The first of each host uses a fresh connection; the
 * others follow over at most three, which they keep.
 *
 * @param deadline after it, none is started, and those that run are given up without a fault
 */
export async function endpointsOnce(
  endpoints: readonly RestEndpoint[],
  measureOf: (endpoint: RestEndpoint) => Measure,
  deadline: AbortSignal,
): Promise<MeasuredPart[]> {
  const hostOf = ({ url }: RestEndpoint) => new URL(url).host;
  const measured = new Map<RestEndpoint, MeasuredPart>();
  const ofHosts = [...new Set(endpoints.map(hostOf))].map((host) => endpoints.filter((one) => hostOf(one) === host));
  await Promise.all(ofHosts.map((ofHost) => hostOnce(ofHost, measureOf, deadline, measured)));
  return endpoints.map((endpoint) => measured.get(endpoint)!);
}

async function hostOnce(
  endpoints: readonly RestEndpoint[],
  measureOf: (endpoint: RestEndpoint) => Measure,
  deadline: AbortSignal,
  measured: Map<RestEndpoint, MeasuredPart>,
): Promise<void> {
  let failed: string | null = null;
  const left = [...endpoints];
  await next(true);
  await Promise.all(Array.from({ length: mostLanes }, lane));

  async function lane() {
    while (left.length > 0) await next(false);
  }

  async function next(fresh: boolean) {
    const endpoint = left.shift()!;
    const skipped = failed !== null ? `skipped after ${failed}` : deadline.aborted ? "skipped for lack of time" : null;
    if (skipped !== null) {
      measured.set(endpoint, unmeasured(endpoint, skipped));
      return;
    }
    const one = await endpointOnce(endpoint, measureOf(endpoint), deadline, fresh);
    measured.set(endpoint, one);
    if (one.unmeasured !== null || hostFaults.has(one.fault ?? "")) failed ??= one.component;
  }
}

async function endpointOnce(
  endpoint: RestEndpoint,
  measure: Measure,
  deadline: AbortSignal,
  fresh: boolean,
): Promise<MeasuredPart> {
  const startMs = performance.now();
  const first = await measure(deadline, fresh);
  // the server had closed the kept connection, which says nothing about it
  const isStale = isUnmeasured(first) && first.unmeasured === "stale";
  const outcome = isStale && !deadline.aborted ? await measure(deadline, true) : first;
  if (isUnmeasured(outcome)) return unmeasured(endpoint, outcome.unmeasured);
  const { fault, httpStatus, latencyUs, certificateExpiresAt } = outcome;
  const tookMs = performance.now() - startMs;
  const isCut = deadline.aborted && tookMs < endpoint.timeoutMs && (fault === "timeout" || fault === "dns");
  if (isCut) return { ...unmeasured(endpoint, unansweredFor(tookMs)), httpStatus };
  return {
    ...{ ...nothingKnown, component: componentOf(endpoint), url: endpoint.url, fault },
    ...{ httpStatus, tookMs: latencyUs === null ? null : latencyUs / 1000, certificateExpiresAt },
  };
}

/** It was given up before its own timeout: it may be slow but good. */
function unansweredFor(ms: number): string {
  return `no whole answer within ${(ms / 1000).toFixed(1)} s`;
}

function unmeasured(endpoint: RestEndpoint, why: string): MeasuredPart {
  return { ...nothingKnown, component: componentOf(endpoint), url: endpoint.url, unmeasured: why };
}

function componentOf({ name }: RestEndpoint): string {
  return `rest:${name}`;
}

/**
 * Opens each socket of a venue once, all together.
 *
 * @param withinMs after this time, a socket that is not open yet is given up without a fault: the probe waits ten
 * seconds
 */
export function socketsOnce(
  { socket }: Pick<Venue, "socket">,
  userAgent: string,
  resolver: Resolver,
  withinMs?: number,
): Promise<MeasuredPart[]> {
  if (!socket) return Promise.resolve([]);
  const componentsAt = new Map([[socket.url, ["ws:conn"]]]);
  for (const { url = socket.url, name } of socket.streams) {
    if (url === socket.url) continue;
    componentsAt.set(url, [...(componentsAt.get(url) ?? []), `ws:${name}`]);
  }
  return Promise.all(
    [...componentsAt].map(([url, [component = "", ...sharedWith]]) =>
      socketOnce({
        ...{ component, sharedWith, url, headers: headersAt(url, socket) },
        ...{ userAgent, resolver, withinMs },
      }),
    ),
  );
}

interface SocketToOpen extends Pick<MeasuredPart, "component" | "sharedWith"> {
  url: string;
  headers: Record<string, string>;
  userAgent: string;
  resolver: Resolver;
  withinMs: number | undefined;
}

function socketOnce({
  component,
  sharedWith,
  url,
  headers,
  userAgent,
  resolver,
  withinMs,
}: SocketToOpen): Promise<MeasuredPart> {
  return new Promise((resolve) => {
    const part = { ...nothingKnown, component, sharedWith, url };
    const timer = withinMs === undefined ? undefined : setTimeout(onDeadline, withinMs);
    const socket = openSocket({
      ...{ url, headers, userAgent, resolver, onHeard() {}, onMessage() {} },
      onOpen() {
        const { latencyUs, connection } = socket.opened!;
        socket.close();
        end({ ...part, tookMs: latencyUs / 1000, certificateExpiresAt: connection.certificateExpiresAt });
      },
      onDown: (down) => end({ ...part, ...partOfDown(down) }),
    });

    function onDeadline() {
      socket.close();
      end({ ...part, unmeasured: unansweredFor(withinMs!) });
    }

    function end(measured: MeasuredPart) {
      clearTimeout(timer);
      resolve(measured);
    }
  });
}

/** Why a socket is not open. */
export function partOfDown({ cause, detail }: Down): Partial<MeasuredPart> {
  if (isUnmeasured(cause)) return { unmeasured: cause.unmeasured, detail };
  return { fault: cause.fault, httpStatus: cause.httpStatus ?? null, detail };
}

/** What `--json` prints of a part. Fields are only added. */
export function partJson({ component, fault, unmeasured, httpStatus, tookMs, detail }: MeasuredPart): object {
  return {
    ...{ component, good: fault === null && unmeasured === null, fault, unmeasured, httpStatus },
    ...{ ms: tookMs === null ? null : Math.round(tookMs), detail: detail === null ? null : plainText(detail, 200) },
  };
}

/** A part that is not good, in a few words. */
export function partText({ component, fault, unmeasured, httpStatus, detail }: MeasuredPart): string {
  const status = httpStatus === null ? "" : ` (status ${httpStatus})`;
  const more = status === "" && detail !== null ? `, ${plainText(detail, 80)}` : status;
  return `${component}: ${fault ?? `not measured, ${unmeasured}`}${more}`;
}
