/**
 * Tests the questions of docs/analysts.md on the demo's data. The answers are compared with the API and with
 * independent computations.
 */
import type { Test } from "tap";
import { type Pool, sql } from "../../shared/database/pool.js";
import type { Api } from "./api.js";
import { pastIncident } from "./fleet.js";
import { analystOf } from "./page-of-statements.js";
import { asTheApi, comparedAsTheApi, decisions } from "./analysts/as-the-api.js";
import {
  answers,
  askAll,
  type AnalystsAsked,
  dayMs,
  numbers,
  questions,
  type AnswerRow,
} from "./analysts/questions.js";
import { daysFromRaw, latencies, ties, troubles } from "./analysts/recompute.js";

/** Needs a running demo. Leaves invented incidents in it. */
export async function analystsAsk(t: Test, { pool, api, url }: { pool: Pool; api: Api; url: string }): Promise<void> {
  const analyst = await analystOf(t, url);
  const context: AnalystsAsked = { pool, api, analyst, answered: new Map() };
  await t.test("asks twenty questions", async (t) => {
    context.answered = await askAll(t, analyst);
  });
  for (const [name, run] of [
    ["reads what the API shows", asTheApi],
    ["recomputes days from raw", daysFromRaw],
    ["finds the slowest hours", latencies],
    ["finds venues that fail together, and what precedes outages", troubles],
    ["reads decisions", decisions],
    ["compares with notices", comparedAsTheApi],
    ["reads only the chunks that it needs", plans],
    ["counts what the API counts", retracted],
    ["counts halves and fifths alike", ties],
  ] as const)
    await t.test(name, (t) => run(t, context));
}

/**
 * A predicate on the time must exclude chunks, and a predicate on names must use the index of the series. Checks the
 * questions too: with their start moved from days ago to now, they must read no chunk that ended before today.
 */
async function plans(t: Test, { analyst, pool }: AnalystsAsked) {
  const chunksOf = async (statement: string) => {
    const { rows } = await analyst.query<{ "QUERY PLAN": unknown }>(`explain (format json) ${statement}`);
    const text = JSON.stringify(rows[0]!["QUERY PLAN"]);
    return {
      chunks: new Set(text.match(/_hyper_\d+_\d+_chunk(?=")/g)),
      indexes: [...new Set(text.match(/"Index Name":"[^"]*"/g) ?? [])].join(),
    };
  };
  const ended = await pool.query<{ chunk: string }>(sql`
    select h.chunk_name as chunk
    from timescaledb_information.chunks h
    left join timescaledb_information.continuous_aggregates a
      on a.materialization_hypertable_schema = h.hypertable_schema and a.materialization_hypertable_name = h.hypertable_name
    where h.range_end <= (now() at time zone 'UTC')::date::timestamp at time zone 'UTC'
      -- these are planned for today's part: execution excludes their chunks once it knows up to when hours and days are
      -- added up
      and coalesce(a.view_name, '') not in ('venue_hour', 'venue_minute', 'component_hour', 'component_minute')
  `);
  t.ok(ended.length > 2);
  for (const { title, statement } of questions) {
    const ofToday = statement
      .replace(/current_date - \d+/g, "current_date")
      // also where it is rounded to whole hours
      .replace(/(now\(\)\)?) - interval '[^']*'/g, "$1");
    const { chunks } = await chunksOf(ofToday);
    const needless = ended.filter(({ chunk }) => chunks.has(chunk));
    t.strictSame(needless, [], title);
  }
  const [all] = await pool.query<{ chunks: number }>(sql`select count(*) as chunks from show_chunks('sample')`);
  const from = new Date(Date.now() - 3_600_000).toISOString();
  const to = new Date().toISOString();
  const hour = `ts >= '${from}' and ts < '${to}'`;
  const ofAll = await chunksOf(`select region, count(*) from analytics.samples where ${hour} group by region`);
  const { size } = ofAll.chunks;
  t.ok(size <= 2 && size < all!.chunks, `${size} of ${all!.chunks} chunks for an hour`);
  const ofOne = await chunksOf(
    `select * from analytics.samples where venue = 'okx' and component = 'rest:ticker' and region = 'us-east' and ${hour}`,
  );
  t.ok(ofOne.chunks.size <= 2);
  t.match(ofOne.indexes, /sample_key/);
  for (const view of ["minutes", "component_minutes", "venue_minutes"]) {
    const { chunks } = await chunksOf(
      `select * from analytics.${view} where venue = 'okx' and minute >= '${from}' and minute < '${to}'`,
    );
    t.ok(chunks.size < 3, `${chunks.size} chunks of ${view}`);
  }
}

/** Runs last, because it leaves invented incidents behind. */
async function retracted(t: Test, { analyst, pool }: AnalystsAsked) {
  const yesterday = new Date(Date.now() - dayMs);
  const okx = { venue: "okx", component: "rest:book", startedAt: yesterday };
  const counted = async () => [
    // the duration of an open incident grows
    (await answers(analyst, 4)).map((row) => ({ ...row, longest_s: null })),
    (await answers(analyst, 10)).map(({ of_outages }) => of_outages),
    await answers(analyst, 14),
    await answers(analyst, 15),
  ];
  const before = await counted();
  await pastIncident(pool, { ...okx, minutes: 500, retracted: true });
  t.strictSame(await counted(), before, "a retracted incident does not count");

  await pastIncident(pool, { venue: "bitstamp", component: "rest:fx", startedAt: new Date(), minutes: 1 });
  t.strictNotSame(await counted(), before);
  const component = "component = 'rest:fx' and venue_id = (select venue_id from venue where venue = 'bitstamp')";
  await pool.script(`update component set published = false where ${component}`);
  t.strictSame(await counted(), before, "a component that left the registry is not shown");
  await pool.script(`update component set published = true where ${component}`);
  await pool.query(sql`update venue set published = false where venue = 'bitstamp'`);
  t.strictSame(await counted(), before, "nor a component that left with its venue");
  const budgets = (await answers(analyst, 1)).map(({ venue }) => venue);
  t.notOk(budgets.includes("bitstamp"), "a venue that left has no budget either");
  t.equal(budgets.length, 14);
  await pool.query(sql`update venue set published = true where venue = 'bitstamp'`);

  await pastIncident(pool, { ...okx, minutes: null });
  const failing = (await answers(analyst, 4)).map(numbers);
  const row = failing.find(({ venue, component }) => venue === "okx" && component === "rest:book");
  t.match(row, { incidents: 1, still_open: 1, median_s: null });
  t.ok((row!["longest_s"] as number) >= dayMs / 1000, "an open incident has lasted until now");
  const { rows } = await analyst.query<AnswerRow>(
    "select count(*)::int as n, count(*) filter (where retracted_at is not null)::int as gone from analytics.incidents where venue = 'okx' and component = 'rest:book' and started_at >= now() - interval '2 days'",
  );
  t.match(rows[0], { n: 2, gone: 1 }, "a query can see both");
}
