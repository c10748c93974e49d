/**
 * Every body is a function of the instant that it shows. Two bodies of the same instant have the same bytes, even from
 * different processes, while the engine hangs and samples, heartbeats, notices and upkeep continue.
 */
import { appendFile, cp } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import t, { type Test } from "tap";
import { figureRules } from "../../../server/api/figure-rules.js";
import { openPool, type Pool, sql } from "../../../shared/database/pool.js";
import { accepted, tick } from "../../../server/engine/tick.js";
import { makeLog } from "../../../shared/log/log.js";
import { migrate } from "../../../server/database/migrate.js";
import type { Registry, Venue } from "../../../shared/registry/registry.js";
import { sqlFolder } from "../../../shared/database/sql-files.js";
import { type Api, serve } from "../../support/api.js";
import { migratedDatabase } from "../../support/database.js";
import { ago, forget, measured, outage } from "../../support/fleet.js";
import { member } from "../../support/member.js";
import { notice, said, whole } from "../../support/said.js";

const paths = [
  "/v1/status",
  "/v1/targets/kraken",
  "/v1/targets/kraken?range=7d&region=us-east",
  "/v1/targets/okx?format=csv",
  "/v1/reliability?days=1",
  "/v1/reliability?format=csv",
  "/v1/incidents",
  "/v1/regions",
  "/v1/notify",
  "/metrics",
];

const some = ["/v1/status", "/v1/targets/kraken", "/v1/regions", "/metrics"];

const quiet = makeLog("test", "error");

interface Seen {
  path: string;
  generatedAt: string;
  text: string;
}

async function see(api: Api, path: string): Promise<Seen> {
  const { status, text } = await api.ask(path);
  if (status !== 200) throw new Error(`${path} answered ${status}: ${text}`);
  const said =
    /"generatedAt"\s*:\s*"([^"]+)"/.exec(text) ??
    /^svc_generated_at_seconds (.+)$/m.exec(text) ??
    /^(\d{4}-[^,]+Z),/m.exec(text);
  if (!said) throw new Error(`${path} does not contain its instant`);
  const [, at] = said as unknown as [string, string];
  const generatedAt = new Date(at.includes("T") ? at : Number(at) * 1000).toISOString();
  return { path, generatedAt, text };
}

/** Another web program, with its own pool and cached bodies. */
async function anotherWeb(
  t: Test,
  { url, registry }: Pick<Awaited<ReturnType<typeof migratedDatabase>>, "url" | "registry">,
): Promise<Api> {
  const pool = openPool(url, {
    applicationName: "web",
    log: makeLog("web", "error"),
  });
  t.teardown(() => pool.close());
  return serve(t, { pool, registry });
}

/** The body of each path and instant. */
function makeWitness(t: Test) {
  const bodies = new Map<string, string>();
  let compared = 0;
  return {
    compared: () => compared,
    note: ({ path, generatedAt, text }: Seen, when: string) => {
      const key = `${path} as of ${generatedAt}`;
      const before = bodies.get(key);
      if (before === undefined) bodies.set(key, text);
      else {
        compared += 1;
        if (before !== text) t.equal(text, before, `${when}: ${key} has the same bytes`);
      }
    },
  };
}

async function revisionOf(pool: Pool): Promise<number> {
  const [row] = await pool.query<{ revision: number }>(sql`select revision::int from engine_clock`);
  return row!.revision;
}

