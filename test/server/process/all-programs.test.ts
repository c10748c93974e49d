import { join, resolve } from "node:path";
import t from "tap";
import { migrateDatabase, startDatabase, startServices } from "../../../server/process/all-programs.js";
import { readSettings } from "../../../shared/config/settings.js";
import type { Supervisor } from "../../../server/process/supervisor.js";

const regions = ["eu-central", "us-east"];

void t.test("programs start after those that they need", async (t) => {
  const { requests, embedded, core, web, probes } = await startAll({});
  const order = requests.map(({ does }) => does).join(", ");
  t.equal(order, "start database, run migrate, start core, start web, start probe eu-central, start probe us-east");
  t.match({ embedded, core, web }, { embedded: "address of database", core: "address of core", web: "address of web" });
  t.same([...probes.keys()], regions);
});

void t.test("all other programs use the embedded database at its reported address", async (t) => {
  const [database, ...others] = (await startAll({})).requests;
  t.not(database?.env["DATABASE_URL"], "address of database");
  const DATABASE_PASSWORD_FILE = join(resolve("data"), "database.password");
  for (const { does, env } of others)
    t.match(env, { DATABASE_URL: "address of database", DATABASE_PASSWORD_FILE }, does);
});

void t.test("with DATABASE_URL no database is started", async (t) => {
  const { embedded, requests } = await startAll({ DATABASE_URL: "postgres://server/db" });
  t.match([embedded, requests[0]?.does], [null, "run migrate"]);
});

void t.test("each program has its own health port, and each probe its region", async (t) => {
  const { requests } = await startAll({ PORT: "9000" });
  const env = Object.fromEntries(requests.map(({ does, env }) => [does, env]));
  t.match(env, {
    "start core": { HEALTH_PORT: "9001" },
    "start probe eu-central": { HEALTH_PORT: "9002", REGION: "eu-central" },
    "start probe us-east": { HEALTH_PORT: "9003", REGION: "us-east" },
    "start web": { HEALTH_PORT: "9004" },
  });
});

void t.test("changed settings reach every program", async (t) => {
  const changes = { REGISTRY: "/world.json" };
  for (const { does, env } of (await startAll({}, changes)).requests) t.match(env, changes, does);
});

async function startAll(given: Record<string, string>, changes = {}) {
  const { supervisor, requests } = recorder();
  const settings = readSettings(given);
  const database = await startDatabase(supervisor, settings, changes);
  await migrateDatabase(supervisor, database.changes);
  return { requests, ...database, ...(await startServices(supervisor, settings, regions, database.changes)) };
}

function recorder() {
  const requests: { does: string; env: Record<string, string | undefined> }[] = [];
  const supervisor: Supervisor = {
    start: ({ name, env }) => {
      requests.push({ does: `start ${name}`, env });
      return Promise.resolve(`address of ${name}`);
    },
    run: ({ name, env }) => {
      requests.push({ does: `run ${name}`, env });
      return Promise.resolve();
    },
    close: () => Promise.resolve(),
  };
  return { supervisor, requests };
}
