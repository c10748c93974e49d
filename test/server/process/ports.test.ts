/** Ports are checked before anything starts: each is used once, and free. */
import { createServer } from "node:net";
import t from "tap";
import {
  embeddedPort,
  listen,
  portsOf,
  portsOfAll,
  requirePorts,
  type WantedPort,
} from "../../../server/process/ports.js";
import { readSettings } from "../../../shared/config/settings.js";
import { freePort } from "../../support/free-port.js";

const regions = ["a", "b", "c"];

/** None of these ports is opened: whether a port is free is another test. */
const anyFree = { PORT: "0", HEALTH_PORT: "0", EMBEDDED_PORT: "0" };

void t.test("`up` lists the ports on which it listens", (t) => {
  const wanted = portsOfAll(readSettings({ HEALTH_HOST: "10.8.0.1" }), regions);
  const listed = wanted.map(({ port, host, for: what }) => `${host}:${port} ${what}`);
  t.same(listed, [
    "127.0.0.1:5433 the embedded database",
    "127.0.0.1:8080 the public API",
    "10.8.0.1:8081 health of core",
    "10.8.0.1:8082 health of the probe of a",
    "10.8.0.1:8083 health of the probe of b",
    "10.8.0.1:8084 health of the probe of c",
    "10.8.0.1:8085 health of web",
  ]);
  const onServer = portsOfAll(readSettings({ DATABASE_URL: "postgres://db/venues" }), regions);
  const embedded = onServer.filter(({ setting }) => setting === "EMBEDDED_PORT");
  t.same(embedded, [], "the embedded database is not started with DATABASE_URL");
  t.end();
});

void t.test("a port that two programs would use is refused", async (t) => {
  const port = await freePort();
  const clash = async (env: Record<string, string>, expected: string) => {
    const settings = readSettings({ ...anyFree, ...env });
    await t.rejects(requirePorts(portsOfAll(settings, regions)), { name: "UserError", message: expected });
  };
  await clash(
    { PORT: `${port}`, EMBEDDED_PORT: `${port}` },
    `port ${port} is wanted twice, for the embedded database (EMBEDDED_PORT) and for the public API (PORT); set EMBEDDED_PORT or PORT to another`,
  );
  await clash(
    { PORT: `${port}`, HEALTH_PORT: `${port - 4}` },
    `port ${port} is wanted twice, for the public API (PORT) and for health of web (HEALTH_PORT); set PORT or HEALTH_PORT to another`,
  );
  const ofWeb = portsOf(readSettings({ PORT: `${port}`, HEALTH_PORT: `${port}` }), "web");
  await t.rejects(requirePorts(ofWeb), { message: /^port \d+ is wanted twice, for the public API/ }, "by one program");
  await t.resolves(requirePorts(portsOfAll(readSettings(anyFree), regions)), "0 may be set repeatedly");
});

void t.test("all problems are listed at once", async (t) => {
  const other = createServer();
  t.teardown(() => other.close());
  const taken = await listen(other, 0, "127.0.0.1", "PORT");
  const settings = readSettings({ PORT: String(taken), EMBEDDED_PORT: String(taken), HEALTH_PORT: "65533" });
  const refused = await requirePorts(portsOfAll(settings, regions)).catch((error: Error) => error.message);
  t.match(refused, /^these ports cannot be used:\n {2}/);
  for (const problem of [
    `port ${taken} is wanted twice`,
    `port ${taken} is in use by another program: stop it`,
    "HEALTH_PORT: health of web would get port 65537, and the highest is 65535; set a lower HEALTH_PORT",
  ])
    t.match(refused, `\n  ${problem}`);
});

void t.test("a port is checked at its own address", async (t) => {
  const other = createServer();
  t.teardown(() => other.close());
  const port = await listen(other, 0, "127.0.0.1", "PORT");
  const at = (host: string): WantedPort => ({ ...embeddedPort(readSettings({})), ...{ port, host } });
  await t.rejects(requirePorts([at("127.0.0.1")]), { name: "UserError" });
  await t.rejects(requirePorts([at("0.0.0.0")]), { name: "UserError" });
  if (process.platform === "linux")
    await t.resolves(requirePorts([at("127.0.0.2")]), "the port is free at this address");
});
