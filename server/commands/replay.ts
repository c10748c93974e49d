import type { Given, Options } from "../cli/command.js";
import { connect } from "../../shared/database/pool.js";
import { readRuleOverrides } from "../engine/rule-overrides.js";
import { replay, type ReplayOptions } from "../engine/replay.js";
import { replayText, totalsOf } from "../engine/replay-report.js";
import { instantExpected, parseInstant } from "../../shared/text/instant.js";
import { runToEnd } from "../process/lifecycle.js";
import { makeLog } from "../../shared/log/log.js";
import { databaseUrlOf, readSettings } from "../../shared/config/settings.js";
import { UserError } from "../../shared/process/user-error.js";

export const help = `Decides a past period once more from the samples that are kept, by other rules or by the same ones, and prints the
incidents that they give and how these differ from the recorded ones. Nothing that is recorded changes: it works on copies
in a schema of its own, which is gone afterwards. By the same rules there is no difference.

Venues, components, cadences and regions are those of now. With --venue it is quicker, and impaired regions are as they
were recorded: one venue cannot show them. What operators retracted by hand is retracted here too, at the same time.`;

export const options = {
  from: { type: "string", help: "where it begins, like 2026-01-31T12:00:00Z" },
  to: {
    type: "string",
    help: "where it ends (default: as far as the engine has decided)",
  },
  rules: {
    type: "string",
    help: `a file of the rules to try, {"openingBadRun": 2}, or an answer of /v1/thresholds (default: the present rules)`,
  },
  venue: { type: "string", help: "decide this venue alone" },
  json: { type: "boolean", help: "print JSON" },
} satisfies Options;

/**
 * Copying a piece of a large compressed chunk takes seconds. On a server that vanished, a statement would wait for a
 * quarter of an hour.
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
      // what is wrong with it is told by whoever awaits it
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

/** A line that is written over, and gone at the end. */
function showProgress(): NonNullable<ReplayOptions["onProgress"]> {
  let shown = -1;
  return (share) => {
    const percent = Math.floor(share * 100);
    if (percent === shown) return;
    shown = percent;
    process.stderr.write(`\r\x1b[K${percent < 100 ? `replaying, ${percent} %` : ""}`);
  };
}
