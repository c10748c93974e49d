/** Why a running venuewatch gave no body that can be used. */

import type { AwaitedStep } from "../http/exchange.js";

/** The message is one line, safe for a terminal: what was expected of the service, and what came. */
export abstract class ServiceError extends Error {
  override name = "ServiceError";
}

/** There is no complete answer: no address, no connection, no TLS, or not in time. The cause may be on this side. */
export class ServiceUnreachable extends ServiceError {
  /**
   * @param awaited the step that did not succeed
   * @param codes of the network error, such as ECONNREFUSED or CERT_HAS_EXPIRED; empty: there was no error within the
   * time
   */
  constructor(
    message: string,
    readonly awaited: AwaitedStep,
    readonly codes: readonly string[],
  ) {
    super(message);
  }
}

/** Something answers there that is not our API, such as a login page or a proxy whose server is away. */
export class NotOurService extends ServiceError {
  /** @param status null: the answer is not HTTP */
  constructor(
    message: string,
    readonly status: number | null,
  ) {
    super(message);
  }
}

/** The API refuses the request with a problem body. A 404 means that it does not know what the path names. */
export class ServiceRefusal extends ServiceError {
  /**
   * @param status 400 to 499, but not 429
   * @param detail the API's own sentence
   */
  constructor(
    message: string,
    readonly status: number,
    readonly detail: string,
  ) {
    super(message);
  }
}

/** It gives no data now: 429 after too many requests from here, 503 while its database is away, 500 for its bug. */
export class ServiceBusy extends ServiceError {
  /**
   * @param status 429, or 500 to 599
   * @param retryAfterMs 0 if the answer does not say how long to wait
   */
  constructor(
    message: string,
    readonly status: number,
    readonly retryAfterMs: number,
  ) {
    super(message);
  }
}
