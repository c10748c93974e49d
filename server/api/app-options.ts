import type { Pool } from "../../shared/database/pool.js";
import type { Log } from "../../shared/log/log.js";
import type { Registry } from "../../shared/registry/registry.js";
import type { AnsweredRequest } from "./request-log.js";

export interface AppOptions {
  pool: Pool;
  registry: Registry;
  /** Whether `pool` is meant to be one of a replica; then `/readyz` says how far it is behind. */
  ofReplica?: boolean;
  /** Public address of the API, without a slash at the end. */
  baseUrl: string;
  /** Requests a minute per client address; 0: no limit. */
  rateLimit: number;
  trustProxy: readonly string[];
  /** Where the methodology page is; without a slash at the end. */
  siteUrl: string;
  log: Log;
  /** Told of every request when it is over. */
  onAnswered?: (answered: AnsweredRequest) => void;
  /**
   * How long a reading of the database's clock is good for: so much later than a tick its bodies may be shown. Under
   * load the database is then asked a few times a second, and not between any two answers. Absent: 0.
   */
  clockTrustedMs?: number;
  /**
   * How old a body may be that is answered while the database keeps everybody waiting. Absent: 0, and such answers
   * wait.
   */
  heldMs?: number;
}
