import dns from "node:dns";
import { setMaxListeners } from "node:events";
import http from "node:http";
import https from "node:https";
import type { LookupFunction } from "node:net";
import { runExchange, type BoundedRequest, type EndedExchange } from "./exchange.js";

export interface BoundedClient {
  /**
   * Sends a request once, and follows no redirects.
   *
   * @throws if the request cannot be sent, which is a bug of ours
   */
  exchange(request: BoundedRequest): Promise<EndedExchange>;
  /** Ends running and later exchanges as `closed`. */
  close: () => Promise<void>;
}

const maxHeaderSize = 16 * 1024;

/** Shorter than the usual timeouts of servers, from five seconds up, so that few servers close a connection in use. */
const idleMs = 4000;

/**
 * Uses Node's own client instead of undici, which cannot abort a request while it connects, and which considers an
 * unrequested `100 Continue` a broken answer. It never sends a request twice.
 *
 * The number of connections is not limited, because with a limit for each origin a slow server would delay others at
 * the same service; callers have few requests at a time. Two idle connections are kept for a few seconds for each name,
 * port and protocol.
 *
 * @param ca trusted instead of the usual authorities
 */
export function makeBoundedClient(lookup: LookupFunction = dns.lookup, ca?: string): BoundedClient {
  const connecting = {
    keepAlive: true,
    maxFreeSockets: 2,
    timeout: idleMs,
    autoSelectFamily: true,
    // Node's 250 ms would give up on a good address that is far away.
    autoSelectFamilyAttemptTimeout: 1000,
  };
  const plain = new http.Agent(connecting);
  const secure = new https.Agent({
    ...connecting,
    ca,
    // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED=0 has no effect.
    rejectUnauthorized: true,
    // The certificate of a resumed session would not be checked.
    maxCachedSessions: 0,
  });
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);

  async function exchange(bounded: BoundedRequest): Promise<EndedExchange> {
    const { url, method, headers, signal } = bounded;
    const signals = signal ? [closing.signal, signal] : [closing.signal];
    const [protocol, agent] = url.protocol === "https:" ? [https, secure] : [http, plain];
    return runExchange(bounded, signals, (onStep) =>
      protocol.request(url, {
        // User and password in the URL are not sent.
        ...{ method, headers, auth: null, agent, maxHeaderSize },
        // Not called if the host is an address.
        lookup(host, options, callback) {
          onStep("an address");
          lookup(host, options, (error, ...found) => {
            if (!error) onStep("a connection");
            callback(error, ...found);
          });
        },
      }),
    );
  }

  return {
    exchange,
    close() {
      closing.abort();
      plain.destroy();
      secure.destroy();
      return Promise.resolve();
    },
  };
}
