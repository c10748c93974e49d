/**
 * Kills probes with SIGKILL at random moments, and before, during and after each operation on the spool's files, while
 * the database comes and goes. KILLS is the least number of kills; the test goes on until each fault point has killed.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import { sql } from "../../shared/database/pool.js";
import { packagedFile } from "../../shared/config/package.js";
import { migratedDatabase } from "../support/database.js";
import { type Gate, makeGate } from "../support/gate.js";
import { numberIn } from "../support/numbered-sample.js";
import { randomFrom } from "../support/random-samples.js";
import type { ShippingFault, ShippingOptions } from "../support/shipping-process.js";
import { deliverRest, spoolDirectory } from "../support/spool.js";

const kills = Number(process.env.KILLS ?? 16);
const probesAtOnce = 3;
const region = "us-east";
/** More than a probe can measure before it is killed. */
const perLife = 20_000;

const steps = ["open", "write", "truncate", "unlink", "record"] as const;
const moments = ["before", "during", "after"] as const;
const faultPoints: ShippingFault[] = steps.flatMap((step, i) =>
  moments.map((when, j) => ({ step, when, time: 1 + ((i + j) % 2) })),
);

void t.test(`${kills} kills lose no acknowledged sample`, async (t) => {
  const { pool, url } = await migratedDatabase(t);
  const gate = await makeGate(t, url);
  const directory = await spoolDirectory(t);
  const random = randomFrom(23);
  const acknowledged = new Set<number>();
  const left = [...faultPoints];
  const slotsFrom = Date.now() - 86_400_000;
  let lives = 0;
  let killed = 0;
  const isOver = () => killed >= kills && left.length === 0;

  const living = Array.from({ length: probesAtOnce }, async () => {
    while (!isOver()) {
      const first = perLife * lives++;
      const fault = random() < 0.2 ? null : (left.shift() ?? null);
      const options = { directory, region, first, slotsFrom, fault };
      const afterMs = fault ? 2_000 : 300 * random();
      const reached = await liveOnce(t, gate.url, options, afterMs, acknowledged);
      if (fault && !reached) left.push(fault);
      killed += 1;
    }
  });
  await Promise.all([...living, comeAndGo(gate, random, isOver)]);

  await deliverRest(directory, pool, region);
  const rows = await pool.query<{ number: number | null; times: number }>(sql`
    select ${numberIn(slotsFrom)} as number, count(*)::int as times from sample group by 1
  `);
  const found = new Set(rows.map(({ number }) => number));
  t.comment(`${killed} kills, ${acknowledged.size} samples acknowledged, ${found.size} delivered`);
  t.notOk(found.has(null), "every stored sample was measured");
  const twice = rows.filter(({ times }) => times !== 1);
  t.strictSame(twice, [], "no sample is stored twice");
  const lost = [...acknowledged].filter((number) => !found.has(number));
  t.strictSame(lost, [], "every acknowledged sample is stored");
  t.ok(acknowledged.size > kills);
});

/** Kills a probe that much after it is ready. @returns whether it had killed itself */
async function liveOnce(t: Test, url: string, options: ShippingOptions, afterMs: number, acknowledged: Set<number>) {
  const program = packagedFile("dist/test/support/shipping-process.js");
  const args = [program, url, JSON.stringify(options)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  t.teardown(() => child.kill("SIGKILL"));
  const died = once(child, "exit") as Promise<[number | null, string | null]>;
  const closed = once(child.stdout, "close");
  const lines = createInterface(child.stdout).on("line", (line) => {
    // "ready", or a line that the kill tore, is no acknowledgement
    const [, from, to] = /^(\d+) (\d+)$/.exec(line) ?? [];
    for (let n = Number(from); n <= Number(to); n += 1) acknowledged.add(n);
  });
  await Promise.race([once(lines, "line"), died]);
  await Promise.race([died, sleep(afterMs, undefined, { ref: false })]);
  child.kill("SIGKILL");
  const [code, signal] = await died;
  await closed;
  if (signal !== "SIGKILL") throw new Error(`expected SIGKILL to end the probe, it ended by ${signal ?? code}`);
  return !child.killed;
}

/** Most of the time the database is available. */
async function comeAndGo(gate: Gate, random: () => number, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await sleep(600 * random());
    const way = random();
    if (way < 0.4) gate.cutAtNextStatement();
    else if (way < 0.7) gate.mute();
    else await gate.shut();
    await sleep(300 * random());
    await gate.open();
  }
  await gate.open();
}
