/**
 * Every body is a function of the instant that it shows. Two bodies of the same instant have the same bytes, even from
 * different processes, while the engine hangs and samples, heartbeats, notices and upkeep continue.
 */
import { appendFile, cp } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import t, { type Test } from "tap";
import { sql } from "../../../shared/database/pool.js";
import { accepted, tick } from "../../../server/engine/tick.js";
import { makeLog } from "../../../shared/log/log.js";
import { migrate } from "../../../server/database/migrate.js";
import type { Registry, Venue } from "../../../shared/registry/registry.js";
import { sqlFolder } from "../../../shared/database/sql-files.js";
import { migratedDatabase } from "../../support/database.js";
import { ago, measured, outage } from "../../support/fleet.js";
import { notice, said, whole } from "../../support/stored-notices.js";
import { anotherWeb, arrive, makeWitness, readBody, type Body } from "../../support/as-of.js";

const some = ["/v1/status", "/v1/targets/kraken", "/v1/regions", "/metrics"];
const paths = [
  ...some,
  ...["/v1/targets/kraken?range=7d&region=us-east", "/v1/targets/okx?format=csv", "/v1/reliability?days=1"],
  ...["/v1/reliability?format=csv", "/v1/incidents", "/v1/notify"],
];

const quiet = makeLog("test", "error");

