import type { ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import t, { type Test } from "tap";
import { openPool, type Pool, sql, type Db } from "../../../../shared/database/pool.js";
import { accepted, tick } from "../../../../server/core/engine/tick.js";
import { makeLog } from "../../../../shared/log/log.js";
import { migrate } from "../../../../server/database/migrate.js";
import { move } from "../../../../server/cli/move/moving.js";
import { packagedFile } from "../../../../shared/config/package.js";
import { loadRegistry } from "../../../../shared/registry/load-registry.js";
import { addChannel } from "../../../../server/core/alerts/channels.js";
import { cliWith } from "../../../support/cli-input.js";
import { emptyDatabase, migratedDirectory } from "../../../support/database.js";
import { hostEmbedded } from "../../../support/database-host.js";
import { everythingDecided } from "../../../support/decisions.js";
import { claim, expand, settle } from "../../../support/alert-dispatch.js";
import { ago, measured, decide, pastIncident } from "../../../support/fleet.js";
import { member } from "../../../support/member.js";
import { randomFrom, insertRaw, samplesWithin } from "../../../support/random-samples.js";
import { addedUp, compressAll, retain, allLevels, dayMs, hourMs } from "../../../support/rollup-upkeep.js";
import { sealing } from "../../../support/alerts.js";
import { notice, said, whole } from "../../../support/stored-notices.js";
import { line, listed } from "../../../support/stored-transfers.js";

/** Tables that record up to when hours are rolled up. */
const hourMarks = ["hours_kept", "added_up"];

const log = makeLog("test", "warn");
const registry = await loadRegistry(packagedFile("registry/exchanges.json"));
/** Kept as long as samples, by whole chunks. */
const weekLevels = ["rest_hour", "stream_hour", "latency_hour", ...addedUp];
const kills = Number(process.env.MOVE_KILLS ?? 1);

void t.test("a move that is killed repeatedly", async (t) => {
  const directory = await migratedDirectory(t);
  const host = await hostEmbedded(directory);
  const source = poolOf(t, host.url);
  await makePast(source);
  const before = await everythingIn(source);
  const openHours = await openHoursOf(source);
  const rawFrom = await oldestChunk(source);
  const begun = new Date();
  const url = await emptyDatabase(t);
  const env = { DATABASE_URL: host.url, LOG_LEVEL: "error" };

  const target = poolOf(t, url);
  const random = randomFrom(3);
  let lastCopied = "";
  for (let left = kills; left > 0; left--) {
    const windows = 2 + Math.floor(random() * 12);
    const ended = await cliWith(t, ["move", "--to", url], env, "", (child) => {
      void killAfter(windows, child, target);
    });
    if (ended.code !== null) throw new Error(ended.err || "it was not killed");
    const copied = await copiedUpTo(target);
    t.not(copied, lastCopied, "the kill interrupted the copying, and the next run continues");
    lastCopied = copied;
  }

  await t.test("is finished by the next run", async (t) => {
    // the old service and its database are stopped: the test hosts the database
    await source.close();
    await host.stop();
    const hosting = { DATA_DIR: directory, LOG_LEVEL: "error" };
    const { code, out, err } = await cliWith(t, ["move", "--to", "-"], hosting, `${url}\n`);
    t.equal(code, 0, err);
    const sums = [...out.matchAll(/^(\w+) +(\d+) +[0-9a-f]{16}$/gm)];
    t.strictSame(
      Object.fromEntries(sums.map(([, part, rows]) => [part, Number(rows)])),
      Object.fromEntries(Object.entries(before).map(([part, rows]) => [part, rows.length])),
    );
    t.match(out, /both sides agree/);
  });

  await t.test("copies every row once, unchanged", async (t) => {
    sameButForNewHours(t, await everythingIn(target), before, "every row");
    t.ok(openHours.length > 0);
    t.strictSame(await openHoursOf(target), openHours, "open hours are copied");
    t.ok(before["alert_event"]!.length > 0);
    t.strictSame(await compressAll(target, begun), [], "all due chunks are compressed");
    t.strictSame(await oldestChunk(target), rawFrom, "no chunk begins earlier than in the source");
    t.ok(before["sample_minute"]!.length > before["venue_day"]!.length);
  });

  const again = poolOf(t, await hostOf(t, directory));
  await t.test("finds everything copied when it runs again", async (t) => {
    const moved = await move({ source: again, sourceIsOurs: false, target, registry, log });
    t.ok(moved!.finishedBefore! > begun);
    sameButForNewHours(t, await everythingIn(target), before, "every row");
  });

  await t.test("leaves history that no refresh erases", (t) => historyStays(t, target));
  await t.test("continues the ids", async (t) => {
    const [row] = await target.query<{ next: number; newest: number }>(sql`
      select nextval(pg_get_serial_sequence('incident', 'incident_id')) as next, max(incident_id) as newest from incident
    `);
    t.ok(row!.next > row!.newest, `${row!.next} after ${row!.newest}`);
  });
  await t.test("lets the engine continue as in the source", (t) => goesOn(t, again, target));
  await t.test("lets alerts continue, old and new", (t) => alertsGoOn(t, again, target));
});

void t.test("a move refuses", async (t) => {
  const sourceUrl = await hostOf(t, await migratedDirectory(t));
  const source = poolOf(t, sourceUrl);
  await measured(source, { venue: "okx", from: ago(60), to: ago(20) });
  const url = await emptyDatabase(t);
  const target = poolOf(t, url);
  /** @param until the step before which the move is stopped */
  const moveTo = (until?: string, to = target) => {
    const stopping = new AbortController();
    return move({
      ...{ source, sourceIsOurs: false, target: to, registry, log },
      signal: stopping.signal,
      onProgress: (step) => {
        if (until && step.startsWith(until)) stopping.abort();
      },
    });
  };

  await t.test("a running service", async (t) => {
    const probe = member(source);
    await probe.renew();
    await source.file("take_or_renew_lease", ["engine", "core 1", 60_000, null]);
    await t.rejects(moveTo(), {
      name: "UserError",
      message: /a core leads \(core 1\); a probe of us-east measures.* Stop core and the probes/,
    });
    await probe.leave();
    await source.query(sql`update leader set expires_at = now()`);
  });

  await t.test("source and target that are the same database", async (t) => {
    await t.rejects(moveTo(undefined, source), { message: /this is the source database or a copy of it/ });
  });

  await t.test("a target that has a history", async (t) => {
    await migrate(target, registry, log);
    await target.query(sql`insert into rules_in_force (holds_from, version, rules) values (now(), '1.2.3', '{}')`);
    await t.rejects(moveTo(), { message: /already has a history \(rules_in_force has rows\)/ });
    await target.script(`delete from rules_in_force`);
  });

  await t.test("rows that differ", async (t) => {
    // rows that a migration created are no history
    t.equal(await moveTo("comparing"), null, "the move was stopped");
    t.match(
      await target.file("take_or_renew_lease", ["engine", "core 2", 60_000, null]),
      [{ fence: null }],
      "the target has no leader while a move is unfinished",
    );
    t.strictSame(await target.query(sql`select from region`), [], "no probe can deliver to the target");
    await target.script(
      `update sample set latency_us = latency_us + 1
       where ctid = (select ctid from sample where latency_us is not null limit 1)`,
    );
    await t.rejects(moveTo(), {
      name: "UserError",
      message: /sample from 20.*: (\d+) rows on both sides, but they differ/,
    });
    await target.script(`delete from sample where latency_us is null`);
    await t.rejects(moveTo(), { message: /sample from 20.*: \d+ rows in the source, \d+ in the target/ });
  });

  await t.test("a source that changes between two runs", async (t) => {
    await measured(source, { venue: "okx", from: ago(15), to: ago(0) });
    await t.rejects(moveTo(), { message: /has changed since the move began/ });
  });

  await t.test("an invalid address", async (t) => {
    const none = await cliWith(t, ["move", "--to", "http://x"], {});
    t.match(none, { code: 2, err: /move --to: expected postgres:/ });
    const nobody = await cliWith(t, ["move", "--to", "postgres://u:secret@127.0.0.1:1/x"], { DATABASE_URL: sourceUrl });
    t.match(nobody, { code: 2, err: /nothing listens there; start it, or correct --to/ });
    t.notMatch(nobody.err, "secret");
  });
});

/** Kills the move once it has copied this many more windows. */
async function killAfter(windows: number, child: ChildProcess, target: Pool): Promise<void> {
  let last = await copiedUpTo(target);
  for (let left = windows; left > 0 && child.exitCode === null;) {
    await sleep(5);
    const copied = await copiedUpTo(target);
    if (copied !== last) left -= 1;
    last = copied;
  }
  child.kill("SIGKILL");
}

/** What a move has recorded as copied; empty before it began. */
async function copiedUpTo(target: Pool): Promise<string> {
  const [begun] = await target.query<{ here: boolean }>(sql`select to_regclass('moving.done') is not null as here`);
  if (!begun!.here) return "";
  const [done] = await target.query<{ all: string }>(
    sql`select coalesce(string_agg(d::text, ' ' order by part), '') as all from moving.done d`,
  );
  return done!.all;
}

/** Neither a routine refresh, nor one of the widest windows, nor a direct call of TimescaleDB's own procedure. */
async function historyStays(t: Test, target: Pool): Promise<void> {
  const before = await historyOf(target);
  const now = new Date();
  await target.query(sql`call upkeep.refresh_late(${now})`);
  await target.query(sql`call upkeep.refresh_all('-infinity', ${now})`);
  sameButForNewHours(t, await historyOf(target), before, "of routine");
  for (const level of ["sample_minute", "sample_hour"])
    await target.query(sql`call refresh_continuous_aggregate(${level}::regclass, null, null)`);
  sameButForNewHours(t, await historyOf(target), before, "after TimescaleDB's own procedure");
  await retain(target, now);
  const left = await historyOf(target);
  await target.query(sql`call upkeep.refresh_all('-infinity', ${now})`);
  sameButForNewHours(t, await historyOf(target), left, "after old chunks were dropped");
  same(t, lasting(left), lasting(before), "nothing else was dropped");
}

function lasting(history: Record<string, string[]>): Record<string, string[]> {
  const passing = [...weekLevels, ...hourMarks];
  return Object.fromEntries(Object.entries(history).filter(([level]) => !passing.includes(level)));
}

/**
 * Two to five minutes after an hour's end the next refresh stores and adds up its rows: if that happened meanwhile,
 * rows of a week are not compared.
 */
function sameButForNewHours(
  t: Test,
  found: Record<string, string[]>,
  before: Record<string, string[]>,
  name: string,
): void {
  const isSameHour = hourMarks.every((mark) => found[mark]!.join() === before[mark]!.join());
  if (isSameHour) same(t, found, before, name);
  else same(t, lasting(found), lasting(before), name);
}

/** New samples, including late ones, give both databases the same states and roll-ups. */
async function goesOn(t: Test, source: Pool, target: Pool): Promise<void> {
  const [late, from, at] = [ago(2 * 86_400), ago(19), ago(0)];
  for (const db of [source, target]) {
    const good = { from, to: at };
    await measured(db, good);
    await measured(db, { ...good, venue: "okx", component: "rest:ticker", fault: "http" });
    await measured(db, { from: new Date(+late - 60_000), to: late, venue: "okx" });
    await db.query(sql`call upkeep.refresh_all(${late}, ${at})`);
    accepted(await tick(db, at));
  }
  t.strictSame(await everythingDecided(target), await everythingDecided(source));
  // how many hours of a week have been dropped depends on chunks and on the time of day
  same(t, lasting(await historyOf(target)), lasting(await historyOf(source)), "both have the same roll-ups");
}

/** Sends until no alert waits; the dispatcher dies once meanwhile. */
async function alertsGoOn(t: Test, source: Pool, target: Pool): Promise<void> {
  const nowMs = Date.now();
  const attempted: string[][] = [];
  for (const db of [source, target]) {
    await expand(db, at(0));
    const left = await claim(db, at(0));
    t.equal(left.length, 1, "one alert at a time");
    for (let minute = 5; ; minute += 5) {
      const attempts = await claim(db, at(minute));
      if (attempts.length === 0) break;
      await settle(db, at(minute), attempts, "delivered");
    }
    attempted.push(await attemptsIn(db));
  }
  t.match(attempted[0], [
    /^kraken-\S+ opened delivered lost$/,
    /^kraken-\S+ opened delivered delivered$/,
    /^okx-\S+ opened delivered delivered$/,
  ]);
  t.strictSame(attempted[1], attempted[0]);

  function at(minute: number): Date {
    return new Date(nowMs + minute * 60_000);
  }
}

/** One line for each attempt, in order: its result and its event. */
async function attemptsIn(db: Pool): Promise<string[]> {
  const rows = await db.query<{ line: string }>(sql`
    select concat_ws(' ', i.slug, e.kind, d.state, a.result) as line
    from delivery_attempt a
    join delivery d using (delivery_id)
    join alert_event e using (event_id)
    join incident i using (incident_id)
    order by a.attempt_id
  `);
  return rows.map(({ line }) => line);
}

/** The newest count of each open hour. */
function openHoursOf(pool: Pool): Promise<unknown[]> {
  return pool.query(sql`
    select distinct on (hour, venue_id) hour, venue_id, answers, p50_us from open_hour order by hour, venue_id, holds_from desc
  `);
}

/** When the oldest chunk of samples begins; upkeep treats nothing earlier as backed by samples. */
async function oldestChunk(pool: Pool): Promise<Date> {
  const [row] = await pool.query<{ at: Date }>(sql`
    select min(range_start) as at from timescaledb_information.chunks where hypertable_name = 'sample'
  `);
  return row!.at;
}

async function hostOf(t: Test, directory: string): Promise<string> {
  const { url, stop } = await hostEmbedded(directory);
  t.teardown(stop);
  return url;
}

function poolOf(t: Test, url: string): Pool {
  const pool = openPool(url, { applicationName: "test", log });
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= pool.close());
  t.teardown(close);
  return { ...pool, close };
}

