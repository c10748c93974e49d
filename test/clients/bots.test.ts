/**
 * The example bots of the clients, as programs, against the real service: they trade, pause in an outage, resume, pause
 * while the service is gone, and resume.
 */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import t, { type Test } from "tap";
import { packagedFile } from "../../shared/config/package.js";
import { serve } from "../support/api.js";
import { migratedDatabase } from "../support/database.js";
import { ago, decide, decideThrough, measured } from "../support/fleet.js";
import { pythonMissing, pythonPath } from "../support/python.js";
import { until } from "../support/until.js";

interface Bot {
  name: string;
  lines: string[];
  /** The lines that it logged. */
  logged: string[];
}

function startBot(t: Test, name: string, command: string, args: string[]): Bot {
  const program = spawn(command, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, PYTHONPATH: pythonPath(), PYTHONDONTWRITEBYTECODE: "1" },
  });
  t.teardown(() => program.kill());
  const bot: Bot = { name, lines: [], logged: [] };
  createInterface(program.stdout).on("line", (line) => bot.lines.push(line));
  createInterface(program.stderr).on("line", (line) => bot.logged.push(line));
  return bot;
}

/** Waits until the last line of every bot matches. */
async function untilAll(bots: Bot[], last: RegExp): Promise<void> {
  try {
    await until(() => bots.every(({ lines }) => last.test(lines.at(-1) ?? "")));
  } catch (error) {
    throw new Error(`${String(last)} after ${JSON.stringify(bots)}`, { cause: error });
  }
}

void t.test("the bots pause and resume", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  await measured(pool, { from: ago(250), to: ago(0) });
  await decide(pool, ago(150));
  const first = await serve(t, { pool, registry });
  const url = `http://127.0.0.1:${first.port}`;
  const script = packagedFile("clients/typescript/dist/examples/pausing-bot.js");
  const bots = [startBot(t, "TypeScript", process.execPath, [script, url, "kraken"])];
  if (pythonMissing) t.comment(`without the bot in Python: ${pythonMissing}`);
  else bots.push(startBot(t, "Python", "python3", ["clients/python/examples/pausing_bot.py", url, "kraken", "0.05"]));
  await untilAll(bots, /^trading: kraken is /);

  await measured(pool, { from: ago(145), to: ago(0), venue: "kraken", fault: "timeout" });
  await decideThrough(pool, ago(140), ago(115));
  await untilAll(bots, /^paused: outage/);

  await measured(pool, { from: ago(110), to: ago(0), venue: "kraken" });
  await decideThrough(pool, ago(100), ago(20));
  // it may still be degraded, which is no reason to pause
  await untilAll(bots, /^trading: kraken is /);

  await first.close();
  await untilAll(bots, /^paused: GET /);
  const second = await serve(t, { pool, registry, port: first.port });
  await untilAll(bots, /^trading: kraken is /);
  t.equal(second.port, first.port);

  for (const { name, lines } of bots) {
    const words = lines.map((line) => line.split(":")[0]);
    const turns = words.filter((word, at) => word !== words[at - 1]);
    t.strictSame(turns, ["paused", "trading", "paused", "trading", "paused", "trading"], name);
  }
});
