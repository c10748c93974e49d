/**
 * Promotes a standby without its primary's last transactions, on two servers that the test starts. Needs DATABASE_URL
 * and PostgreSQL's programs.
 */
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import t, { type Test } from "tap";
import { startShip } from "../../probe/delivery/ship.js";
import { openPool, sql } from "../../shared/database/pool.js";
import { makeLease } from "../../server/core/engine/lease.js";
import { tick } from "../../server/core/engine/tick.js";
import { makeLog } from "../../shared/log/log.js";
import { migrate } from "../../server/database/migrate.js";
import { packagedFile } from "../../shared/config/package.js";
import { recordSamples } from "../../server/database/record-samples.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import { addChannel, happened, native } from "../support/alerts.js";
import { startAlerts } from "../support/alert-dispatch.js";
import { ago, measured } from "../support/fleet.js";
import { freePort } from "../support/free-port.js";
import { numberedSample } from "../support/numbered-sample.js";
import { makePlace, type Place, postgresPrograms, type Server, startServer } from "../support/postgres-server.js";
import { someSpool } from "../support/spool.js";
import { until } from "../support/until.js";
import { startReceiver } from "../../world/receivers.js";

const log = makeLog("test", "error", () => {});
const programs = process.env.DATABASE_URL ? await postgresPrograms() : "DATABASE_URL names no server";
const skip = typeof programs === "string" && programs;

void t.test("a failover loses nothing permanently", { skip }, async (t) => {
  if (typeof programs === "string") return;
  const place = await makePlace(t, programs);
  const primary = await startServer(t, place, "primary");
  const alone = openPool(primary.url("postgres"), { applicationName: "test", log });
  await alone.script("create database venuewatch");
  await alone.close();
  const standby = await startStandby(t, place, primary);

  // the standby comes first, so that it is skipped
  const hosts = [standby, primary].map((server) => new URL(server.url("venuewatch")).host);
  const url = `postgres://postgres@${hosts.join(",")}/venuewatch`;
  const pool = openPool(url, { applicationName: "test", log });
  t.teardown(() => pool.close());
  await migrate(pool, await loadRegistry(packagedFile("registry/exchanges.json")), makeLog("test", "error"));
  const receiver = await startReceiver();
  t.teardown(() => receiver.close());
  await addChannel(pool, { to: native(receiver.origin) });
  const from = Date.now() - 60_000;
  const ship = startShip({
    spool: await someSpool(t),
    record: (samples) => recordSamples(pool, "us-east", samples),
    log,
    flushEveryMs: 20,
  });
  t.teardown(() => ship.close());
  t.teardown(startAlerts(pool).close);
  type Alert = { eventId: number; kind: string; incident: { id: number; slug: string } };
  const alerts = () => receiver.arrivals.map(({ body }) => JSON.parse(body.toString()) as Alert);

  for (let n = 0; n < 10; n++) ship.add(numberedSample(n, from));
  await until(() => ship.status().shipped === 10);
  const before = await happened(pool, { venue: "okx", at: ago(160) });
  await until(() => alerts().length === 1);
  const [position] = await pool.query<{ lsn: string }>(sql`select pg_current_wal_lsn()::text as lsn`);
  await standby.hasReplayed(position!.lsn);

  // from here on nothing is replicated
  await standby.stop();
  for (let n = 10; n < 20; n++) ship.add(numberedSample(n, from));
  await until(() => ship.status().shipped === 20);
  const lost = await happened(pool, { venue: "kraken", at: ago(150) });
  await until(() => alerts().length === 2);
  const [, opening] = alerts();
  t.match(opening, { kind: "opened", incident: { slug: lost } });
  await primary.stop();
  await standby.promote();

  // the next recorded sample reveals the new timeline
  ship.add(numberedSample(20, from));
  await until(() => ship.status().restored === 10, 60_000);
  const kept = await pool.query<{ samples: number }>(sql`select count(*)::int as samples from sample`);
  t.same(kept, [{ samples: 21 }], "every sample is stored once");
  t.match(ship.status(), { shipped: 21, duplicates: 0, waiting: 0 });

  let known: { slug: string; id: number; event: number }[] = [];
  await until(async () => {
    known = await pool.query(sql`
      select i.slug, i.incident_id as id, e.event_id as event
      from incident i join alert_event e using (incident_id) order by e.event_id
    `);
    return known.length === 2;
  }, 60_000);
  t.match(known, [{ slug: before }, { slug: lost, id: opening!.incident.id, event: opening!.eventId }]);

  const term = await makeLease(pool, "engine", "test", 60_000).take();
  t.same(await tick(pool, ago(200), { term }), { refused: "new timeline" });
  await pool.script("update timeline set adopted_at = '-infinity'");
  await measured(pool, { from: ago(320), to: ago(0) });
  await tick(pool, ago(200), { term });
  t.match(await tick(pool, ago(20), { term }), { closed: { length: 2 } });
  await until(() => alerts().length === 4, 60_000);
  const closing = alerts().find(({ kind, incident }) => kind === "closed" && incident.slug === lost)!;
  t.equal(closing.incident.id, opening!.incident.id);
  t.ok(closing.eventId > opening!.eventId + 100_000);
  t.equal(new Set(alerts().map(({ eventId }) => eventId)).size, 4);
});

interface Standby extends Pick<Server, "url" | "stop"> {
  hasReplayed: (lsn: string) => Promise<void>;
  /** Also starts a stopped standby. */
  promote: () => Promise<void>;
}

async function startStandby(t: Test, { folder, sh }: Place, primary: Server): Promise<Standby> {
  const pgdata = join(folder, "standby");
  const port = await freePort();
  await sh(
    `pg_basebackup --dbname=${primary.url("postgres")} --pgdata=${pgdata} --write-recovery-conf --checkpoint=fast`,
    {},
  );
  await appendFile(join(pgdata, "postgresql.conf"), `port = ${port}\n`);
  const control = (what: string) => sh(`pg_ctl --pgdata=${pgdata} --log=${folder}/standby.log ${what}`, {});
  const stop = async () => {
    await control(`--mode=immediate --wait stop || pg_ctl --pgdata=${pgdata} status || test $? = 3`);
  };
  t.teardown(stop);
  await control("--wait start");
  const url = (database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`;
  return {
    url,
    stop,
    async hasReplayed(lsn) {
      const pool = openPool(url("postgres"), { applicationName: "test", log });
      await until(async () => {
        const [row] = await pool.query<{ replayed: boolean }>(
          sql`select pg_last_wal_replay_lsn() >= ${lsn}::pg_lsn as replayed`,
        );
        return row!.replayed;
      }, 30_000);
      await pool.close();
    },
    async promote() {
      await control("--wait start");
      await control("--wait promote");
    },
  };
}
