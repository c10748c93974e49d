/** Dead connections to the database block no program: every connection of a program has a deadline. */
import { EventEmitter, once } from "node:events";
import t, { type Test } from "tap";
import { startShip } from "../../../probe/delivery/ship.js";
import { openPool } from "../../../shared/database/pool.js";
import { makeLog } from "../../../shared/log/log.js";
import { recordSamples } from "../../../server/database/record-samples.js";
import type { Sample } from "../../../shared/measurement/sample.js";
import { migratedDatabase } from "../../support/database.js";
import { makeGate } from "../../support/gate.js";
import { madeSample } from "../../support/made-sample.js";
import { runCli } from "../../support/run-script.js";
import { someSpool } from "../../support/spool.js";
import { serveTcp } from "../../support/tcp-server.js";
import { until } from "../../support/until.js";

const log = makeLog("test", "error");

void t.test("each program sends its statement timeout to the server", async (t) => {
  for (const [program, ms] of [
    ["probe", 30_000],
    ["core", 120_000],
    ["web", 10_000],
  ] as const)
    t.match((await greetingOf(t, program)).split("\0").join(" "), ` statement_timeout ${ms} `, program);
});

void t.test("a batch without an answer is delivered later", async (t) => {
  const database = await migratedDatabase(t);
  const gate = await makeGate(t, database.url);
  const pool = openPool(gate.url, { applicationName: "test", log, max: 2, statementTimeoutMs: 2_000 });
  t.teardown(() => pool.close());
  const record = (samples: readonly Sample[]) => recordSamples(pool, "us-east", samples);
  t.match(await record([]), { stored: 0 }, "connects");

  gate.mute();
  const lines: string[] = [];
  const ship = startShip({
    spool: await someSpool(t),
    record,
    log: makeLog("test", "warn", (line) => lines.push(line)),
    flushEveryMs: 10,
  });
  t.teardown(() => ship.close());
  ship.add(madeSample());
  const within = 30_000;
  await until(() => lines.some((line) => line.includes("read timeout")), within);
  await gate.open();
  await until(() => ship.status().shipped === 1, within);
});

/** Returns a program's first message to its database: the settings of the connection. */
async function greetingOf(t: Test, program: string): Promise<string> {
  const greeting = new EventEmitter();
  const port = await serveTcp(t, (socket) => socket.once("data", (bytes) => greeting.emit("came", bytes)));
  const came = once(greeting, "came") as Promise<[Buffer]>;
  const url = `postgres://user@127.0.0.1:${port}/db`;
  const script = runCli(t, [program], { DATABASE_URL: url, REGION: "us-east", PORT: "0" });
  const [bytes] = await came;
  script.kill("SIGKILL");
  await script.ended;
  return bytes.toString("latin1");
}
