import type { RestEndpoint, Venue } from "../../shared/registry/registry.js";

/** A valid venue with as little as possible. */
export function simplestVenue(id: string, ...rest: RestEndpoint[]): Venue {
  return {
    ...{ id, name: id, category: "exchange", symbol: "BTC-USD", quote: "USD", chain: null },
    ...{ rest: rest.length > 0 ? rest : [simplestEndpoint("ping")], socket: null, official: null },
  };
}

export function simplestEndpoint(name: string, more: Partial<RestEndpoint> = {}): RestEndpoint {
  const address = "https://api.exchange.example";
  return {
    ...{ name, label: name, method: "GET", url: `${address}/${name}`, expectStatus: 200, proof: "$.ok" },
    ...{ cadenceMs: 5000, timeoutMs: 4500 },
    ...more,
  };
}