void t.test("one instant has one body while the engine hangs and everything else continues", async (t) => {
  const database = await migratedDatabase(t);
  const { pool } = database;
  await measured(pool, { from: ago(9_000), to: ago(0), venue: "kraken" });
  await measured(pool, { from: ago(700), to: ago(0), venue: "okx" });
  await outage.open(pool);
  await pool.query(sql`
    insert into probe (region_id, process, version, started_at, seen_at, alive_until, unmeasured)
    select region, gen_random_uuid(), '0.8.0', now(), now(), now() + interval '1 hour', 3
    from generate_series(1, 2) region
  `);
  await pool.query(sql`call upkeep.refresh_all(${ago(9_100)}, ${new Date()})`);
  accepted(await tick(pool, new Date()));
  const { note, compared } = makeWitness(t);
  const ofSilence = makeWitness(t);

  async function look(when: string, asked = paths, remember = note) {
    const web = await anotherWeb(t, database);
    const seen: Body[] = [];
    for (const path of asked) seen.push(await readBody(web, path));
    await web.close();
    for (const one of seen) remember(one, when);
    return new Set(seen.map(({ generatedAt }) => generatedAt));
  }

  const instant = await look("at first");
  const [first] = instant;
  t.equal(instant.size, 1);
  t.strictSame(await look("again"), instant);

  await arrive(pool, "kraken", ago(30), ago(0));
  await arrive(pool, "kraken", ago(8_900), ago(8_700));
  await arrive(pool, "okx", ago(500), ago(400));
  t.strictSame(await look("samples arrived"), instant);

  await pool.query(sql`update probe set unmeasured = 99, seen_at = clock_timestamp()`);
  t.strictSame(await look("probes sent heartbeats"), instant);

  const revisionOf = async () => (await pool.query(sql`select revision::int from engine_clock`))[0];
  const revision = await revisionOf();
  await pool.query(sql`call upkeep.refresh_newest(clock_timestamp())`);
  t.strictSame(await revisionOf(), revision, "none of these minutes is published");
  t.strictSame(await look("the newest minutes were rolled up"), instant);

  const changes: Record<string, () => Promise<unknown>> = {
    "the open hour was rolled up": () => pool.query(sql`call upkeep.refresh_open_buckets(clock_timestamp(), true)`),
    "hours were stored": () => pool.query(sql`call upkeep.refresh_over_hours(${ago(10_000)}, clock_timestamp())`),
    "late samples were rolled up": () => pool.query(sql`call upkeep.refresh_late(clock_timestamp())`),
    "minutes were repaired": () => pool.query(sql`call upkeep.mend('sample_minute', ${ago(9_000)}, ${ago(300)})`),
    "a notice arrived": () => said(pool, "kraken", new Date(), [whole(notice("a", ago(60)))]),
    "an incident was retracted": async () => {
      const open = sql`select slug from incident where retracted_at is null limit 1`;
      const [incident] = await pool.query<{ slug: string }>(open);
      await pool.file("retract", [incident!.slug, "a test"]);
    },
    "a venue was renamed": () => migrate(pool, withVenue(database.registry, "okx", { name: "OK" }), quiet),
    "a venue was removed": () => migrate(pool, without(database.registry, "gemini"), quiet),
    "the venue returned": () => migrate(pool, database.registry, quiet),
    "views were replaced": async () => {
      const folder = await otherDefinitions(t);
      // both databases have a history, so it ends before the registry is synced
      const merging = withVenue(without(database.registry, "gemini"), "okx", { formerIds: ["gemini"] });
      await t.rejects(migrate(pool, merging, quiet, folder), { message: /histories are not merged/ });
    },
  };
  let last = first!;
  for (const [when, change] of Object.entries(changes)) {
    await change();
    const seen = [...(await look(when)), ...(await look(when, some))];
    t.equal(new Set(seen).size, 1, `${when}: one instant`);
    t.ok(seen[0]! > last, `${when}: another instant`);
    last = seen[0]!;
  }
  t.ok(Date.parse(last) - Date.parse(first!) < 2_000, "still the instant of the tick");

  // from two programs at the same time, while everything continues
  const end = Date.now() + 4_000;
  const webs = [await anotherWeb(t, database), await anotherWeb(t, database)];
  await Promise.all([
    (async () => {
      for (let round = 0; Date.now() < end; round += 1) {
        await arrive(pool, "okx", ago(3_000 + 10 * round), ago(2_990 + 10 * round));
        await pool.query(sql`call upkeep.refresh_late(clock_timestamp())`);
      }
    })(),
    ...webs.map(async (web) => {
      while (Date.now() < end)
        for (const path of ["/v1/status", "/v1/targets/okx", "/metrics"]) note(await readBody(web, path), "at once");
    }),
  ]);

  accepted(await tick(pool, new Date()));
  const [next] = await look("the next tick");
  t.ok(next! > last);
  await pool.query(sql`update engine_clock set ticked_at = ticked_at - interval '10 minutes'`);
  for (const when of ["silent", "silent, and samples come"]) {
    // with a separate record of bodies: the tick has moved to the past, and a silent engine shows seconds that it
    // showed before
    const of = await look(when, some, ofSilence.note);
    await arrive(pool, "kraken", ago(3), ago(0));
    await look(`${when}, again`, some, ofSilence.note);
    t.ok([...of].every((at) => Date.parse(at) <= Date.now() - 1_000));
  }
  t.ok(compared() > 50, `${compared()} bodies were compared with an earlier one`);
});

function withVenue({ venues, ...rest }: Registry, id: string, has: Partial<Venue>): Registry {
  return { ...rest, venues: venues.map((venue) => (venue.id === id ? { ...venue, ...has } : venue)) };
}

function without({ venues, ...rest }: Registry, id: string): Registry {
  return { ...rest, venues: venues.filter((venue) => venue.id !== id) };
}

/** Our own definitions, but with another checksum. */
async function otherDefinitions(t: Test): Promise<URL> {
  const folder = t.testdir();
  await cp(sqlFolder, folder, { recursive: true });
  await appendFile(join(folder, "upkeep/100-retain.sql"), "-- another build\n");
  return pathToFileURL(`${folder}/`);
}