void t.test("one instant has one body while the engine hangs and everything else continues", async (t) => {
  const database = await migratedDatabase(t);
  const { pool } = database;
  await measured(pool, { from: ago(9_000), to: ago(0), venue: "kraken" });
  await measured(pool, { from: ago(700), to: ago(0), venue: "okx" });
  await outage.open(pool);
  for (const { process, region } of [
    { process: "0f8f0e3c-6f6e-4b6c-9a53-4a6f0e0b2f11", region: 1 },
    { process: "1f8f0e3c-6f6e-4b6c-9a53-4a6f0e0b2f11", region: 2 },
  ])
    await pool.query(sql`
      insert into probe (region_id, process, version, started_at, seen_at, alive_until, unmeasured)
      values (${region}, ${process}::uuid, '0.8.0', now(), now(), now() + interval '1 hour', 3)
    `);
  await pool.query(sql`call upkeep.refresh_all(${ago(9_100)}, ${new Date()})`);
  accepted(await tick(pool, new Date()));
  const { note, compared } = makeWitness(t);
  const ofSilence = makeWitness(t);

  async function look(when: string, asked = paths, remember = note) {
    const web = await anotherWeb(t, database);
    const seen: Seen[] = [];
    for (const path of asked) seen.push(await see(web, path));
    await web.close();
    for (const one of seen) remember(one, when);
    return new Set(seen.map(({ generatedAt }) => generatedAt));
  }

  const [first] = await look("at first");
  t.strictSame(await look("again"), new Set([first]));

  const instant = new Set([first!]);

  await arrive(pool, "kraken", ago(30), ago(0));
  await arrive(pool, "kraken", ago(8_900), ago(8_700));
  await arrive(pool, "okx", ago(500), ago(400));
  t.strictSame(await look("samples arrived"), instant);

  await pool.query(sql`update probe set unmeasured = 99, seen_at = clock_timestamp()`);
  t.strictSame(await look("probes sent heartbeats"), instant);

  const revision = await revisionOf(pool);
  await pool.query(sql`call upkeep.refresh_newest(clock_timestamp())`);
  t.equal(await revisionOf(pool), revision, "none of these minutes is published");
  t.strictSame(await look("the newest minutes were rolled up"), instant);

  const changes: Record<string, () => Promise<unknown>> = {
    "the open hour was rolled up": () => pool.query(sql`call upkeep.refresh_open_buckets(clock_timestamp())`),
    "hours were stored": () => pool.query(sql`call upkeep.refresh_over_hours(${ago(10_000)}, clock_timestamp())`),
    "late samples were rolled up": () => pool.query(sql`call upkeep.refresh_late(clock_timestamp())`),
    "minutes were repaired": () => pool.query(sql`call upkeep.mend('sample_minute', ${ago(9_000)}, ${ago(300)})`),
    "a notice arrived": () => said(pool, "kraken", new Date(), [whole(notice("a", ago(60), {}))]),
    "an incident was retracted": () =>
      pool.file("retract", ["kraken-none", "a test"]).then(async () => {
        const [open] = await pool.query<{ slug: string }>(
          sql`select slug from incident where retracted_at is null limit 1`,
        );
        await pool.file("retract", [open!.slug, "a test"]);
      }),
    "a venue was renamed": () => migrate(pool, withVenue(database.registry, "okx", { name: "OK" }), quiet),
    "a venue was removed": () => migrate(pool, without(database.registry, "gemini"), quiet),
    "the venue returned": () => migrate(pool, database.registry, quiet),
    "views were replaced": async () => {
      const folder = await otherDefinitions(t);
      // both databases have a history, so it ends before the registry is synced
      const merging = withVenue(without(database.registry, "gemini"), "okx", {
        formerIds: ["gemini"],
      });
      await t.rejects(migrate(pool, merging, quiet, folder), {
        message: /histories are not merged/,
      });
    },
  };
  const instants = [...instant];
  for (const [when, change] of Object.entries(changes)) {
    await change();
    const seen = [...(await look(when)), ...(await look(when, some))];
    t.equal(new Set(seen).size, 1, `${when}: one instant`);
    t.ok(seen[0]! > instants.at(-1)!, `${when}: another instant`);
    instants.push(seen[0]!);
  }
  t.ok(Date.parse(instants.at(-1)!) - Date.parse(first!) < 2_000, "still the instant of the tick");

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
        for (const path of ["/v1/status", "/v1/targets/okx", "/metrics"]) note(await see(web, path), "at once");
    }),
  ]);

  accepted(await tick(pool, new Date()));
  const [next] = await look("the next tick");
  t.ok(next! > instants.at(-1)!);
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
  return {
    ...rest,
    venues: venues.map((venue) => (venue.id === id ? { ...venue, ...has } : venue)),
  };
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

