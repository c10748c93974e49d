/**
 * Composes core, the program that decides: the engine with its upkeep, the notices of venues, and the alerts. Each part
 * has connections of its own, so that none waits for another's.
 */
import { openPool, type Pool, type PoolOptions } from "../../shared/database/pool.js";
import type { Log } from "../../shared/log/log.js";
import type { OwnMetrics } from "../../shared/log/own-metrics.js";
import { startDispatcher } from "./alerts/dispatcher.js";
import { formatAlert } from "./alerts/formats/format-alert.js";
import { makeAlertMetrics } from "./alerts/alert-metrics.js";
import { makePoster } from "./alerts/post.js";
import { makeSealing } from "./alerts/sealing.js";
import { type ServiceAddress, startKeepingAddress } from "./alerts/service-address.js";
import { startLeader } from "./engine/leader.js";
import { makeEngineMetrics } from "./metrics.js";
import { makeNoticesMetrics, makePolling } from "./notices/polling.js";
import { makeFeedReader } from "./notices/reader.js";

/**
 * The longest statements, compressing or rolling up a late day, took six seconds. Without a limit, one on a server that
 * vanished would wait until TCP gives up, a quarter of an hour.
 */
const statementTimeoutMs = 120_000;

/**
 * On the embedded database a renewal of the lease waits for the current statement; the longest took six seconds.
 */
const renewalTimeoutMs = 15_000;

/** A core that stalls in a transaction must not block the outbox for the others. */
const alertsIdleInTransactionMs = 5_000;

export interface CorePools {
  engine: Pool;
  lease: Pool;
  notices: Pool;
  alerts: Pool;
}

/** Call it on the line after opening. Closings run in reverse order. */
type OnClose = (name: string, close: () => unknown) => void;

/** Opens the connections of a core, which connect when they are used first. */
export function openCorePools(url: string, log: Log, onClose: OnClose): CorePools {
  function open(applicationName: string, options: Partial<PoolOptions> = {}): Pool {
    const pool = openPool(url, { applicationName, log, statementTimeoutMs, ...options });
    onClose(`connections of ${applicationName}`, pool.close);
    return pool;
  }
  return {
    engine: open("core"),
    lease: open("core lease", { max: 1, statementTimeoutMs: renewalTimeoutMs }),
    notices: open("core notices", { max: 2 }),
    alerts: open("core alerts", { max: 1, idleInTransactionMs: alertsIdleInTransactionMs }),
  };
}

export interface CoreOptions {
  pools: CorePools;
  address: ServiceAddress;
  /** Null: without it, core sends no alert whose channel has a sealed credential. */
  channelKey: Buffer | null;
  /** Receivers on this machine are allowed. */
  allowLoopback: boolean;
  version: string;
  log: Log;
  /** Absent: nothing is exported. `pool` is queried at each scrape. */
  exported?: { metrics: OwnMetrics; pool: Pool };
  onClose: OnClose;
}

export function startCore({ pools, address, channelKey, allowLoopback, version, log, exported, onClose }: CoreOptions) {
  const userAgent = (purpose: string) => `venuewatch/${version} (+${address.siteUrl}; ${purpose})`;
  const reader = makeFeedReader({ userAgent: userAgent("notices") });
  onClose("connections to feeds", reader.close);
  const polling = makePolling({
    db: pools.notices,
    reader,
    log,
    metrics: exported && makeNoticesMetrics(exported.metrics),
  });
  const poster = makePoster({ allowLoopback });
  onClose("connections to receivers", poster.close);
  const ofAlerts = { baseUrl: address.baseUrl, userAgent: userAgent("alerts") };
  const dispatcher = startDispatcher({
    db: pools.alerts,
    poster,
    sealing: channelKey && makeSealing(channelKey),
    write: (to, alert, sent) => formatAlert(to, alert, { ...sent, ...ofAlerts }),
    log,
    metrics: exported && makeAlertMetrics(exported.metrics, exported.pool, log, channelKey !== null),
  });
  onClose("alerts", dispatcher.close);
  const keepingAddress = startKeepingAddress(pools.engine, address, log);
  onClose("the service's address", keepingAddress.end);
  const leader = startLeader({
    pool: pools.engine,
    leasePool: pools.lease,
    log,
    metrics: exported && makeEngineMetrics(exported.metrics, exported.pool, log),
    readNextFeed: (signal) => polling.readNext(signal),
    onAlert: dispatcher.wake,
  });
  onClose("engine", leader.close);
}
