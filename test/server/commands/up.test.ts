/** A problem that keeps `venuewatch up` from starting and that its user can fix is its last message. */
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import t, { type Test } from "tap";
import { listen } from "../../../shared/config/listen.js";
import { packagedFile } from "../../../shared/config/package.js";
import { loadRegistry } from "../../../shared/registry/load-registry.js";
import { freePort } from "../../support/free-port.js";
import { runCli } from "../../support/run-script.js";
import { loopbackRegistry } from "../../../simulator/loopback.js";

void t.test("up names a port that is in use", async (t) => {
  const taken = await takenPort(t);
  for (const setting of ["EMBEDDED_PORT", "HEALTH_PORT", "PORT"] as const) {
    const env = await settings(t, { [setting]: taken });
    await refuses(t, setting, env, [`port ${taken} is in use by another program`, "to a free port", setting]);
    t.notOk(existsSync(env["DATA_DIR"]!), `${setting}: refused before the data directory is created`);
  }
});

void t.test("up names a data directory that is a file", async (t) => {
  const env = await settings(t, {});
  const path = `${dirname(env["REGISTRY"]!)}/file/data`;
  const sentence = [`the data directory ${path} cannot be written`, "set DATA_DIR to another"];
  await refuses(t, "DATA_DIR", { ...env, DATA_DIR: path }, sentence);
});

void t.test(
  "up names a data directory that cannot be written",
  { skip: process.platform !== "linux" && "root may write everywhere on other systems" },
  async (t) => {
    const env = await settings(t, { DATA_DIR: "/proc/self" });
    await refuses(t, "DATA_DIR", env, ["data directory /proc/self cannot be", "DATA_DIR"]);
  },
);

void t.test("up names a database that it cannot reach", async (t) => {
  const url = `postgres://user:secret@127.0.0.1:${await freePort()}/db`;
  const env = await settings(t, { DATABASE_URL: url });
  const sentence = ["the database 127.0.0.1:", "ECONNREFUSED", "correct DATABASE_URL"];
  const output = await refuses(t, "DATABASE_URL", env, sentence);
  t.notMatch(output, "secret");
});

async function refuses(t: Test, what: string, env: Record<string, string>, sentence: string[]): Promise<string> {
  const script = runCli(t, ["up"], env);
  t.equal(await script.ended, 2, what);
  // Several problems form an indented list: `up` counts upwards from HEALTH_PORT, and another test may use the ports
  // above.
  const messages = script
    .output()
    .trim()
    .split(/\n(?! )/);
  const last = messages.at(-1);
  t.match(last, /^venuewatch: /, `${what}: the last message`);
  for (const part of sentence) t.match(last, new RegExp(part), what);
  t.notMatch(script.output(), /^ +at /m, `${what}: no stack trace`);
  return script.output();
}

/**
 * Should it start after all, its probes must not reach real venues: each venue is at a port of this machine where
 * nothing listens.
 */
async function settings(t: Test, changes: Record<string, string | number>): Promise<Record<string, string>> {
  const real = await loadRegistry(packagedFile("registry/default.json"));
  const registry = loopbackRegistry(real, () => 9, 1);
  const directory = t.testdir({ "registry.json": JSON.stringify(registry), file: "not a directory" });
  const all = {
    REGISTRY: join(directory, "registry.json"),
    DATA_DIR: join(directory, "data"),
    PORT: await freePort(),
    HEALTH_PORT: 0,
    EMBEDDED_PORT: 0,
    ...changes,
  };
  return Object.fromEntries(Object.entries(all).map(([name, value]) => [name, String(value)]));
}

async function takenPort(t: Test): Promise<number> {
  const server = createServer();
  t.teardown(() => server.close());
  return listen(server, 0, "127.0.0.1", "PORT");
}
