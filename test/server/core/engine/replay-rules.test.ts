/** The report of a replay with other rules, computed by hand. */
import t, { type Test } from "tap";
import { type Pool, sql } from "../../../../shared/database/pool.js";
import { replay, type ReplayOptions } from "../../../../server/core/engine/replay.js";
import { replayText } from "../../../../server/core/engine/replay-report.js";
import { type RulesRow, rulesRow } from "../../../../shared/rules/engine-rules.js";
import { accepted, decideUpTo, tick } from "../../../../server/core/engine/tick.js";
import { makeLog } from "../../../../shared/log/log.js";
import { UserError } from "../../../../shared/process/user-error.js";
import { migratedDatabase } from "../../../support/database.js";
import { measured } from "../../../support/fleet.js";
import { runCli } from "../../../support/run-script.js";
import { after, fill, live, type Trouble, type World } from "../../../support/troubled-world.js";

const log = makeLog("test", "error");
const regions = ["eu-central", "us-east"];

/** Ticker fails every five seconds in two of three regions. */
function bad(venue: string, fromS: number, toS: number): Trouble {
  return { venue, regions, fromS, toS, as: "timeout" };
}

/**
 * With the present rules a minute of failures from +60 s on opens at +70, is an outage at +85, operational at +165, and
 * closed at +225. Every second sample bad opens nothing.
 */
const world: World = {
  startsAt: new Date("2026-01-15T12:00:00Z"),
  lastsS: 420,
  venues: ["okx", "gate", "kraken", "binance"],
  components: ["rest:ticker"],
  troubles: [
    bad("okx", 60, 120),
    bad("gate", 60, 70),
    // again within the recovery hold, and after it
    bad("kraken", 60, 120),
    bad("kraken", 200, 260),
    bad("binance", 60, 120),
    bad("binance", 260, 320),
  ],
  noise: 0,
  stepS: 5,
};

/** As decided live. */
const stepped = { step_ms: 5_000 };
/** No component flaps here. The hold of flapping ones sets the warm-up of a replay, which is half of its time. */
const quick = { ...stepped, flap_hold_ms: 60_000 };

