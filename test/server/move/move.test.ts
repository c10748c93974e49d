import type { ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import { openPool, type Pool, sql } from "../../../shared/database/pool.js";
import { accepted, tick } from "../../../server/engine/tick.js";
import { makeLog } from "../../../shared/log/log.js";
import { migrate } from "../../../server/database/migrate.js";
import { move } from "../../../server/move/move.js";
import { packagedFile } from "../../../shared/config/package.js";
import { loadRegistry } from "../../../shared/registry/load-registry.js";
import { cliWith } from "../../support/cli-input.js";
import { emptyDatabase, migratedDirectory } from "../../support/database.js";
import { hostEmbedded } from "../../support/database-host.js";
import { everythingDecided } from "../../support/decisions.js";
import { claim, expand, settle } from "../../support/dispatched.js";
import { ago, measured } from "../../support/fleet.js";
import { member } from "../../support/member.js";
import { everythingIn, historyOf, hourMarks, makePast } from "../../support/moving.js";
import { randomFrom } from "../../support/random-samples.js";
import { same } from "../../support/same.js";

const log = makeLog("test", "warn");
/** They live as long as samples, by whole chunks. */
const weekLevels = [...["rest_hour", "stream_hour", "latency_hour"], ...["component_hour", "venue_hour"]];
const kills = Number(process.env.MOVE_KILLS ?? 1);

void t.test("a move, killed again and again", async (t) => {
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
    t.not(copied, lastCopied, "it was killed while it copied, and goes on");
    lastCopied = copied;
  }

  await t.test("is finished by the next", async (t) => {
    // the old service is stopped, and so is its database: this hosts it
    await source.close();
    await host.stop();
    const { code, out, err } = await cliWith(
      t,
      ["move", "--to", "-"],
      {
        ...{ DATA_DIR: directory, LOG_LEVEL: "error" },
      },
      `${url}\n`,
    );
    t.equal(code, 0, err);
    const sums = [...out.matchAll(/^(\w+) +(\d+) +[0-9a-f]{16}$/gm)];
    t.strictSame(
      Object.fromEntries(sums.map(([, part, rows]) => [part, Number(rows)])),
      Object.fromEntries(Object.entries(before).map(([part, rows]) => [part, rows.length])),
    );
    t.match(out, /both sides agree/);
  });

  await t.test("and everything is there, once, as it was", async (t) => {
    sameButForNewHours(t, await everythingIn(target), before, "every row");
    t.ok(openHours.length > 0);
    t.strictSame(await openHoursOf(target), openHours, "hours that run");
    t.ok(before["alert_event"]!.length > 0);
    const [held] = await target.query<{ due: string | null }>(sql`select upkeep.compress_next(${begun}) as due`);
    t.equal(held!.due, null, "what is due is compressed");
    t.strictSame(await oldestChunk(target), rawFrom, "no chunk reaches back");
    t.ok(before["sample_minute"]!.length > before["venue_day"]!.length);
  });

  const again = poolOf(t, await hostOf(t, directory));
  await t.test("a second move finds all there", async (t) => {
    const registry = await loadRegistry(packagedFile("registry.json"));
    const moved = await move({
      ...{ source: again, sourceIsOurs: false, target, registry, log },
    });
    t.ok(moved!.finishedBefore! > begun);
    sameButForNewHours(t, await everythingIn(target), before, "every row");
  });

  await t.test("no refresh takes history for unbacked", (t) => historyStays(t, target));
  await t.test("ids go on where they were", async (t) => {
    const [row] = await target.query<{ next: number; newest: number }>(sql`
      select nextval(pg_get_serial_sequence('incident', 'incident_id')) as next, max(incident_id) as newest from incident
    `);
    t.ok(row!.next > row!.newest, `${row!.next} after ${row!.newest}`);
  });
  await t.test("the engine goes on as it would have", async (t) => {
    await goesOn(t, again, target);
  });
  await t.test("and so do alerts, of before and of now", async (t) => {
    await alertsGoOn(t, again, target);
  });
});

void t.test("what cannot be moved, or not there", async (t) => {
  const { source, url: sourceUrl } = await smallSource(t);
  const registry = await loadRegistry(packagedFile("registry.json"));
  const url = await emptyDatabase(t);
  const target = poolOf(t, url);
  /** @param until it is stopped before this step */
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

  await t.test("a service that runs", async (t) => {
    const probe = member(source);
    await probe.renew();
    await source.file("lead", ["engine", "core 1", 60_000, null]);
    await t.rejects(moveTo(), {
      name: "UserError",
      message: /a core leads \(core 1\); a probe of us-east measures.* Stop core and the probes/,
    });
    await probe.leave();
    await source.query(sql`update leader set expires_at = now()`);
  });

  await t.test("the same database", (t) =>
    t.rejects(moveTo(undefined, source), {
      message: /this is the source database or a copy of it/,
    }),
  );

  await t.test("a target with a history of its own", async (t) => {
    await migrate(target, registry, log);
    await target.query(sql`insert into rules_in_force (holds_from, version, rules) values (now(), '1.2.3', '{}')`);
    await t.rejects(moveTo(), {
      message: /already has a history \(rules_in_force has rows\)/,
    });
    await target.script(`delete from rules_in_force`);
  });

  await t.test("rows that differ are found", async (t) => {
    // what a migration left there is no history
    t.equal(await moveTo("comparing"), null, "the move was told to stop");
    const [lead] = await target.file<{ fence: number | null }>("lead", [...["engine", "core 2", 60_000, null]]);
    t.equal(lead!.fence, null, "nobody leads where it goes on");
    const [there] = await target.query<{ regions: number }>(sql`select count(*) as regions from region`);
    t.equal(there!.regions, 0, "and nobody delivers");
    await target.script(
      `update sample set latency_us = latency_us + 1
       where ctid = (select ctid from sample where latency_us is not null limit 1)`,
    );
    await t.rejects(moveTo(), {
      name: "UserError",
      message: /sample from 20.*: (\d+) rows on both sides, but they differ/,
    });
    await target.script(`delete from sample where latency_us is null`);
    await t.rejects(moveTo(), {
      message: /sample from 20.*: \d+ rows in the source, \d+ in the target/,
    });
  });

  await t.test("a source that is written to in between", async (t) => {
    await measured(source, { venue: "okx", from: ago(15), to: ago(0) });
    await t.rejects(moveTo(), {
      message: /has changed since the move began/,
    });
  });

  await t.test("an address that is none", async (t) => {
    const none = await cliWith(t, ["move", "--to", "http://x"], {});
    t.match(none, { code: 2, err: /move --to: expected postgres:/ });
    const nobody = await cliWith(t, ["move", "--to", "postgres://u:secret@127.0.0.1:1/x"], { DATABASE_URL: sourceUrl });
    t.match(nobody, {
      code: 2,
      err: /nothing listens there; start it, or correct --to/,
    });
    t.notMatch(nobody.err, "secret");
  });
});

