/** A problem that keeps `venuewatch up` from starting and that its user can fix is its last message. */
import { existsSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import t, { type Test } from "tap";
import { listen } from "../../../server/process/ports.js";
import { packagedFile } from "../../../shared/config/package.js";
import { loadRegistry, parseRegistry } from "../../../shared/registry/load-registry.js";
import { freePort } from "../../support/free-port.js";
import { runCli } from "../../support/run-script.js";
import { simplestEndpoint, simplestVenue } from "../../support/simplest-venue.js";
import { loopbackRegistry } from "../../../world/loopback-registry.js";

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

void t.test(
  "up refuses venues that its probes cannot measure within their limits, before it starts anything",
  async (t) => {
    const env = await settings(t, {});
    const { regions } = await loadRegistry(env["REGISTRY"]!);
    const endpoint = simplestEndpoint("ping", { url: "http://127.0.0.1:9/", cadenceMs: 60_000 });
    // one probe alone would measure it twice an hour
    const source = "its documentation";
    const limits = [{ origin: "http://127.0.0.1:9", requests: 1, periodMs: 900_000, per: "address" as const, source }];
    const value = { probeIntervalMs: 5000, regions, venues: [{ ...simplestVenue("mine", endpoint), limits }] };
    t.equal(parseRegistry(value, "mine").venues[0]!.rest[0]!.cadenceMs, 1_801_000);
    const REGISTRY = join(dirname(env["REGISTRY"]!), "limited.json");
    writeFileSync(REGISTRY, JSON.stringify(value));
    const script = runCli(t, ["up"], { ...env, REGISTRY });
    t.equal(await script.ended, 2);
    t.match(
      script.output(),
      /^venuewatch: The registry .* is wrong:\nmine rest:ping: .* of each of 3 probes on one address/,
    );
    t.notOk(existsSync(env["DATA_DIR"]!));
  },
);

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
  const real = await loadRegistry(packagedFile("registry/exchanges.json"));
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