void t.test("a replay with other rules", async (t) => {
  const { pool, url } = await migratedDatabase(t);
  await fill(pool, world);
  await live(pool, world, 0, world.lastsS);
  const whole = { from: world.startsAt, to: null, venue: null, log, rules: stepped };
  const lines = async (rules: Partial<RulesRow>) =>
    linesOf(await runReplay(pool, { ...whole, rules: { ...quick, ...rules } }));

  await t.test("reports incidents that open sooner", async (t) => {
    t.strictSame(await lines({ opening_bad_run: 2, degraded_bad_share: 0.1 }), [
      "binance-2026-01-15-rest-degraded  rest:ticker  opened 5 s earlier, closed 5 s later",
      "gate-2026-01-15-rest-degraded  rest:ticker  only in the replay: degraded, open for 1 min 55 s",
      "kraken-2026-01-15-rest-degraded  rest:ticker  opened 5 s earlier, closed 5 s later",
      "okx-2026-01-15-rest-degraded  rest:ticker  opened 5 s earlier, closed 5 s later",
      "binance-2026-01-15-rest-degraded-2  rest:ticker  opened 5 s earlier",
    ]);
  });

  await t.test("reports incidents with a shorter window", async (t) => {
    // 30 s after the last bad sample; with one of six bad it fails in part until then
    const sooner = "not escalated in the replay, closed 20 s earlier, opened as outage instead of degraded";
    t.strictSame(await lines({ window_ms: 30_000 }), [
      `binance-2026-01-15-rest-degraded  rest:ticker  ${sooner}; named binance-2026-01-15-rest-outage in the replay`,
      `kraken-2026-01-15-rest-degraded  rest:ticker  ${sooner}; named kraken-2026-01-15-rest-outage in the replay`,
      `okx-2026-01-15-rest-degraded  rest:ticker  ${sooner}; named okx-2026-01-15-rest-outage in the replay`,
      "binance-2026-01-15-rest-degraded-2  rest:ticker  not escalated in the replay, closed only in the replay, opened as outage instead of degraded; named binance-2026-01-15-rest-outage-2 in the replay",
    ]);
  });

  await t.test("reports incidents that open later, or never", async (t) => {
    t.strictSame(await lines({ opening_bad_run: 13 }), [
      "binance-2026-01-15-rest-degraded  rest:ticker  only recorded: not opened by these rules",
      // it fails again before three minutes are over, so that it fails in part
      "kraken-2026-01-15-rest-degraded  rest:ticker  opened 2 min 15 s later, escalated 2 min 20 s later",
      "okx-2026-01-15-rest-degraded  rest:ticker  only recorded: not opened by these rules",
      "binance-2026-01-15-rest-degraded-2  rest:ticker  only recorded: not opened by these rules",
    ]);
  });

  await t.test("reports incidents that close later", async (t) => {
    t.strictSame(await lines({ recovery_hold_ms: 120_000 }), [
      "binance-2026-01-15-rest-degraded  rest:ticker  not closed in the replay",
      "kraken-2026-01-15-rest-degraded  rest:ticker  not closed in the replay",
      "okx-2026-01-15-rest-degraded  rest:ticker  closed 1 min later",
      "binance-2026-01-15-rest-degraded-2  rest:ticker  only recorded: part of binance-2026-01-15-rest-degraded in the replay",
    ]);
  });

  await t.test("leaves out incidents that had opened before, unless their course changes", async (t) => {
    const rules = { ...stepped, opening_bad_run: 5 };
    const { lines } = await runReplay(pool, { ...whole, from: after(world, 100), venue: "okx", rules });
    t.match(lines[0], { verdict: "same", differences: [] });
  });

  await t.test("prints a summary", async (t) => {
    const text = replayText(
      await runReplay(pool, { ...whole, rules: { ...stepped, opening_bad_run: 13, catch_up_ms: 1 } }),
    );
    t.match(text, "Replay of 2026-01-15T12:00:00Z to 2026-01-15T12:07:00Z, all venues\n");
    t.match(text, "  openingBadRun 13 instead of 3 samples\n");
    t.match(text, "  catchUpMs 1 instead of 86400000 ms (no effect on a replay)\n");
    t.match(text, "85 instants decided in ");
    // 165 s of OKX, 305 of Kraken, 165 + 160 of Binance
    t.match(text, "recorded  4 incidents (0 retracted), 4 of them opened in the period, 13.3 incident minutes\n");
    t.match(text, "replayed  1 incidents (0 retracted), 1 of them opened in the period, 5.1 incident minutes\n");
    t.match(text, "0 same, 1 different, 3 only recorded, 0 only in the replay\n");
  });

  await t.test("marks incidents that operators retracted later", async (t) => {
    await pool.query(sql`
      update incident set retracted_at = closed_at + interval '1 day', retraction_reason = 'it was us' where slug ~ 'okx'
    `);
    const [okx] = linesOf(await runReplay(pool, { ...whole, venue: "okx" }));
    t.equal(okx, "okx-2026-01-15-rest-degraded  rest:ticker  same; retracted by hand: it was us");
  });

  await t.test("leaves out components that are no longer watched", async (t) => {
    await pool.query(sql`update venue set published = false where venue = 'kraken'`);
    const done = await runReplay(pool, whole);
    await pool.query(sql`update venue set published = true where venue = 'kraken'`);
    t.equal(done.unwatched, 1);
    t.match(replayText(done), "Left out: 1 recorded incident of a component that is no longer watched\n");
    t.ok(done.lines.every(({ verdict }) => verdict === "same"));
  });

  await t.test("ends on an abort, and leaves nothing behind", async (t) => {
    const stopping = new AbortController();
    const shares: number[] = [];
    const done = await replay(pool, {
      ...whole,
      signal: stopping.signal,
      onProgress: (share) => {
        shares.push(share);
        stopping.abort();
      },
    });
    t.equal(done, null);
    t.equal(shares.length, 1);
    t.strictSame(await scratchSchemas(pool), []);
  });

  await t.test("drops the remains of a killed replay, and nothing else", async (t) => {
    const schemas = ["venuewatch_replay_00000000000a", "venuewatch_replay_00000000000b", "venuewatch_replay_mine"];
    for (const schema of schemas) {
      await pool.query(sql`create schema ${sql.ident(schema)}`);
      await pool.query(sql`create table ${sql.ident(schema, "run")} (alive_at timestamptz)`);
      const minutes = schema.endsWith("b") ? 1 : 11;
      await pool.query(sql`insert into ${sql.ident(schema, "run")} values (now() - ${minutes} * interval '1 minute')`);
    }
    await runReplay(pool, { ...whole, to: after(world, 2) });
    t.strictSame(await scratchSchemas(pool), schemas.slice(1));
    for (const schema of schemas.slice(1)) await pool.query(sql`drop schema ${sql.ident(schema)} cascade`);
  });

  await t.test("does not write elsewhere if its tables are dropped", async (t) => {
    const before = await states(pool);
    let isDropped = false;
    const replaying = replay(pool, {
      ...whole,
      onProgress: async () => {
        if (isDropped) return;
        isDropped = true;
        const [schema] = await scratchSchemas(pool);
        await pool.query(sql`drop schema ${sql.ident(schema!)} cascade`);
      },
    });
    await t.rejects(replaying, { name: "UserError", message: /^This replay stalled for more than 10 minutes/ });
    t.strictSame(await states(pool), before);
  });

  await t.test("refuses what cannot be replayed", async (t) => {
    const at = (s: number) => after(world, s);
    const refused = (options: Partial<ReplayOptions>, message: RegExp | string) =>
      t.rejects(replay(pool, { ...whole, ...options }), { name: "UserError", message });
    const [noon, end] = ["2026-01-15T12:00:00Z", "2026-01-15T12:07:00Z"];
    await refused({ to: at(0) }, `--to must be later than --from, got --from ${noon} --to ${noon}`);
    await refused({ from: at(420) }, `--from ${end}: the engine has only decided up to ${end}; choose an earlier time`);
    await refused(
      { from: at(0.5), to: at(4.5) },
      /^The engine decides every 5000 ms, and no such instant lies between/,
    );
    await refused({ venue: "nyse" }, "--venue: unknown venue nyse; expected one of binance, kraken, okx, gate");
    await refused(
      { venue: "okx", rules: { impaired_min_venues: 2 } },
      "A region cannot be recognised as impaired by one venue alone: omit --venue to try impairedMinVenues",
    );
    await refused({ rules: { slow_multiple: 1e9 } }, /^One of the rules \(slowMultiple\) is too large and overflows/);
    t.strictSame(await scratchSchemas(pool), []);

    const { from, message } = await tooEarly(t, pool);
    t.match(message, /^--from \S+: samples are kept since /);
    await pool.query(sql`update engine_clock set ticked_at = ${at(10 * 86_400)}`);
    const dropped = await tooEarly(t, pool, 60_000);
    t.ok(dropped.from > from, "a partly dropped period is replayed in part");
    await pool.query(sql`update engine_clock set ticked_at = ${at(world.lastsS)}`);
  });

  await t.test("ends at the last decided instant", async (t) => {
    const done = await runReplay(pool, { ...whole, from: after(world, 410), to: after(world, 500) });
    t.equal(done.cut, true);
    t.strictSame(done.to, after(world, 420));
    t.match(replayText(done), "The replay ends there: the engine has not decided later instants\n");
  });

  await t.test("runs as a command", async (t) => {
    const folder = t.testdir({
      "rules.json": '{ "openingBadRun": 13 }',
      "thresholds.json": '{ "version": "1", "rules": [{ "name": "openingBadRun", "value": 13, "unit": "samples" }] }',
    });
    const cli = (...args: string[]) =>
      runCli(t, ["replay", "--from", "2026-01-15T12:00:00Z", ...args], { DATABASE_URL: url });
    const text = cli("--rules", `${folder}/rules.json`, "--venue", "okx");
    t.equal(await text.ended, 0, "differences do not change the exit code");
    t.match(text.output(), /^Replay of .*, okx\nRules changed:\n {2}openingBadRun 13/);

    const json = cli("--rules", `${folder}/thresholds.json`, "--venue", "okx", "--json");
    t.equal(await json.ended, 0);
    t.match(JSON.parse(json.output()), {
      venue: "okx",
      changed: [{ name: "openingBadRun", present: 3, tried: 13, unit: "samples" }],
      instants: 211,
      lines: [{ verdict: "only recorded", recorded: { slug: "okx-2026-01-15-rest-degraded" }, replayed: null }],
      totals: { recorded: { incidents: 1 }, replayed: { incidents: 0 }, verdicts: { same: 0 } },
    });

    const cut = cli();
    let ended = false;
    void cut.ended.then(() => (ended = true));
    while (!ended && (await scratchSchemas(pool)).length === 0);
    cut.kill("SIGINT");
    t.equal(await cut.ended, 130);
    t.strictSame(await scratchSchemas(pool), [], "Ctrl-C leaves no schema behind");
  });
});