void t.test("the published instant never goes back", async (t) => {
  const database = await migratedDatabase(t);
  const { pool } = database;
  const published = async () => {
    const web = await anotherWeb(t, database);
    const { generatedAt } = await readBody(web, "/v1/status");
    await web.close();
    return generatedAt;
  };
  await measured(pool, { from: ago(900), to: ago(0), venue: "okx" });

  await t.test("after more changes than milliseconds", async (t) => {
    const first = ago(20);
    const after = (ms: number) => new Date(+first + ms);
    accepted(await tick(pool, first));
    await pool.query(sql`update engine_clock set revision = 5000`);
    t.equal(await published(), after(5_000).toISOString());
    for (const [tickMs, publishedMs] of [
      [2_000, 5_001],
      [4_000, 5_002],
      [6_000, 6_000],
    ] as const) {
      accepted(await tick(pool, after(tickMs)));
      t.equal(await published(), after(publishedMs).toISOString());
    }
  });

  await t.test("while an engine that was silent catches up", async (t) => {
    const since = ago(400);
    await pool.query(sql`update engine_clock set ticked_at = ${since}, revision = 0`);
    const instants = [await published()];
    for (const seconds of [2, 4, 120, 122, 398]) {
      accepted(await tick(pool, new Date(+since + seconds * 1_000), { now: null }));
      instants.push(await published());
    }
    t.strictSame(instants, [...new Set(instants)].sort(), "every instant is later than the previous ones");
    t.ok(instants.at(-1)! <= new Date().toISOString());
  });

  await t.test("with a thousand changes in ten seconds of silence", async (t) => {
    await pool.query(sql`update engine_clock set ticked_at = ${ago(100_000)}, revision = 0`);
    await pool.script("create table published_at (nth serial, at timestamptz)");
    await pool.script(`
      do $$ begin
        for i in 1..1500 loop
          call upkeep.published_past_changed();
          commit;
          insert into published_at (at) select generated_at from api.clock;
          commit;
        end loop;
      end $$
    `);
    const [row] = await pool.query(sql`
      select
        count(*)::int as changes, count(distinct date_trunc('milliseconds', at))::int as instants,
        (select count(*)::int from (select at - lag(at) over (order by nth) as step from published_at) s where step <= interval '0') as back,
        max(at) <= clock_timestamp() as is_past
      from published_at
    `);
    t.strictSame(row, { changes: 1500, instants: 1500, back: 0, is_past: true });
  });

  await t.test("after ten more seconds of silence", async (t) => {
    const since = ago(90_000);
    await pool.query(sql`update engine_clock set ticked_at = ${since}, revision = 0`);
    const { note, compared } = makeWitness(t);
    const end = Date.now() + 11_000;
    const webs = [await anotherWeb(t, database), await anotherWeb(t, database)];
    await Promise.all([
      (async () => {
        for (let nth = 1; Date.now() < end; nth += 1)
          accepted(await tick(pool, new Date(+since + 2_000 * nth), { now: null }));
      })(),
      ...webs.map(async (web) => {
        for (let last = ""; Date.now() < end;) {
          const seen = await readBody(web, "/v1/status");
          note(seen, "from two programs");
          if (seen.generatedAt < last) t.fail(`${seen.generatedAt} was published after ${last}`);
          last = seen.generatedAt;
        }
      }),
    ]);
    t.ok(compared() > 0, `${compared()} bodies were compared`);
  });

  await t.test("after a change that is committed late", async (t) => {
    // made at any time, and committed at any time within half a minute
    const [row] = await pool.query(sql`
      with made as (
        select
          at, ticked_at + revision * interval '1 millisecond' as before,
          ticked_at + revision_after(ticked_at, revision, 300000, ticked_at, at) * interval '1 millisecond' as after
        from
          generate_series(now(), now() + interval '20 seconds', interval '77 milliseconds') at,
          unnest(array[at - interval '271 seconds', at - interval '40 days', at - interval '10 minutes']) ticked_at,
          unnest(array[0, 5]::bigint[]) revision
      )
      select
        count(*)::int > 1000 as many, bool_and(after > before) as moves,
        bool_and(after > date_bin('10 seconds', at + interval '30 seconds' - interval '32 seconds', 'epoch')) as is_after_silence,
        bool_and(after < at - interval '1 second') as is_past
      from made
    `);
    t.strictSame(row, { many: true, moves: true, is_after_silence: true, is_past: true });
  });
});
