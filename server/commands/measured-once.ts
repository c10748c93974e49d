/** Measures a venue once, with the probe's own code. */
import { isUnmeasured } from "../../probe/rest/measurement.js";
import type { Resolver } from "../../probe/network/resolver.js";
import type { Measure } from "../../probe/rest/rest.js";
import { openSocket } from "../../probe/stream/socket.js";
import type { Fault } from "../../shared/measurement/sample.js";
import type { RestEndpoint, Venue } from "../../shared/registry/registry.js";

/** The result for one endpoint or socket. */
export interface MeasuredPart {
  /** `rest:<name>`, `ws:conn`, or `ws:<name>` for a stream with a socket of its own. */
  component: string;
  url: string;
  /** Null: good, or not measured. */
  fault: Fault | null;
  /** A reason of `unmeasuredReasons`, or why it was skipped; null: it was measured. */
  unmeasured: string | null;
  httpStatus: number | null;
  /** What else is known of a socket's fault; the venue may have written it. */
  detail: string | null;
  tookMs: number | null;
  certificateExpiresAt: Date | null;
}

const nothingKnown = {
  ...{ fault: null, unmeasured: null, httpStatus: null, detail: null, tookMs: null, certificateExpiresAt: null },
} as const;

/** It was not even tried. */
export function isSkipped({ unmeasured }: MeasuredPart): boolean {
  return unmeasured?.startsWith("skipped ") === true;
}

/** Faults that affect a whole host: its other endpoints are skipped. */
const hostFaults = new Set(["dns", "connect", "tls", "timeout"]);

/**
 * Measures endpoints one after the other; the first of each host uses a fresh connection.
 *
 * @param deadline after it, none is started
 */
export async function endpointsOnce(
  endpoints: readonly RestEndpoint[],
  measureOf: (endpoint: RestEndpoint) => Measure,
  deadline: AbortSignal,
): Promise<MeasuredPart[]> {
  const measured: MeasuredPart[] = [];
  const dead = new Map<string, string>();
  for (const endpoint of endpoints) {
    const { host } = new URL(endpoint.url);
    const failedBefore = dead.get(host);
    const skipped =
      failedBefore !== undefined
        ? `skipped after ${failedBefore}`
        : deadline.aborted
          ? "skipped for lack of time"
          : null;
    const one = skipped === null ? await endpointOnce(endpoint, measureOf, deadline) : unmeasured(endpoint, skipped);
    measured.push(one);
    if (skipped === null && (one.unmeasured !== null || hostFaults.has(one.fault ?? ""))) dead.set(host, one.component);
  }
  return measured;
}

async function endpointOnce(
  endpoint: RestEndpoint,
  measureOf: (endpoint: RestEndpoint) => Measure,
  deadline: AbortSignal,
): Promise<MeasuredPart> {
  const outcome = await measureOf(endpoint)(deadline, true);
  if (isUnmeasured(outcome)) return unmeasured(endpoint, outcome.unmeasured);
  const { fault, httpStatus, latencyUs, certificateExpiresAt } = outcome;
  return {
    ...{ component: componentOf(endpoint), url: endpoint.url, fault, unmeasured: null },
    ...{ httpStatus, detail: null, tookMs: latencyUs === null ? null : latencyUs / 1000, certificateExpiresAt },
  };
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
 * @param withinMs then a socket that is not open yet is given up as a timeout; the probe waits ten seconds
 */
export function socketsOnce(
  { socket }: Pick<Venue, "socket">,
  userAgent: string,
  resolver: Resolver,
  withinMs?: number,
): Promise<MeasuredPart[]> {
  if (!socket) return Promise.resolve([]);
  const componentOf = new Map([[socket.url, "ws:conn"]]);
  for (const { url, name } of socket.streams)
    if (url !== undefined && !componentOf.has(url)) componentOf.set(url, `ws:${name}`);
  return Promise.all(
    [...componentOf].map(([url, component]) => socketOnce({ component, url, userAgent, resolver, withinMs })),
  );
}

interface SocketToOpen {
  component: string;
  url: string;
  userAgent: string;
  resolver: Resolver;
  withinMs: number | undefined;
}

function socketOnce({ component, url, userAgent, resolver, withinMs }: SocketToOpen): Promise<MeasuredPart> {
  return new Promise((resolve) => {
    const part = { ...nothingKnown, component, url };
    const timer = withinMs === undefined ? undefined : setTimeout(onDeadline, withinMs);
    const socket = openSocket({
      ...{ url, userAgent, resolver, onHeard() {}, onMessage() {} },
      onOpen() {
        const { latencyUs, connection } = socket.opened!;
        socket.close();
        end({ ...part, tookMs: latencyUs / 1000, certificateExpiresAt: connection.certificateExpiresAt });
      },
      onDown({ cause, detail }) {
        if ("unmeasured" in cause) return end({ ...part, unmeasured: cause.unmeasured, detail });
        end({ ...part, fault: cause.fault, httpStatus: cause.httpStatus ?? null, detail });
      },
    });

    function onDeadline() {
      socket.close();
      end({ ...part, fault: "timeout", detail: `not open within ${withinMs} ms` });
    }

    function end(measured: MeasuredPart) {
      clearTimeout(timer);
      resolve(measured);
    }
  });
}
