import { createServer } from "node:net";
import t from "tap";
import { makeDataDir } from "../../../server/process/all-programs.js";
import { listen } from "../../../server/process/ports.js";
import { UserError } from "../../../shared/process/user-error.js";

void t.test("a port in use is reported in a sentence that names the setting", async (t) => {
  const first = createServer();
  t.teardown(() => first.close());
  const port = await listen(first, 0, "127.0.0.1", "PORT");
  t.ok(port > 0, "0 becomes a real port");
  const second = createServer();
  await t.rejects(
    listen(second, port, "127.0.0.1", "HEALTH_PORT"),
    new UserError(`port ${port} is in use by another program: stop it, or set HEALTH_PORT to a free port`),
  );
});

void t.test("an address that this machine does not have names the setting", async (t) => {
  for (const [port, host] of [
    ["PORT", "HOST"],
    ["HEALTH_PORT", "HEALTH_HOST"],
  ] as const)
    await t.rejects(listen(createServer(), 0, "192.0.2.1", port), {
      name: "UserError",
      message: `this machine has no address 192.0.2.1 to listen on: set ${host} to one that it has, or to 0.0.0.0 for all`,
    });
});

void t.test("any other failure to listen is unchanged", async (t) => {
  const server = createServer();
  await listen(server, 0, "127.0.0.1", "PORT");
  await t.rejects(listen(server, 0, "127.0.0.1", "PORT"), { code: "ERR_SERVER_ALREADY_LISTEN" });
  server.close();
});

void t.test("a data directory is created where it is missing", async (t) => {
  const path = `${t.testdir({})}/new/data`;
  await makeDataDir(path);
  await t.resolves(makeDataDir(path), "and used as it is where it exists");
});

void t.test("a data directory that cannot be written is reported in a sentence", async (t) => {
  const path = `${t.testdir({ file: "not a directory" })}/file/data`;
  await t.rejects(
    makeDataDir(path),
    new UserError(
      `the data directory ${path} cannot be written (ENOTDIR): make it writable for this user, or set DATA_DIR to another directory`,
    ),
  );
});

const skip = process.getuid?.() === 0 && "root may write everywhere";
void t.test("another user's directory is refused at the start, not at the first write", { skip }, async (t) => {
  await t.rejects(makeDataDir("/"), { name: "UserError" });
});
