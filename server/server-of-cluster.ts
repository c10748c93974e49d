import pg from "pg";
import { addressesOf, hostOf } from "./database-hosts.js";
import { countsAsAway } from "./database-away.js";
import type { Log } from "./log.js";
import { NoHost } from "./no-host.js";

/** Where connections come from. */
export interface Connections {
  /**
   * @throws Error where the one host that is named cannot be used
   * @throws NoHost where none of several can
   */
  connect: () => Promise<pg.PoolClient>;
  end: () => Promise<void>;
}

/** A host that is gone without a word must not keep those behind it waiting for as long as an address that has no other. */
const hostTimeoutMs = 3_000;

class ImpatientClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super({ ...config, connectionTimeoutMillis: hostTimeoutMs });
  }
}

/** By address, for all pools of this program: the host on which the writable server was found last, and whom to tell when it is another one. */
const clusters = new Map<string, Cluster>();

interface Cluster {
  place: number | null;
  movedTo: Set<(place: number) => void>;
}

/**
 * Connections to an address that may name several hosts. Each new one goes to the host that was right last, or else to the next in their order
 * that is. node-postgres itself knows neither several hosts nor `target_session_attrs`.
 *
 * @param config of each pool, without the address
 * @param readOnly any host will do; otherwise the one that is no standby
 */
export function openConnections(
  url: string,
  config: pg.PoolConfig,
  { readOnly, log }: { readOnly: boolean; log: Log },
): Connections {
  const addresses = addressesOf(url);
  const several = addresses.length > 1;
  const pools = addresses.map((address) =>
    openPoolOf(
      { ...config, connectionString: address },
      { log, patient: !several, writable: several && !readOnly },
    ),
  );
  if (!several) return pools[0]!;

  const key = `${readOnly ? "any" : "writable"} ${url}`;
  const cluster = clusters.get(key) ?? { place: null, movedTo: new Set() };
  clusters.set(key, cluster);
  const leaveOthers = (place: number) =>
    pools.forEach((pool, i) => i !== place && pool.abandon());
  cluster.movedTo.add(leaveOthers);

  function moveTo(place: number): void {
    if (cluster.place === place) return;
    const before = cluster.place;
    cluster.place = place;
    if (before === null) return;
    log.warn("the database is on another host now", {
      host: hostOf(addresses[place]!),
      before: hostOf(addresses[before]!),
    });
    // What the former primary has not answered by now it never will, or must not: a standby was promoted because it is gone.
    for (const leave of cluster.movedTo) leave(place);
  }

  return {
    async connect() {
      const faults: string[] = [];
      const last = cluster.place;
      const places = addresses
        .map((_, i) => i)
        .sort((a, b) => Number(b === last) - Number(a === last));
      for (const place of places) {
        try {
          const client = await pools[place]!.connect();
          moveTo(place);
          return client;
        } catch (error) {
          if (isBusy(error)) throw error;
          faults.push(`${hostOf(addresses[place]!)}: ${reasonOf(error)}`);
        }
      }
      throw new NoHost(faults.join("; "));
    },
    async end() {
      cluster.movedTo.delete(leaveOthers);
      await Promise.all(pools.map((pool) => pool.end()));
    },
  };
}

interface PoolOfHost extends Connections {
  /** Cuts what is under way. */
  abandon: () => void;
}

function openPoolOf(
  config: pg.PoolConfig,
  { log, patient, writable }: { log: Log; patient: boolean; writable: boolean },
): PoolOfHost {
  const inUse = new Set<pg.PoolClient>();
  const pool = new pg.Pool({
    ...config,
    ...(!patient && { Client: ImpatientClient }),
    ...(writable && { verify: refuseStandby }),
  });
  // a connection lost while idle is not an error of anybody's query: the pool makes a new one
  pool.on("error", (error) => {
    if (!countsAsAway(log, "idle connections", error))
      log.warn("lost an idle database connection", { error });
  });
  pool.on("acquire", (client) => void inUse.add(client));
  pool.on("release", (_error, client) => void inUse.delete(client));
  return {
    connect: () => pool.connect(),
    end: () => pool.end(),
    abandon() {
      for (const client of inUse) void client.end();
    },
  };
}

/** Not by `transaction_read_only`: the login of web is read-only on a primary, too. */
function refuseStandby(
  client: pg.PoolClient,
  done: (error?: Error) => void,
): void {
  client
    .query<{ standby: boolean }>({
      text: "select pg_is_in_recovery() as standby",
      query_timeout: hostTimeoutMs,
    } as pg.QueryConfig)
    .then(({ rows }) => {
      done(rows[0]!.standby ? new Error("it is a standby") : undefined);
    }, done);
}

/** The pool is in use, whatever its host is. */
function isBusy(error: unknown): boolean {
  return (error as Error).message === "timeout exceeded when trying to connect";
}

/** A name with several addresses fails with an AggregateError, which has no message. */
function reasonOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return message || code || String(error);
}
