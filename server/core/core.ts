/**
 * Core is the program that decides: the engine with its upkeep, what venues say (notices, deposits and withdrawals),
 * and the alerts.
 */
import { openPool, type Pool, type PoolOptions } from "../../shared/database/pool.js";
import type { Log } from "../../shared/log/log.js";
import type { OwnMetrics } from "../../shared/log/own-metrics.js";
import { makeAlertMetrics } from "./alerts/alert-metrics.js";
import { startDispatcher } from "./alerts/dispatcher.js";
import { formatAlert } from "./alerts/formats/format-alert.js";
import { makePoster } from "./alerts/post.js";
import { makeSealing } from "./alerts/sealing.js";
import { type ServiceAddress, startKeepingAddress } from "./alerts/service-address.js";
import { startEngine } from "./engine/leader.js";
import { makeEngineMetrics } from "./metrics.js";
import { makeNoticesMetrics, makePolling } from "./notices/polling.js";
import { makeFeedReader } from "./notices/reader.js";
import { makeTransferMetrics, makeTransferPolling } from "./transfers/polling.js";
import { makeTransferReader } from "./transfers/reader.js";

export interface CorePools {
  engine: Pool;
  /** Separate, so that no statement of the engine delays a renewal. */
  lease: Pool;
  /** Separate, so that a slow feed takes no connection from the engine. Also of the lists of transfers. */
  notices: Pool;
  /** Separate, so that neither a storm of alerts nor the engine makes the other wait. */
  alerts: Pool;
}

/** Call it on the line after opening. Closings run in reverse order. */
type OnClose = (name: string, close: () => unknown) => void;

export interface CoreOptions {
  pools: CorePools;
  address: ServiceAddress;
  /** Opens the credentials of channels. Null: core sends no alerts. */
  channelKey: Buffer | null;
  /** Receivers on this machine are allowed. */
  allowLoopback: boolean;
  version: string;
  log: Log;
  /** Absent: nothing is exported. `pool` is queried at each scrape. */
  exported?: { metrics: OwnMetrics; pool: Pool };
  onClose: OnClose;
}

/**
 * Starts all parts of core. They report what fails to the log and go on; `onClose` receives what ends them.
 */
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
  const transferReader = makeTransferReader({ userAgent: userAgent("transfers") });
  onClose("connections to lists of transfers", transferReader.close);
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
  const transfers = makeTransferPolling({
    db: pools.notices,
    reader: transferReader,
    log,
    metrics: exported && makeTransferMetrics(exported.metrics),
    onAlert: dispatcher.wake,
  });
  const keepingAddress = startKeepingAddress(pools.engine, address, log);
  onClose("the service's address", keepingAddress.end);
  const engine = startEngine({
    pool: pools.engine,
    leasePool: pools.lease,
    log,
    metrics: exported && makeEngineMetrics(exported.metrics, exported.pool, log),
    readNextFeed: (signal) => polling.readNext(signal),
    readNextTransfers: (signal) => transfers.readNext(signal),
    onAlert: dispatcher.wake,
  });
  onClose("engine", engine.close);
}

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

/** Opens the connections of a core, which connect when they are used first. */
export function openCorePools(url: string, log: Log, onClose: OnClose): CorePools {
  function open(closing: string, applicationName: string, options: Partial<PoolOptions> = {}): Pool {
    const pool = openPool(url, { applicationName, log, statementTimeoutMs, ...options });
    onClose(closing, pool.close);
    return pool;
  }
  return {
    engine: open("database connections", "core"),
    lease: open("connection of the lease", "core lease", { max: 1, statementTimeoutMs: renewalTimeoutMs }),
    notices: open("connections of the notices", "core notices", { max: 2 }),
    alerts: open("connection of the alerts", "core alerts", { max: 1, idleInTransactionMs: alertsIdleInTransactionMs }),
  };
}