void t.test("a replay of decisions by earlier rules", async (t) => {
  const { pool } = await migratedDatabase(t);
  t.equal(rulesRow.quorum_min_regions, 2);
  // one region was a quorum if it alone reported
  const earlier = { ...rulesRow, ...stepped, quorum_min_regions: 1 };
  const okx = { venue: "okx", component: "rest:ticker", regions: ["us-east"] };
  const at = (s: number) => after(world, s);
  await measured(pool, { ...okx, from: at(0), to: at(300) });
  await measured(pool, { ...okx, ...{ from: at(60), to: at(120), fault: "timeout" } });
  accepted(await tick(pool, at(0), { rules: earlier }));
  for await (const one of decideUpTo(pool, at(300), { rules: earlier })) accepted(one);
  const whole = { from: at(5), to: null, venue: null, log };
  t.strictSame(
    linesOf(await runReplay(pool, { ...whole, rules: quick })),
    ["okx-2026-01-15-rest-degraded  rest:ticker  only recorded: not opened by these rules"],
    "shows what the present rules change",
  );
  t.strictSame(
    linesOf(await runReplay(pool, { ...whole, rules: { ...quick, quorum_min_regions: 1 } })),
    ["okx-2026-01-15-rest-degraded  rest:ticker  same"],
    "shows what they do not change",
  );
});

