import { databaseUrlOf, readSettings } from "../../shared/config/settings.js";
import { connect } from "../../shared/database/pool.js";
import { makeLog } from "../../shared/log/log.js";
import { UserError } from "../../shared/process/user-error.js";
import { instantExpected, parseInstant } from "../../shared/text/instant.js";
import { replayText, totalsOf } from "../core/engine/replay-report.js";
import { replay, type ReplayOptions } from "../core/engine/replay.js";
import { readRuleOverrides } from "../core/engine/rule-overrides.js";
import { runToEnd } from "../process/lifecycle.js";
import type { Given, Options } from "./command.js";

export const help = `Decides a past period again from the stored samples, with other rules or the same ones. Prints the
resulting incidents and how they differ from the recorded ones. Recorded data do not change: it works on copies in a
separate schema, which it drops afterwards. With the same rules there is no difference.

It uses the present venues, components, cadences and regions. With --venue it is faster, and takes impaired regions
from the record, since one venue cannot show them. Retractions by operators are repeated at the same time.`;

export const options = {
  from: { type: "string", help: "start of the period, like 2026-01-31T12:00:00Z" },
  to: {
    type: "string",
    help: "end of the period (default: the engine's latest decision)",
  },
  rules: {
    type: "string",
    help: `a file with the rules to try, {"openingBadRun": 2}, or a response of /v1/thresholds (default: the present
rules)`,
  },
  venue: { type: "string", help: "decide only this venue" },
  json: { type: "boolean", help: "print JSON" },
} satisfies Options;

/**
 * Copying a part of a large compressed chunk takes seconds. Without a limit, a statement on a server that vanished
 * would wait for a quarter of an hour.
 */
const statementTimeoutMs = 120_000;

export async function run({ values }: Given): Promise<void> {
  const { from, to, venue, rules, json } = values as Partial<Record<keyof typeof options, string>>;
  const period = {
    from: instantOf("--from", from),
    to: to === undefined ? null : instantOf("--to", to),
  };
  const others = rules === undefined ? {} : await readRuleOverrides(rules);
  const settings = readSettings();
  const log = makeLog("replay", settings.logLevel);
  await runToEnd(log, async (life) => {
    const pool = await connect(databaseUrlOf(settings), {
      applicationName: "replay",
      log,
      max: 1,
      statementTimeoutMs,
    });
    life.onClose("database connection", pool.close);
    const stopping = new AbortController();
    const replaying = replay(pool, {
      ...period,
      venue: venue ?? null,
      rules: others,
      log,
      signal: stopping.signal,
      ...(process.stderr.isTTY && { onProgress: showProgress() }),
    });
    life.onClose("replay", async () => {
      stopping.abort();
      // its error is reported where it is awaited
      await replaying.catch(() => {});
    });
    const done = await replaying;
    if (!done) return;
    process.stdout.write(json ? `${JSON.stringify({ ...done, totals: totalsOf(done) }, null, 2)}\n` : replayText(done));
  });
}

function instantOf(option: string, text: string | undefined): Date {
  const at = text === undefined ? null : parseInstant(text);
  if (at) return at;
  throw new UserError(
    `replay ${option}: expected ${instantExpected}, got ${text === undefined ? "nothing" : JSON.stringify(text)}`,
  );
}

/** Overwrites the same line, and clears it at the end. */
function showProgress(): NonNullable<ReplayOptions["onProgress"]> {
  let shown = -1;
  return (share) => {
    const percent = Math.floor(share * 100);
    if (percent === shown) return;
    shown = percent;
    process.stderr.write(`\r\x1b[K${percent < 100 ? `replaying, ${percent} %` : ""}`);
  };
}