/** Good and bad samples in separate slots, which arrive now. */
async function arrive(pool: Pool, venue: string, from: Date, to: Date): Promise<void> {
  await pool.query(sql`
    insert into sample (ts, component_id, region_id, good, fault, latency_us, received_after_s)
    select
      at, c.component_id, g.region_id, n.nth % 3 > 0, case when n.nth % 3 = 0 then 'http'::fault end,
      case when n.nth % 3 > 0 and c.kind = 'rest' then 777000 end,
      ceil(extract(epoch from clock_timestamp() - at)) + 1
    from component c
    join venue v using (venue_id)
    cross join region g
    cross join lateral generate_series(1, 1 + (extract(epoch from ${to}::timestamptz - ${from}::timestamptz) / 2)::int) as n (nth)
    cross join lateral (
      select date_trunc('milliseconds', ${from}::timestamptz) + n.nth * interval '2 seconds' + interval '7 microseconds' as at
    ) slot
    where v.venue = ${venue} and at <= clock_timestamp()
    on conflict do nothing
  `);
}

void t.test("late samples appear from the next tick on", async (t) => {
  const database = await migratedDatabase(t);
  const { pool } = database;
  await measured(pool, { from: ago(400), to: ago(0), venue: "kraken" });
  accepted(await tick(pool, new Date()));
  interface Page {
    generatedAt: string;
    endpoints: { component: string; samples: number; newestAt: string }[];
    regions: { compare: { samples: number; newestAt: string }[] };
  }
  const page = async () => {
    const web = await anotherWeb(t, database);
    return (await web.ask<Page>("/v1/targets/kraken")).body;
  };
  const counted = ({ endpoints, regions }: Page) => ({
    ticker: endpoints.find(({ component }) => component === "rest:ticker")!.samples,
    regions: regions.compare.map(({ samples }) => samples),
  });
  const before = await page();
  await arrive(pool, "kraken", ago(300), ago(290));
  await arrive(pool, "kraken", ago(4), ago(0));
  t.strictSame(await page(), before, "the tick that did not know them does not show them");
  for (const { newestAt } of [...before.endpoints, ...before.regions.compare])
    t.ok(newestAt <= before.generatedAt, "no shown time is later than the instant");

  await pool.query(sql`select pg_sleep(2.5)`);
  accepted(await tick(pool, new Date()));
  const after = counted(await page());
  t.ok(after.ticker > counted(before).ticker);
  for (const [i, samples] of after.regions.entries()) t.ok(samples > counted(before).regions[i]!);
});

