import { once } from "node:events";
import { Client } from "pg";
import t from "tap";
import { startEmbedded } from "../server/embedded/embedded.js";
import * as wire from "../server/embedded/messages.js";
import { makeLog } from "../server/log.js";
import { connectWire } from "./wire-client.js";

const dataDir = t.testdir();
/** Errors are logged on purpose here. */
const log = makeLog("database", "error", () => {});

void t.test("who keeps the database and does nothing", async (t) => {
  const embedded = await startEmbedded({
    dataDir,
    port: 0,
    log,
    idleTransactionMs: 300,
    maxClients: 3,
  });
  t.teardown(() => embedded.close());
  const next = new Client(embedded.url);
  await next.connect();
  t.teardown(() => next.end());
  await next.query("create table note (name text)");
  const knocking = await connectWire(embedded.port);
  // oftener than the limit: that others come must not prolong it
  const knocks = setInterval(() => knocking.send(wire.sync()), 50);

  for (const [name, bytes] of [
    ["in a transaction", wire.query("begin; insert into note values ('x')")],
    ["without Sync", wire.parse("select 1")],
    [
      "with half a message in a transaction",
      Buffer.concat([wire.query("begin"), wire.query("commit").subarray(0, 7)]),
    ],
  ] as const) {
    const idle = await connectWire(embedded.port);
    await idle.until("Z");
    idle.send(bytes);
    const told = idle.until("E");
    const { rows } = await next.query("select * from note");
    t.same(rows, [], `${name}, is rolled back`);
    t.match((await told).at(-1)!.body.toString(), "C25P03", "and told why");
    if (!idle.socket.closed) await once(idle.socket, "close");
  }

  clearInterval(knocks);
  const third = await connectWire(embedded.port);
  await third.until("Z");
  const fourth = await connectWire(embedded.port);
  const refused = await fourth.until("E");
  t.match(refused[0]!.body.toString(), "C53300", "one too many is refused");
  knocking.socket.destroy();
  third.socket.destroy();
});

void t.test(
  "a statement without end is a crash that all learn of",
  async (t) => {
    const embedded = await startEmbedded({
      dataDir,
      port: 0,
      log,
      statementLimitMs: 5_000,
    });
    const [stuck, waiting] = [
      new Client(embedded.url),
      new Client(embedded.url),
    ];
    for (const client of [stuck, waiting]) {
      client.on("error", () => {});
      await client.connect();
    }
    await stuck.query(
      "create function endless(i int) returns int language plpgsql as 'begin return endless(i + 1); end'",
    );
    const told = t.rejects(stuck.query("select endless(1)"), { code: "57P02" });
    const toldToo = t.rejects(waiting.query("select 1"), { code: "57P02" });
    await t.rejects(embedded.failed, /longer than 5000 ms/);
    await Promise.all([told, toldToo]);
    await embedded.close();

    const again = await startEmbedded({ dataDir, port: 0, log });
    t.teardown(() => again.close());
    t.pass("the directory is free for a new start");
  },
);
