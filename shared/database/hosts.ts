import pg from "pg";
import type { Log } from "../log/log.js";
import { singleFlight } from "../process/loop.js";
import { NoHost, addressesOf, hostWithPort } from "./address.js";
import { countsAsAway } from "./fault.js";

export interface Connections {
  /**
   * @throws Error where the only host cannot be used
   * @throws NoHost where none of several hosts can be used
   */
  connect: () => Promise<pg.PoolClient>;
  end: () => Promise<void>;
}

/**
 * With several hosts, the timeout for each is shorter than for a single one: one that vanished must not delay the next.
 */
const hostTimeoutMs = 3_000;

class ImpatientClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super({ ...config, connectionTimeoutMillis: hostTimeoutMs });
  }
}

/** The last good host, and the pools to notify when it changes, by address; shared by all pools of this program. */
const clusters = new Map<string, Cluster>();

interface Cluster {
  place: number | null;
  movedTo: Set<(place: number) => void>;
}

/**
 * Connections to an address that may have several hosts. A new connection goes to the last good host. If that fails,
 * one search finds the next good host for all callers that wait. node-postgres itself supports neither several hosts
 * nor `target_session_attrs`.
 *
 * @param config of each pool, without the address
 * @param readOnly any host can be used; otherwise only one that is not a standby
 */
export function openConnections(
  url: string,
  config: pg.PoolConfig,
  { readOnly, log }: { readOnly: boolean; log: Log },
): Connections {
  const addresses = addressesOf(url);
  const several = addresses.length > 1;
  const writable = several && !readOnly;
  const configs = addresses.map((address) => ({
    ...config,
    connectionString: address,
  }));
  const pools = configs.map((one) => openPoolOf(one, { log, patient: !several, writable }));
  if (!several) return pools[0]!;

  const key = `${readOnly ? "any" : "writable"} ${url}`;
  const cluster = clusters.get(key) ?? { place: null, movedTo: new Set() };
  clusters.set(key, cluster);
  const leaveOthers = (place: number) => pools.forEach((pool, i) => i !== place && pool.abandon());
  cluster.movedTo.add(leaveOthers);

  function moveTo(place: number): void {
    if (cluster.place === place) return;
    const before = cluster.place;
    cluster.place = place;
    if (before === null) return;
    log.warn(readOnly ? "reading from another host of the database" : "the database moved to another host", {
      host: hostWithPort(addresses[place]!),
      before: hostWithPort(addresses[before]!),
    });
    for (const leave of cluster.movedTo) leave(place);
  }

  const find = singleFlight(async () => {
    const faults: string[] = [];
    // the host that just failed comes last
    const first = cluster.place === null ? 0 : cluster.place + 1;
    for (let i = first; i < first + addresses.length; i++) {
      const place = i % addresses.length;
      try {
        await tryHost(configs[place]!, writable);
        moveTo(place);
        return place;
      } catch (error) {
        faults.push(`${hostWithPort(addresses[place]!)}: ${reasonOf(error)}`);
      }
    }
    throw new NoHost(faults.join("; "));
  });

  async function connectTo(place: number): Promise<pg.PoolClient> {
    try {
      return await pools[place]!.connect();
    } catch (error) {
      if (isBusy(error)) throw error;
      throw new NoHost(`${hostWithPort(addresses[place]!)}: ${reasonOf(error)}`);
    }
  }

  return {
    async connect() {
      const last = cluster.place;
      if (last !== null)
        try {
          return await connectTo(last);
        } catch (error) {
          if (!(error instanceof NoHost)) throw error;
        }
      // another caller may have found it meanwhile
      const found = cluster.place === last ? null : cluster.place;
      return connectTo(found ?? (await find()));
    },
    async end() {
      cluster.movedTo.delete(leaveOthers);
      await Promise.all(pools.map((pool) => pool.end()));
    },
  };
}

/** @throws Error where the host cannot be used */
async function tryHost(config: pg.ClientConfig, writable: boolean): Promise<void> {
  const client = new ImpatientClient(config);
  // when the connection is lost, the statement itself fails
  client.on("error", () => {});
  try {
    await client.connect();
    if (writable) await refuseStandby(client);
  } finally {
    await client.end();
  }
}

interface PoolOfHost extends Connections {
  /**
   * Another host is used instead: rejects callers that wait for a connection. On a formerly writable host it also cuts
   * the connections in use.
   */
  abandon: () => void;
}

function openPoolOf(
  config: pg.PoolConfig,
  { log, patient, writable }: { log: Log; patient: boolean; writable: boolean },
): PoolOfHost {
  const waiting = new Set<(error: Error) => void>();
  const inUse = new Set<pg.PoolClient>();
  const pool = new pg.Pool({
    ...config,
    ...(!patient && { Client: ImpatientClient }),
    ...(writable && {
      verify: (client, done) => void refuseStandby(client).then(() => done(), done),
    }),
  });
  // losing an idle connection fails no query: the pool opens a new one
  pool.on("error", (error) => {
    if (!countsAsAway(log, "idle connections", error)) log.warn("an idle database connection was lost", { error });
  });
  pool.on("acquire", (client) => void inUse.add(client));
  pool.on("release", (_error, client) => void inUse.delete(client));
  return {
    connect: () =>
      new Promise((resolve, reject) => {
        waiting.add(reject);
        pool.connect().then(
          (client) => {
            if (waiting.delete(reject)) resolve(client);
            else client.release();
          },
          (error: Error) => {
            waiting.delete(reject);
            reject(error);
          },
        );
      }),
    end: () => pool.end(),
    abandon() {
      for (const refuse of waiting) refuse(new Error("the database moved to another host"));
      waiting.clear();
      if (!writable) return;
      // the former primary will no longer answer, or must not: a standby was promoted because it was gone
      for (const client of inUse) void client.end();
    },
  };
}

/** Not by `transaction_read_only`: web's login is read-only on a primary, too. */
async function refuseStandby(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ standby: boolean }>({
    text: "select pg_is_in_recovery() as standby",
    query_timeout: hostTimeoutMs,
  } as pg.QueryConfig);
  if (rows[0]!.standby) throw new Error("it is a standby");
}

/** All connections of the pool are in use, which says nothing about the host. */
function isBusy(error: unknown): boolean {
  return (error as Error).message === "timeout exceeded when trying to connect";
}

/** A name with several addresses fails with an AggregateError, which has no message. */
function reasonOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return message || code || String(error);
}