void t.test("regions are compared over exactly the requested range", async (t) => {
  const database = await migratedDatabase(t);
  const { pool } = database;
  // every kind of component, with its values when a sample is bad
  await pool.query(sql`
    insert into sample (ts, component_id, region_id, good, fault, latency_us, received_after_s)
    select
      at, component_id, region_id, luck % 20 > 0,
      case when luck % 20 = 0 then 'timeout'::fault end,
      -- opening a socket takes long, and is no answer of REST
      case when kind = 'rest' or component = 'ws:conn'
        then 1000 * (luck % 37) * (1 + region_id) + luck % 1009 + case when kind = 'ws' then 900000 else 0 end end,
      luck % 3
    from component
    join venue using (venue_id)
    cross join region
    cross join generate_series(now() - interval '7 days 2 hours', now() - interval '1 second', interval '499 s') as at
    cross join lateral (select abs(hashint8(extract(epoch from at)::bigint * 64 + component_id)) as luck) drawn
    where venue = 'okx'
  `);
  interface Compared {
    region: string;
    samples: number;
    goodPct: number;
    answers: number;
    p50Ms: number;
    p95Ms: number;
  }

  async function areThoseOfRaw(when: string) {
    const web = await anotherWeb(t, database);
    for (const [range, length] of [
      ["24h", "24 hours"],
      ["7d", "7 days"],
    ] as const) {
      const { body } = await web.ask<{
        generatedAt: string;
        regions: { compare: Compared[] };
      }>(`/v1/targets/okx?range=${range}`);
      const wholeMs = (share: number) =>
        sql`round(percentile_cont(${share}::double precision) within group (order by latency_us) filter (where good and kind = 'rest') / 1000)::int`;
      const expected = await pool.query<Compared>(sql`
        select
          region, count(*)::int as samples, trunc(100.0 * count(*) filter (where good) / count(*), 3)::float8 as "goodPct",
          (count(*) filter (where good and kind = 'rest'))::int as answers, ${wholeMs(0.5)} as "p50Ms", ${wholeMs(0.95)} as "p95Ms"
        from sample
        join component using (component_id)
        join venue using (venue_id)
        join region using (region_id)
        where venue = 'okx'
          and ts > ${body.generatedAt}::timestamptz - ${length}::interval and ts <= ${body.generatedAt}
          and ts + received_after_s * interval '1 second' <= ${body.generatedAt}
        group by region, region.position
        order by region.position
      `);
      t.ok(expected[0]!.answers > 100);
      t.strictSame(
        body.regions.compare.map(({ region, samples, goodPct, answers, p50Ms, p95Ms }) => ({
          ...{ region, samples, goodPct, answers, p50Ms, p95Ms },
        })),
        expected,
        `${when}, ${range}`,
      );
    }
  }
  accepted(await tick(pool, new Date()));
  await areThoseOfRaw("entirely from raw samples");
  await pool.query(sql`call upkeep.refresh_over_hours(now() - upkeep.late_window(), now())`);
  accepted(await tick(pool, new Date()));
  await areThoseOfRaw("from stored hours and the samples around them");
});

void t.test("too few answers give no percentile", async (t) => {
  const database = await migratedDatabase(t);
  const { pool } = database;
  const [floors] = await pool.query(
    sql`
      select
        api.p50_min_answers() as p50_min_answers,
        api.p95_min_answers() as p95_min_answers,
        api.uptime_min_coverage() as uptime_min_coverage
    `,
  );
  t.strictSame(
    floors,
    Object.fromEntries(figureRules.map(({ name, value }) => [name, value])),
    "SQL uses the published numbers",
  );
  interface Shown {
    answers: number;
    p50Ms: number | null;
    p95Ms: number | null;
  }
  const at = Math.floor(Date.now() / 1000) * 1000 - 200_000;
  for (const [answers, p50Ms, p95Ms] of [
    [2, null, null],
    [3, 80, null],
    [9, 80, null],
    [10, 80, 80],
  ] as const) {
    await forget(pool);
    await pool.query(sql`
      insert into sample (ts, component_id, region_id, good, latency_us)
      select ${new Date(at)}::timestamptz + n * interval '5 seconds', component_id, region_id, true, 80000
      from component join venue using (venue_id) cross join region cross join generate_series(1, ${answers}::int) n
      where venue = 'okx' and component = 'rest:ticker' and region = 'eu-central'
    `);
    await pool.query(sql`call upkeep.refresh_all(${ago(4_000)}, ${new Date()})`);
    accepted(await tick(pool, new Date()));
    const web = await anotherWeb(t, database);
    const { body } = await web.ask<{
      endpoints: (Shown & { component: string })[];
      latency: { points: { p50Ms: number | null; samples: number }[] };
      regions: { compare: Shown[] };
    }>("/v1/targets/okx");
    const expected = { answers, p50Ms, p95Ms };
    t.match(
      body.endpoints.find(({ component }) => component === "rest:ticker"),
      expected,
    );
    t.match(body.regions.compare[0], expected);
    t.match(body.regions.compare[1], { answers: 0, p50Ms: null, p95Ms: null });
    t.ok(body.latency.points.every(({ p50Ms, samples }) => p50Ms === (samples < 3 ? null : 80)));
    const board = await web.ask<{
      venues: {
        id: string;
        sparkline: { p50Ms: number | null; samples: number }[];
      }[];
    }>("/v1/status");
    const { sparkline } = board.body.venues.find(({ id }) => id === "okx")!;
    t.equal(
      sparkline.reduce((all, { samples }) => all + samples, 0),
      answers,
    );
    t.ok(sparkline.every(({ p50Ms, samples }) => p50Ms === (samples < 3 ? null : 80)));
  }
});

