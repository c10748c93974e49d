/** The embedded database keeps few pages in memory, and a build of PostgreSQL whose command line is not known is refused. */
import t from "tap";
import { Client } from "pg";
import { startEmbedded } from "../server/embedded/embedded.js";
import { limitSharedBuffers } from "../server/embedded/shared-buffers.js";
import { makeLog } from "../server/log.js";

void t.test("shared_buffers of a database that runs", async (t) => {
  const embedded = await startEmbedded({
    ...{ dataDir: t.testdir(), port: 0 },
    log: makeLog("database", "info", () => {}),
  });
  t.teardown(() => embedded.close());
  const client = new Client({ connectionString: embedded.url });
  await client.connect();
  t.teardown(() => client.end());
  const { rows } = await client.query("show shared_buffers");
  t.same(rows, [{ shared_buffers: "32MB" }]);
});

void t.test("the command line in the module", async (t) => {
  const line = "work_mem=4MB\0shared_buffers=128MB\0wal_buffers=4MB\0";
  const code = Buffer.from(line);
  limitSharedBuffers(code);
  t.equal(
    code.toString(),
    "work_mem=4MB\0shared_buffers=32MB\0\0wal_buffers=4MB\0",
  );

  for (const [other, found] of [
    ["shared_buffers=64MB\0", "never"],
    [line + line, "twice or more"],
  ] as const) {
    const code = Buffer.from(other);
    t.throws(() => limitSharedBuffers(code), {
      message: new RegExp(
        `got it ${found}: this build of PostgreSQL is another`,
      ),
    });
    t.equal(code.toString(), other, "is left as it is");
  }
});
