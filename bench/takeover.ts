/**
 * Measures how long nothing is decided when the leading core is killed. Two cores run in separate processes at their
 * usual pace.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Pool } from "../shared/database/pool.js";
import { rulesRow } from "../shared/rules/engine-rules.js";
import { packagedFile } from "../shared/config/package.js";
import { until } from "../test/support/until.js";
import { type Figure, spreadOf } from "./figure.js";
import { openStage } from "./stage.js";

const times = 10;
const withinMs = 30_000;

export async function benchTakeover(): Promise<Figure[]> {
  const { pool, url, close } = await openStage();
  const cores = [startCore(url), startCore(url)];
  try {
    const tookMs = [];
    for (let i = 0; i < times; i++) {
      const afterMs = (i * rulesRow.step_ms) / times;
      tookMs.push(await killLeader(pool, url, cores, afterMs));
    }
    const floor = { value: 2 * rulesRow.step_ms, what: "promised: two ticks" };
    return [
      {
        what: `another core decides after the leader's death, p50 of ${times}`,
        value: spreadOf(tookMs).p50,
        unit: "ms",
        floor,
      },
      {
        what: "another core decides after the leader's death, at the latest",
        value: Math.max(...tookMs),
        unit: "ms",
        floor,
      },
    ];
  } finally {
    for (const core of cores) core.kill("SIGKILL");
    await close();
  }
}

function startCore(url: string): ChildProcess {
  return spawn(process.execPath, [packagedFile("dist/test/support/core-process.js"), url], { stdio: "ignore" });
}

interface Led {
  holder: string;
  ticked_at: Date | null;
}

/**
 * Returns the milliseconds from the death of the leader until the other core has decided an instant. The other core is
 * already running.
 */
async function killLeader(
  pool: Pool,
  url: string,
  cores: ChildProcess[],
  /** How long the leader lives after an instant, roughly. */
  afterMs: number,
): Promise<number> {
  const led = async () => {
    const [row] = await pool.text<Led>(
      "select l.holder, c.ticked_at from leader l left join engine_clock c on true where l.office = 'engine'",
      [],
    );
    return row;
  };
  const isOf = (core: ChildProcess, holder: string) => holder.split(":")[1] === String(core.pid);

  // both run, and the leader has decided an instant
  await until(
    async () => {
      const now = await led();
      return Boolean(now?.ticked_at) && cores.some((one) => isOf(one, now!.holder));
    },
    withinMs,
    20,
  );
  await sleep(afterMs);
  const { holder } = (await led())!;
  const place = cores.findIndex((core) => isOf(core, holder));
  const dying = cores[place]!;
  const exited = once(dying, "exit");
  dying.kill("SIGKILL");
  await exited;
  const diedMs = performance.now();
  const last = (await led())!.ticked_at!;
  await until(
    async () => {
      const now = (await led())!;
      return now.holder !== holder && now.ticked_at! > last;
    },
    withinMs,
    5,
  );
  const tookMs = performance.now() - diedMs;
  cores[place] = startCore(url);
  return tookMs;
}