void t.test("typical latencies have the instant as of which they hold", async (t) => {
  const database = await migratedDatabase(t);
  const { pool } = database;
  const typical = async () => {
    const web = await anotherWeb(t, database);
    const { body } = await web.ask<{
      generatedAt: string;
      summary: {
        medianLatencyMs: number | null;
        medianLatencyAsOf: string | null;
      };
      venues: { typicalMs: number | null; typicalAsOf: string | null }[];
    }>("/v1/status");
    return body;
  };
  await measured(pool, { from: ago(900), to: ago(0), latencyMs: 80 });
  accepted(await tick(pool, new Date()));
  t.match((await typical()).summary, {
    medianLatencyMs: null,
    medianLatencyAsOf: null,
  });

  await pool.query(sql`call upkeep.refresh_late(clock_timestamp())`);
  t.match((await typical()).summary, { medianLatencyMs: null, medianLatencyAsOf: null }, "not before the next tick");
  accepted(await tick(pool, new Date()));
  const first = await typical();
  t.equal(first.summary.medianLatencyMs, 80);
  t.ok(first.summary.medianLatencyAsOf! <= first.generatedAt);
  for (const { typicalMs, typicalAsOf } of first.venues)
    t.strictSame([typicalMs, typicalAsOf], [80, first.summary.medianLatencyAsOf]);

  await measured(pool, { from: ago(900), to: ago(0), latencyMs: 120 });
  accepted(await tick(pool, new Date()));
  t.strictSame((await typical()).summary, first.summary, "unchanged over any number of ticks");
  await pool.query(sql`call upkeep.refresh_late(clock_timestamp())`);
  accepted(await tick(pool, new Date()));
  const second = await typical();
  t.equal(second.summary.medianLatencyMs, 120);
  t.ok(second.summary.medianLatencyAsOf! > first.summary.medianLatencyAsOf!);
});

void t.test("a probe's heartbeat after the instant is not shown", async (t) => {
  const database = await migratedDatabase(t);
  const { pool } = database;
  const seen = async () => {
    const web = await anotherWeb(t, database);
    const { body } = await web.ask<{
      generatedAt: string;
      regions: { probes: { id: string; seenAt: string }[] }[];
    }>("/v1/regions");
    const { generatedAt, regions } = body;
    const probes = regions.flatMap((region) => region.probes);
    t.ok(probes.every(({ seenAt }) => seenAt <= generatedAt));
    return { generatedAt, probes };
  };
  const probe = member(pool);
  const decidedLater = async (at: Date) => {
    await pool.query(sql`select pg_sleep(0.02)`);
    await probe.renew();
    accepted(await tick(pool, at, { now: null }));
  };
  await decidedLater(new Date());
  t.strictSame((await seen()).probes, [], "the probe did not exist at the instant");

  // at every tick, and always between the instant and its decision
  let before = new Date();
  await decidedLater(before);
  for (let round = 0; round < 3; round += 1) {
    const at = new Date();
    await decidedLater(at);
    const { generatedAt, probes } = await seen();
    t.equal(generatedAt, at.toISOString());
    t.equal(probes.length, 1);
    t.ok(probes[0]!.seenAt >= before.toISOString(), "the last heartbeat before the instant is shown");
    before = at;
  }
  const [kept] = await pool.query<{ n: number }>(sql`select count(*)::int as n from shown_probe`);
  t.equal(kept!.n, 2, "the shown heartbeat and the next one are stored");
  const at = new Date();
  await pool.query(sql`select pg_sleep(0.02)`);
  await probe.leave();
  accepted(await tick(pool, at, { now: null }));
  t.equal((await seen()).probes.length, 1, "the probe says goodbye only after the instant");
});

