/** Ports are checked before anything starts: each is used once, and free. */
import { createServer } from "node:net";
import t from "tap";
import { listen } from "../../../shared/config/listen.js";
import { embeddedPort, portsOf, portsOfAll, requirePorts, type WantedPort } from "../../../server/process/ports.js";
import { readSettings } from "../../../shared/config/settings.js";
import { freePort } from "../../support/free-port.js";

const regions = ["a", "b", "c"];

/** None of these ports is opened: whether a port is free is another test. */
const anyFree = { PORT: "0", HEALTH_PORT: "0", EMBEDDED_PORT: "0" };

void t.test("`up` lists the ports on which it listens", (t) => {
  const wanted = portsOfAll(readSettings({ HEALTH_HOST: "10.8.0.1" }), regions);
  t.same(
    wanted.map(({ port, host, for: what }) => [port, host, what]),
    [
      [5433, "127.0.0.1", "the embedded database"],
      [8080, "127.0.0.1", "the public API"],
      [8081, "10.8.0.1", "health of core"],
      [8082, "10.8.0.1", "health of the probe of a"],
      [8083, "10.8.0.1", "health of the probe of b"],
      [8084, "10.8.0.1", "health of the probe of c"],
      [8085, "10.8.0.1", "health of web"],
    ],
  );
  const onServer = readSettings({ DATABASE_URL: "postgres://db/venues" });
  t.notOk(
    portsOfAll(onServer, regions).some(({ setting }) => setting === "EMBEDDED_PORT"),
    "the embedded database is not started with DATABASE_URL",
  );
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
  await t.rejects(
    requirePorts(portsOf(readSettings({ PORT: `${port}`, HEALTH_PORT: `${port}` }), "web")),
    { message: /^port \d+ is wanted twice, for the public API/ },
    "a single program cannot use a port twice either",
  );
  await t.resolves(
    requirePorts(portsOfAll(readSettings(anyFree), regions)),
    "0 means any free port, and may be set repeatedly",
  );
});

void t.test("all problems are listed at once", async (t) => {
  const other = createServer();
  t.teardown(() => other.close());
  const taken = await listen(other, 0, "127.0.0.1", "PORT");
  const settings = readSettings({ PORT: String(taken), EMBEDDED_PORT: String(taken), HEALTH_PORT: "65533" });
  const problems = await requirePorts(portsOfAll(settings, regions)).catch((error: Error) =>
    error.message.split("\n  "),
  );
  t.ok(problems);
  const [head, ...lines] = problems!;
  t.equal(head, "these ports cannot be used:");
  const shown = lines.join("\n");
  t.match(shown, `port ${taken} is wanted twice`);
  t.match(shown, `port ${taken} is in use by another program: stop it`);
  t.match(shown, "HEALTH_PORT: health of web would get port 65537, and the highest is 65535; set a lower HEALTH_PORT");
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
