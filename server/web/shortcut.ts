import type { IncomingMessage, ServerResponse } from "node:http";
import { ipKeyGenerator } from "express-rate-limit";
import { watchedVenues } from "../../shared/registry/chain-venues.js";
import { categories, type Registry } from "../../shared/registry/registry.js";
import { dataCache, publicHeaders } from "./api/answer.js";
import { chosenEncoding, type Encoded, type Encoding } from "./api/body.js";
import { ipv6Subnet, isOverOfSite, type RateLimit } from "./api/client-limits.js";
import { headFault, type Addressed } from "./api/request.js";
import type { Boards, Snapshot } from "./board/snapshot.js";

/** A page at its most common address. */
interface Address {
  /** The route's name in the app. */
  route: string;
  ask: () => Promise<Snapshot | null>;
}

/**
 * Answers requests for the boards at their usual addresses without Express, whose middleware takes four times as long
 * as Node needs to send a finished body. The responses are identical, header by header.
 *
 * @param limit null: no limit
 * @param addressOf the client's address, computed as in the app
 * @param failures where an error is left for the app to answer
 * @returns a function that answers a request and resolves with true; with false, nothing has been sent and the app must
 * answer, as it does all errors and refusals
 */
export function makeShortcut(
  registry: Registry,
  boards: Boards,
  limit: RateLimit | null,
  addressOf: (request: IncomingMessage) => string,
  failures: WeakMap<IncomingMessage, unknown>,
) {
  const addresses = addressesOf(registry, boards);
  const encodingOf = rememberedEncodings(chosenEncoding);

  async function answer(request: Addressed, response: ServerResponse, { route, ask }: Address): Promise<boolean> {
    const taken = limit && (await takeRequest(limit, addressOf(request)));
    if (taken?.refused) return false;
    request.route = { path: route };
    try {
      const snapshot = await ask();
      if (snapshot) {
        const encoded = await snapshot.body.as(askedEncoding(request));
        sendEncoded(request, response, encoded, taken?.headers ?? []);
        return true;
      }
    } catch (error) {
      // not retried: a successful retry would hide the error
      failures.set(request, error);
    }
    // the app counts this request itself
    if (limit && taken) await limit.store.decrement(taken.key);
    return false;
  }

  function askedEncoding({ headers }: IncomingMessage): Encoding {
    const accepted = headers["accept-encoding"];
    return encodingOf(typeof accepted === "string" ? accepted : undefined);
  }

  return function shortcut(request: Addressed, response: ServerResponse): Promise<boolean> | false {
    const address = request.method === "GET" ? addresses.get(request.url!) : undefined;
    return address !== undefined && isPlain(request) && answer(request, response, address);
  };
}

export type Shortcut = ReturnType<typeof makeShortcut>;

function addressesOf(registry: Registry, boards: Boards): ReadonlyMap<string, Address> {
  const status = "/v1/status";
  const addresses = new Map<string, Address>([
    [status, { route: status, ask: () => boards.status(null) }],
    ["/v1/regions", { route: "/v1/regions", ask: () => boards.regions() }],
    ["/v1/notify", { route: "/v1/notify", ask: () => boards.notify() }],
    ["/v1/transfers", { route: "/v1/transfers", ask: () => boards.transfers() }],
  ]);
  for (const category of categories)
    addresses.set(`${status}?category=${category}`, {
      route: status,
      ask: () => boards.status(category),
    });
  for (const { id } of watchedVenues(registry))
    for (const name of ["exchanges", "targets"]) {
      addresses.set(`/v1/${name}/${id}`, {
        route: "/v1/targets/:venue",
        ask: () => boards.venue(id, "24h", boards.usualRegion),
      });
      addresses.set(`/v1/${name}/${id}/state`, {
        route: "/v1/targets/:venue/state",
        ask: () => boards.state(id, null),
      });
    }
  return addresses;
}

/** Whether the request has nothing that needs the app; the only condition allowed is the most common one. */
function isPlain(request: IncomingMessage): boolean {
  const { headers } = request;
  const known = headers["if-none-match"];
  return (
    headFault(request) === null &&
    headers.expect === undefined &&
    headers["if-modified-since"] === undefined &&
    (known === undefined || (headers["cache-control"] === undefined && /^"[\w-]+"$/.test(known)))
  );
}

async function takeRequest(limit: RateLimit, ip: string) {
  const { store, perMinute } = limit;
  const key = ipKeyGenerator(ip, ipv6Subnet);
  const { totalHits, resetTime } = await store.increment(key);
  if (totalHits > perMinute || (await isOverOfSite(limit, ip)) !== null) {
    await store.decrement(key);
    return { key, refused: true, headers: [] };
  }
  // as express-rate-limit writes them for draft 7
  const resetSeconds = Math.max(0, Math.ceil((+resetTime! - Date.now()) / 1000));
  const headers = [
    "RateLimit-Policy",
    `${perMinute};w=60`,
    "RateLimit",
    `limit=${perMinute}, remaining=${perMinute - totalHits}, reset=${resetSeconds}`,
  ];
  return { key, refused: false, headers };
}

function sendEncoded(
  request: IncomingMessage,
  response: ServerResponse,
  encoded: Encoded,
  limitHeaders: string[],
): void {
  const isKnown = request.headers["if-none-match"] === encoded.etag;
  const headers = (isKnown ? headersOfKnown : headersOf)(encoded);
  response.writeHead(isKnown ? 304 : 200, headers.concat(limitHeaders));
  response.end(isKnown ? undefined : encoded.bytes);
}

const publicHeaderLines = Object.entries(publicHeaders).flat();

const headersOfKnown = keptWith(({ etag, encoding }: Encoded) => {
  const headers = [...publicHeaderLines, "Cache-Control", dataCache];
  headers.push("Vary", "Accept-Encoding", "ETag", etag);
  if (encoding !== "identity") headers.push("Content-Encoding", encoding);
  return headers;
});

const headersOf = keptWith((encoded: Encoded) => [
  ...headersOfKnown(encoded),
  ...["Content-Type", "application/json; charset=utf-8"],
  ...["Content-Length", String(encoded.bytes.length)],
]);

/** Memoizes `make` for each object, as long as the object lives. */
function keptWith<K extends object, V>(make: (from: K) => V): (from: K) => V {
  const kept = new WeakMap<K, V>();
  return (from) => {
    let made = kept.get(from);
    if (made === undefined) kept.set(from, (made = make(from)));
    return made;
  };
}

/** Bounded: clients send few different values, but anybody could send endlessly many. */
function rememberedEncodings(of: (accepted: string | undefined) => Encoding) {
  const known = new Map<string | undefined, Encoding>();
  return (accepted: string | undefined): Encoding => {
    let encoding = known.get(accepted);
    if (encoding === undefined) {
      encoding = of(accepted);
      if (known.size < 200) known.set(accepted, encoding);
    }
    return encoding;
  };
}
