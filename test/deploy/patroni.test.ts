/**
 * Kills the primary of a cluster of two servers, from the unchanged example of deploy/production/patroni/. Needs
 * DATABASE_URL, Patroni, etcd, HAProxy and PostgreSQL's programs.
 */
import t from "tap";
import { startShip } from "../../probe/delivery/ship.js";
import { openPool, sql } from "../../shared/database/pool.js";
import { makeLog } from "../../shared/log/log.js";
import { migrate } from "../../server/database/migrate.js";
import { packagedFile } from "../../shared/config/package.js";
import { recordSamples } from "../../server/database/record-samples.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import { numberedSample } from "../support/numbered-sample.js";
import { clusterMissing, patienceMs, startCluster } from "../support/patroni-cluster.js";
import { makePlace, postgresPrograms } from "../support/postgres-server.js";
import { someSpool } from "../support/spool.js";
import { until } from "../support/until.js";

const log = makeLog("test", "error", () => {});
const programs = await postgresPrograms();
const skip =
  (!process.env.DATABASE_URL && "DATABASE_URL names no server") ||
  clusterMissing ||
  (typeof programs === "string" && programs);

void t.test("a cluster whose primary is killed", { skip }, async (t) => {
  if (typeof programs === "string") return;
  const place = await makePlace(t, programs);
  const cluster = await startCluster(t, place, programs, "synchronous");
  const { primary, standby, address } = cluster;
  const making = openPool(address("postgres"), { applicationName: "test", log });
  await making.script("create database venuewatch");
  await making.close();
  const pool = openPool(address("venuewatch"), { applicationName: "test", log, statementTimeoutMs: 30_000 });
  t.teardown(() => pool.close());
  const registry = await loadRegistry(packagedFile("registry/exchanges.json"));
  await migrate(pool, registry, makeLog("test", "error"));

  const proxied = openPool(await cluster.startProxy(), { applicationName: "test", log, max: 1 });
  t.teardown(() => proxied.close());
  const behindProxy = async () => {
    const [row] = await proxied.query<{ at: string }>(
      sql`select host(inet_server_addr()) || ':' || inet_server_port() as at where not pg_is_in_recovery()`,
    );
    return row?.at;
  };
  await until(async () => (await behindProxy().catch(() => null)) === primary.sql, patienceMs, 200);

  const from = Date.now() - 600_000;
  const ship = startShip({
    spool: await someSpool(t),
    record: (samples) => recordSamples(pool, "us-east", samples),
    log,
    flushEveryMs: 20,
  });
  t.teardown(() => ship.close());
  let made = 0;
  const measuring = setInterval(() => {
    ship.add(numberedSample(made++, from));
  }, 5);
  t.teardown(() => clearInterval(measuring));
  await until(() => ship.status().shipped > 200);

  const changed = await fetch(`http://${primary.rest}/config`, {
    method: "PATCH",
    body: JSON.stringify({ synchronous_mode: false }),
  });
  t.equal(changed.status, 401, "its configuration cannot be changed without the password");

  await primary.kill();
  const acknowledged = ship.status().shipped;
  await until(() => ship.status().shipped > acknowledged + 200, patienceMs, 50);
  clearInterval(measuring);
  await until(() => ship.status().waiting === 0);
  t.match(ship.status(), { shipped: made, dropped: 0, refused: 0 });
  t.equal(ship.status().restored, 0, "no acknowledged sample was lost");
  t.same(await pool.query(sql`select count(*)::int as samples from sample`), [{ samples: made }]);
  await until(async () => (await behindProxy().catch(() => null)) === standby.sql, patienceMs, 200);
});