async function runReplay(pool: Pool, options: ReplayOptions) {
  return (await replay(pool, options))!;
}

/** As printed, without times. */
function linesOf(done: Parameters<typeof replayText>[0]): string[] {
  return replayText(done)
    .split("\n")
    .filter((line) => line.startsWith("  2026-"))
    .map((line) => line.replace(/^ *\S+ +/, "").replace(/ {2,}/g, "  "));
}

async function scratchSchemas(pool: Pool): Promise<string[]> {
  const rows = await pool.query<{ name: string }>(sql`
    select nspname as name from pg_namespace where nspname like 'venuewatch\\_replay\\_%' order by nspname
  `);
  return rows.map(({ name }) => name);
}

async function states(pool: Pool): Promise<unknown> {
  const tables = ["engine_clock", "region_state", "component_state", "incident", "alert_event", "sample"];
  const digest = sql`count(*) as n, md5(string_agg(r::text, ' ' order by r::text)) as digest`;
  return Promise.all(tables.map((table) => pool.query(sql`select ${digest} from ${sql.ident(table)} r`)));
}

/** Begins at the oldest samples, or earlier. @returns the earliest possible start, from which the replay then works */
async function tooEarly(t: Test, pool: Pool, afterMs = -60_000) {
  const [chunk] = await pool.query<{ at: Date }>(sql`
    select min(range_start) as at from timescaledb_information.chunks where hypertable_name = 'sample'
  `);
  const from = new Date(+chunk!.at + afterMs);
  const error = await replay(pool, { from, to: null, venue: "okx", rules: {}, log }).then(
    () => new Error("was not refused"),
    (error: Error) => error,
  );
  t.ok(error instanceof UserError, error.message);
  const earliest = new Date(/earliest possible start is (\S+)/.exec(error.message)![1]!);
  const to = new Date(+earliest + 2000);
  t.ok(await replay(pool, { from: earliest, to, venue: "okx", rules: {}, log }));
  return { from: earliest, message: error.message };
}