/**
 * Creates roll-ups of two months, whose raw samples are kept from the middle of a day on; an open incident with a
 * waiting alert; past incidents, one of them retracted; notices, a probe that has gone, and a channel.
 */
async function makePast(pool: Pool): Promise<void> {
  const midnight = Math.floor(Date.now() / dayMs) * dayMs;
  const lastDay = midnight - 8 * dayMs;
  const long = [60, 20].map((days) => midnight - days * dayMs);
  const dropped = [...long, lastDay + hourMs, lastDay + 5 * hourMs];
  const recent = [3, 1].map((days) => midnight - days * dayMs + hourMs);
  const random = randomFrom(5);
  const hours = [...dropped, lastDay + 7 * hourMs, ...recent];
  for (const ms of hours) await insertRaw(pool, samplesWithin(random, new Date(ms), 6, [1, 2, 3, 4, 9], [1, 2, 3]));
  for (const ms of hours) await pool.query(sql`call upkeep.refresh_all(${new Date(ms)}, ${new Date(ms + hourMs)})`);
  await pool.query(sql`call upkeep.retain(${new Date(lastDay + 8 * dayMs + 6 * hourMs)})`);
  await compressAll(pool, new Date(midnight - 2 * dayMs));

  const gone = member(pool, { unmeasured: { late: 3 } });
  await gone.renew();
  await gone.leave();
  await addChannel(pool, sealing, {
    ...{ format: "native", serviceRegion: null, description: "über 'alles'" },
    credential: { text: "https://hooks.example.com/1", shownAs: "hooks.example.com" },
    ...{ floor: "degraded", venues: ["okx", "kraken"], categories: null, onMaintenance: "quiet", open: false },
    transfers: ["BTC", "USDT"],
  });
  const past = { venue: "okx", component: "rest:ticker", minutes: 7 };
  await pastIncident(pool, { ...past, startedAt: new Date(midnight - 50 * dayMs) });
  await pastIncident(pool, { ...past, startedAt: new Date(midnight - 40 * dayMs), retracted: true });
  await said(pool, "kraken", ago(200), [
    whole(notice("a", ago(9_000), { title: 'Late "deposits", {and} \\ so\non' }), notice(null, ago(200_000))),
  ]);
  for (const [days, state] of [
    [40, "open"],
    [38, "paused"],
    [3, "open"],
  ] as const)
    await listed(pool, "gate", new Date(midnight - days * dayMs), [line("BTC", "BTC", state)]);
  await pool.query(sql`call upkeep.refresh('transfer_day', null, date_trunc('day', now()), unasked => true)`);
  await pool.query(sql`call upkeep.refresh_transfers(now())`);
  const newest = { from: ago(100), to: ago(0) };
  await measured(pool, newest);
  await measured(pool, { ...newest, venue: "kraken", component: "rest:ticker", fault: "timeout" });
  await decide(pool, ago(60));
  await decide(pool, ago(20));
  // includes the hours of finished days, which routine upkeep leaves out: a move rolls them up
  await pool.query(sql`call upkeep.refresh_all('-infinity', now())`);
}