/** Kills it once it has copied so many windows more. */
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

/** What a move has noted as copied; empty before it began. */
async function copiedUpTo(target: Pool): Promise<string> {
  const [begun] = await target.query<{ here: boolean }>(sql`select to_regclass('moving.done') is not null as here`);
  if (!begun!.here) return "";
  const [done] = await target.query<{ all: string }>(
    sql`select coalesce(string_agg(d::text, ' ' order by part), '') as all from moving.done d`,
  );
  return done!.all;
}

/**
 * Neither of routine nor of the widest windows, nor when somebody calls TimescaleDB's own procedure without our care.
 */
async function historyStays(t: Test, target: Pool): Promise<void> {
  const before = await historyOf(target);
  const now = new Date();
  await target.query(sql`call upkeep.refresh_late(${now})`);
  await target.query(sql`call upkeep.refresh_all('-infinity', ${now})`);
  sameButForNewHours(t, await historyOf(target), before, "of routine");
  for (const level of ["sample_minute", "sample_hour"])
    await target.query(sql`call refresh_continuous_aggregate(${level}::regclass, null, null)`);
  sameButForNewHours(t, await historyOf(target), before, "by TimescaleDB's own");
  await target.query(sql`call upkeep.retain(${now})`);
  const left = await historyOf(target);
  await target.query(sql`call upkeep.refresh_all('-infinity', ${now})`);
  sameButForNewHours(t, await historyOf(target), left, "after what is old was dropped");
  same(t, lasting(left), lasting(before), "and nothing else was");
}

function lasting(history: Record<string, string[]>): Record<string, string[]> {
  const passing = [...weekLevels, ...hourMarks];
  return Object.fromEntries(Object.entries(history).filter(([level]) => !passing.includes(level)));
}

/**
 * Two to five minutes after an hour's end its rows are kept and added up by the next refresh: where that was in
 * between, those of a week are not compared.
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

/** New samples, late ones among them, give both the same states and the same roll-ups. */
async function goesOn(t: Test, source: Pool, target: Pool): Promise<void> {
  const [late, from, at] = [ago(2 * 86_400), ago(19), ago(0)];
  for (const db of [source, target]) {
    const good = { from, to: at };
    await measured(db, good);
    await measured(db, {
      ...good,
      venue: "okx",
      component: "rest:ticker",
      fault: "http",
    });
    await measured(db, {
      from: new Date(+late - 60_000),
      to: late,
      venue: "okx",
    });
    await db.query(sql`call upkeep.refresh_all(${late}, ${at})`);
    accepted(await tick(db, at));
  }
  t.strictSame(await everythingDecided(target), await everythingDecided(source));
  // of a week's hours as much has been dropped as chunks and the hour of the day allowed
  same(t, lasting(await historyOf(target)), lasting(await historyOf(source)), "and the same roll-ups");
}

/** Until none waits; whoever sends them dies once in between. */
async function alertsGoOn(t: Test, source: Pool, target: Pool): Promise<void> {
  const nowMs = Date.now();
  const told: string[][] = [];
  for (const db of [source, target]) {
    await expand(db, at(0));
    const left = await claim(db, at(0));
    t.equal(left.length, 1, "one at a time");
    for (let minute = 5; ; minute += 5) {
      const attempts = await claim(db, at(minute));
      if (attempts.length === 0) break;
      await settle(db, at(minute), attempts, "delivered");
    }
    told.push(await toldIn(db));
  }
  t.match(told[0], [
    /^kraken-\S+ opened delivered lost$/,
    /^kraken-\S+ opened delivered delivered$/,
    /^okx-\S+ opened delivered delivered$/,
  ]);
  t.strictSame(told[1], told[0]);

  function at(minute: number): Date {
    return new Date(nowMs + minute * 60_000);
  }
}

/** A line an attempt, in their order: what became of it, and of what it is. */
async function toldIn(db: Pool): Promise<string[]> {
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

async function smallSource(t: Test) {
  const url = await hostOf(t, await migratedDirectory(t));
  const source = poolOf(t, url);
  await measured(source, { venue: "okx", from: ago(60), to: ago(20) });
  return { source, url };
}

/** The newest count of each hour that runs. */
function openHoursOf(pool: Pool): Promise<unknown[]> {
  return pool.query(sql`
    select distinct on (hour, venue_id) hour, venue_id, answers, p50_us from open_hour order by hour, venue_id, holds_from desc
  `);
}

/** When the oldest chunk of samples begins, before which upkeep takes nothing for backed by them. */
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
