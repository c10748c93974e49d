/** One endpoint, a server for it, and its measurement. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, LookupFunction } from "node:net";
import type { Test } from "tap";
import { isUnmeasured, type Measurement } from "../../probe/rest/measurement.js";
import { makeResolver } from "../../probe/network/resolver.js";
import { makeRest } from "../../probe/rest/rest.js";
import type { RestEndpoint } from "../../shared/registry/registry.js";

export const userAgent = "venuewatch/0.1.0 (+http://localhost; region=eu)";
export const mebibyte = 1024 * 1024;

export function endpointAt(url: string, more: Partial<RestEndpoint> = {}) {
  return {
    name: "a",
    label: "A",
    method: "GET",
    url,
    expectStatus: 200,
    proof: "$.price",
    cadenceMs: 5000,
    timeoutMs: 2000,
    ...more,
  } satisfies RestEndpoint;
}

/** Measures one endpoint several times over the same connections. */
export function measuring(t: Test, endpoint: RestEndpoint, lookup?: LookupFunction, hosts: string[] = []) {
  const rest = makeRest({ userAgent, resolver: makeResolver(hosts, lookup) });
  t.teardown(() => rest.close());
  const measure = rest.endpoint(endpoint);
  return () => measure(new AbortController().signal);
}

export async function measured(t: Test, endpoint: RestEndpoint): Promise<Measurement> {
  const outcome = await measuring(t, endpoint)();
  if (isUnmeasured(outcome)) throw new Error(outcome.unmeasured);
  return outcome;
}

/** An HTTP server; each request goes to `answer`. */
export async function serve(
  t: Test,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await new Promise((listening) => server.once("listening", listening));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/x?y=1`;
}
