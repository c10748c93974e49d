/** One endpoint, a server for it, and its measurement. */
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { Test } from "tap";
import { isUnmeasured } from "../../probe/measure/measurement.js";
import { makeResolver } from "../../probe/network/resolver.js";
import { makeRest, type RestOptions } from "../../probe/measure/rest/rest.js";
import type { RestEndpoint } from "../../shared/registry/registry.js";

export const userAgent = "venuewatch/0.1.0 (+http://localhost; region=eu)";

export function endpointAt(url: string, more: Partial<RestEndpoint> = {}) {
  return {
    ...{ name: "a", label: "A", method: "GET", url, expectStatus: 200, proof: "$.price" },
    ...{ cadenceMs: 5000, timeoutMs: 2000 },
    ...more,
  } satisfies RestEndpoint;
}

/** @returns prepares the measurement of an endpoint; all endpoints share connections */
export function openRest(t: Test, options: Partial<RestOptions> = {}) {
  const rest = makeRest({ userAgent, resolver: makeResolver([]), ...options });
  t.teardown(() => rest.close());
  return (endpoint: RestEndpoint) => {
    const measure = rest.endpoint(endpoint);
    return (fresh?: boolean) => measure(new AbortController().signal, fresh);
  };
}

/** Measures one endpoint several times over the same connections. */
export function measuring(t: Test, endpoint: RestEndpoint, options: Partial<RestOptions> = {}) {
  return openRest(t, options)(endpoint);
}

export async function measured(t: Test, endpoint: RestEndpoint, options: Partial<RestOptions> = {}) {
  const outcome = await measuring(t, endpoint, options)();
  if (isUnmeasured(outcome)) throw new Error(outcome.unmeasured);
  return outcome;
}

/** An HTTP server that ends with the test. */
export async function serve(t: Test, answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/x?y=1`;
}