void t.test("the published instant never goes back", async (t) => {
  const database = await migratedDatabase(t);
  const { pool } = database;
  const published = async () => {
    const web = await anotherWeb(t, database);
    const { generatedAt } = await see(web, "/v1/status");
    await web.close();
    return generatedAt;
  };
  await measured(pool, { from: ago(900), to: ago(0), venue: "okx" });

  await t.test("after more changes than milliseconds", async (t) => {
    const first = ago(20);
    accepted(await tick(pool, first));
    await pool.query(sql`update engine_clock set revision = 5000`);
    const before = await published();
    t.equal(before, new Date(+first + 5_000).toISOString());
    accepted(await tick(pool, new Date(+first + 2_000)));
    t.equal(await published(), new Date(+first + 5_001).toISOString());
    accepted(await tick(pool, new Date(+first + 4_000)));
    t.equal(await published(), new Date(+first + 5_002).toISOString());
    accepted(await tick(pool, new Date(+first + 6_000)));
    t.equal(await published(), new Date(+first + 6_000).toISOString());
  });

  await t.test("while an engine that was silent catches up", async (t) => {
    const since = ago(400);
    await pool.query(sql`update engine_clock set ticked_at = ${since}, revision = 0`);
    const told = [await published()];
    for (const seconds of [2, 4, 120, 122, 398]) {
      accepted(await tick(pool, new Date(+since + seconds * 1_000), { now: null }));
      told.push(await published());
    }
    t.strictSame(told, [...new Set(told)].sort(), "every instant is later than the previous ones");
    t.ok(told.every((at) => at <= new Date().toISOString()));
  });

  await t.test("with a thousand changes in ten seconds of silence", async (t) => {
    await pool.query(sql`update engine_clock set ticked_at = ${ago(100_000)}, revision = 0`);
    await pool.script("create table told (nth serial, at timestamptz)");
    await pool.script(`
      do $$ begin
        for i in 1..1500 loop
          call upkeep.published_past_changed();
          commit;
          insert into told (at) select generated_at from api.clock;
          commit;
        end loop;
      end $$
    `);
    const [row] = await pool.query(sql`
      select
        count(*)::int as changes, count(distinct date_trunc('milliseconds', at))::int as instants,
        (select count(*)::int from (select at - lag(at) over (order by nth) as step from told) s where step <= interval '0') as back,
        max(at) <= clock_timestamp() as is_past
      from told
    `);
    t.strictSame(row, {
      ...{ changes: 1500, instants: 1500, back: 0, is_past: true },
    });
  });

  await t.test("after ten more seconds of silence", async (t) => {
    const since = ago(90_000);
    await pool.query(sql`update engine_clock set ticked_at = ${since}, revision = 0`);
    const { note, compared } = makeWitness(t);
    const end = Date.now() + 11_000;
    const webs = [await anotherWeb(t, database), await anotherWeb(t, database)];
    const told: string[][] = await Promise.all([
      (async () => {
        for (let nth = 1; Date.now() < end; nth += 1)
          accepted(await tick(pool, new Date(+since + 2_000 * nth), { now: null }));
        return [];
      })(),
      ...webs.map(async (web) => {
        const instants: string[] = [];
        while (Date.now() < end) {
          const seen = await see(web, "/v1/status");
          note(seen, "from two programs");
          instants.push(seen.generatedAt);
        }
        return instants;
      }),
    ]);
    for (const instants of told)
      t.strictSame(instants, instants.toSorted(), "no instant is earlier than the previous one");
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
    t.strictSame(row, {
      ...{ many: true, moves: true, is_after_silence: true, is_past: true },
    });
  });
});
