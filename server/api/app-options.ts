import type { Pool } from "../../shared/database/pool.js";
import type { Log } from "../../shared/log/log.js";
import type { Registry } from "../../shared/registry/registry.js";
import type { ConnectionLimits } from "./connection-limits.js";
import type { StreamLimits } from "./events/stream-limits.js";
import type { AnsweredRequest } from "./request-log.js";

export interface AppOptions {
  pool: Pool;
  registry: Registry;
  /** Whether `pool` should connect to a replica; `/readyz` then reports its lag. */
  ofReplica?: boolean;
  /** Public address of the API, without a slash at the end. */
  baseUrl: string;
  /** Requests a minute per client address; 0: no limit. */
  rateLimit: number;
  trustProxy: readonly string[];
  /** Base address of the methodology page, without a slash at the end. */
  siteUrl: string;
  /** A sentence of the operator for the top of every page. Absent or null: none. */
  siteNotice?: string | null;
  log: Log;
  /** Called when a request has ended. */
  onAnswered?: (answered: AnsweredRequest) => void;
  /**
   * How long a reading of the database's clock may be reused; bodies may lag behind a tick by as much. Under load the
   * database is then queried a few times a second, not between any two responses. Absent: 0.
   */
  clockTrustedMs?: number;
  /** Maximum age of a body that is sent while the database is slow. Absent: 0, and such requests wait. */
  heldMs?: number;
  /** Limits of open event streams. Absent: the usual ones. */
  streamLimits?: StreamLimits;
  /** Absent: the usual ones. */
  connectionLimits?: ConnectionLimits;
  /** Age of the newest decision beyond which bodies are stale, and pages warn. Absent: half a minute. */
  staleAfterMs?: number;
}