/** Returns every row of the roll-ups as text, and up to when those of a week are kept and added up. */
function historyOf(db: Db): Promise<Record<string, string[]>> {
  return rowsOf(db, [...allLevels, ...hourMarks]);
}

/** Returns every row of all data as text, except the count of upkeep's changes to the past since the last tick. */
async function everythingIn(db: Db): Promise<Record<string, string[]>> {
  const tables = await db.query<{ name: string }>(sql`
    select relname as name from pg_class
    where relnamespace = 'venuewatch'::regnamespace and relkind = 'r' and relname not in ('migration', 'definition', 'leader', 'timeline', 'typical_week', 'open_hour')
    order by 1
  `);
  return rowsOf(db, [...tables.map(({ name }) => name), ...allLevels, "transfer_day"]);
}

async function rowsOf(db: Db, names: string[]) {
  const all: Record<string, string[]> = {};
  for (const name of names) {
    // reads columns, not the row: a table of the target has no record of dropped columns
    const rows = await db.text<{ row: string }>(
      `select (to_jsonb(r) - 'revision')::text as row from venuewatch.${name} r order by 1`,
      [],
    );
    all[name] = rows.map(({ row }) => row);
  }
  return all;
}

/** Compares some thousand rows. A comparison by tap would take a second, so tap only sees what differs. */
function same(t: Test, found: object, expected: object, name: string): void {
  if (isDeepStrictEqual(found, expected)) t.pass(name);
  else t.strictSame(found, expected, name);
}
