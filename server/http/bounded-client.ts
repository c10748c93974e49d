import dns from "node:dns";
import { setMaxListeners } from "node:events";
import http from "node:http";
import https from "node:https";
import type { LookupFunction } from "node:net";
import { runExchange, type BoundedRequest, type EndedExchange } from "./exchange.js";

export interface BoundedClient {
  /**
   * Sends once, and follows no redirects.
   *
   * @throws for a request that cannot be sent, which is a bug of ours
   */
  exchange(request: BoundedRequest): Promise<EndedExchange>;
  /** Ends what is under way, and what is asked for later, as `closed`. */
  close: () => Promise<void>;
}

const maxHeaderSize = 16 * 1024;

/** Shorter than what is usual for servers, of which five seconds are the shortest: few races are lost against them. */
const idleMs = 4000;

/**
 * On Node's own client, not on undici, whose requests cannot be cut while they connect and which takes `100 Continue`,
 * if it did not ask for that, for a broken answer. It sends nothing twice.
 *
 * There is no limit of connections, since one for an origin would have a slow server delay others at the same service;
 * callers have few requests at a time. Of those that are idle two are kept for each name, port and protocol, for a
 * moment.
 *
 * @param ca trusted instead of the usual authorities
 */
export function makeBoundedClient(lookup: LookupFunction = dns.lookup, ca?: string): BoundedClient {
  const connecting = {
    keepAlive: true,
    maxFreeSockets: 2,
    timeout: idleMs,
    autoSelectFamily: true,
    // Node's 250 ms would give up an address that is good and far away.
    autoSelectFamilyAttemptTimeout: 1000,
  };
  const plain = new http.Agent(connecting);
  const secure = new https.Agent({
    ...connecting,
    ca,
    // Set here so that NODE_TLS_REJECT_UNAUTHORIZED=0 does not count.
    rejectUnauthorized: true,
    // A session that is taken up again is not asked for its certificate.
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
        // What the URL has of user and password is not sent.
        ...{ method, headers, auth: null, agent, maxHeaderSize },
        // Not called for a host that is an address.
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
