import { join, resolve } from "node:path";
import t from "tap";

import { migrateDatabase, startDatabase, startServices } from "../../../server/process/all-programs.js";
import { readSettings, type Settings } from "../../../shared/config/settings.js";
import type { Supervisor } from "../../../server/process/supervisor.js";

const regions = ["eu-central", "us-east"];

void t.test("programs start after those that they need", async (t) => {
  const { supervisor, asked } = recorder();
  const addresses = await startAll(supervisor, readSettings({}), regions);
  t.same(
    asked.map(({ does }) => does),
    ["start database", "run migrate", "start core", "start web", "start probe eu-central", "start probe us-east"],
  );
  t.match(addresses, { embedded: "address of database", core: "address of core", web: "address of web" });
  t.same([...addresses.probes.keys()], regions);
});

void t.test("all other programs use the embedded database at its reported address", async (t) => {
  const { supervisor, asked } = recorder();
  await startAll(supervisor, readSettings({}), regions);
  const [database, ...others] = asked;
  t.not(database?.env["DATABASE_URL"], "address of database");
  for (const { does, env } of others)
    t.match(
      env,
      { DATABASE_URL: "address of database", DATABASE_PASSWORD_FILE: join(resolve("data"), "database.password") },
      does,
    );
});

void t.test("with DATABASE_URL no database is started", async (t) => {
  const { supervisor, asked } = recorder();
  const settings = readSettings({ DATABASE_URL: "postgres://server/db" });
  const { embedded } = await startAll(supervisor, settings, regions);
  t.equal(embedded, null);
  t.equal(asked[0]?.does, "run migrate");
});

void t.test("each program has its own health port, and each probe its region", async (t) => {
  const { supervisor, asked } = recorder();
  await startAll(supervisor, readSettings({ PORT: "9000" }), regions);
  const of = (does: string) => asked.find((program) => program.does === does);
  t.match(of("start core")?.env, { HEALTH_PORT: "9001" });
  t.match(of("start probe eu-central")?.env, { HEALTH_PORT: "9002", REGION: "eu-central" });
  t.match(of("start probe us-east")?.env, { HEALTH_PORT: "9003", REGION: "us-east" });
  t.match(of("start web")?.env, { HEALTH_PORT: "9004" });
});

void t.test("changed settings reach every program", async (t) => {
  const { supervisor, asked } = recorder();
  const changes = { REGISTRY: "/world.json" };
  await startAll(supervisor, readSettings({}), regions, changes);
  for (const { does, env } of asked) t.match(env, changes, does);
});

async function startAll(supervisor: Supervisor, settings: Settings, regions: string[], changes = {}) {
  const database = await startDatabase(supervisor, settings, changes);
  await migrateDatabase(supervisor, database.changes);
  return { ...database, ...(await startServices(supervisor, settings, regions, database.changes)) };
}

function recorder() {
  const asked: { does: string; env: Record<string, string | undefined> }[] = [];
  const supervisor: Supervisor = {
    start: ({ name, env }) => {
      asked.push({ does: `start ${name}`, env });
      return Promise.resolve(`address of ${name}`);
    },
    run: ({ name, env }) => {
      asked.push({ does: `run ${name}`, env });
      return Promise.resolve();
    },
    close: () => Promise.resolve(),
  };
  return { supervisor, asked };
}
