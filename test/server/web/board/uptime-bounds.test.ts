/**
 * The bounds of an uptime as readers get them: each is recomputed from the minutes that are published with it, and each
 * sentence that states one is held against the definition.
 */
import { readdirSync, readFileSync } from "node:fs";
import t from "tap";
import type { BoardBody, ReliabilityBody, VenueBody } from "../../../../server/web/agents/agent-source.js";
import { exampleOf } from "../../../../server/web/api/shapes.js";
import { reliabilityResponse } from "../../../../server/web/board/reliability.js";
import { statusResponse } from "../../../../server/web/board/status.js";
import { exchangeResponse } from "../../../../server/web/board/venue.js";
import { openapiDocument } from "../../../../server/web/openapi.js";
import { packagedFile } from "../../../../shared/config/package.js";
import { sql } from "../../../../shared/database/pool.js";
import { agentOn } from "../../../support/agent.js";
import { serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { getPage } from "../../../support/page.js";
import { randomFrom } from "../../../support/random-samples.js";
import { askRaw } from "../../../support/raw-answer.js";
import { dayMs, minuteMs, setClock, watchedSince } from "../../../support/rollup-upkeep.js";

const { pool, registry } = await migratedDatabase(t);
/** The last one whose minutes are published. */
const midnight = Math.floor((Date.now() - 5 * minuteMs) / dayMs) * dayMs;
await fewMinutes();
const api = await serve(t, { pool, registry, staleAfterMs: 7 * dayMs });
const agent = await agentOn(t, api.port);
const board = (await api.ask<BoardBody>("/v1/status")).body;
const reliability = (await api.ask<ReliabilityBody>("/v1/reliability?days=6")).body;

/**
 * Five days of which three minutes a day were measured, in a window of six whose last day has just begun. In these
 * Kraken was down once, and one endpoint of Bybit alone was measured. The fleet has two young venues that were measured
 * all the time: Bitstamp was up, Gemini down.
 */
async function fewMinutes(): Promise<void> {
  await watchedSince(pool, new Date(midnight - 5 * dayMs));
  for (const back of [5, 4, 3, 2, 1]) {
    const from = midnight - back * dayMs;
    await minutes(from, 3, "v.venue not in ('bybit', 'bitstamp', 'gemini')");
    await minutes(from, 3, "v.venue = 'bybit' and c.component = 'rest:ticker'");
  }
  await minutes(midnight - dayMs, 1, "v.venue = 'kraken'", false);
  const young = midnight - 30 * minuteMs;
  for (const table of ["venue", "component"])
    await pool.text(
      `update ${table} set watched_from = $1 where venue_id in (select venue_id from venue where venue in ('bitstamp', 'gemini'))`,
      [new Date(young)],
    );
  await minutes(young, 30, "v.venue = 'bitstamp'");
  await minutes(young, 30, "v.venue = 'gemini'", false);
  await setClock(pool, new Date(midnight + 4 * minuteMs));
  await pool.query(sql`update engine_clock set silent_after_ms = ${2 * dayMs}`);
  await pool.query(sql`call upkeep.refresh_all(${new Date(midnight - 6 * dayMs)}, now())`);
}

async function minutes(from: number, count: number, which: string, good = true): Promise<void> {
  await pool.text(
    `insert into sample (ts, component_id, region_id, good, fault)
    select $1::timestamptz + n * interval '10 s', c.component_id, g.region_id, $3, case when not $3 then 'http'::fault end
    from generate_series(0, $2::int * 6 - 1) n
    cross join component c
    join venue v using (venue_id)
    cross join region g
    where ${which}
    on conflict (component_id, region_id, ts) do update set good = excluded.good, fault = excluded.fault`,
    [new Date(from), count, good],
  );
}

interface Minutes {
  measuredMinutes: number;
  scheduledMinutes: number;
}

interface Basis extends Minutes {
  /** The field has another name where its window is ninety days. */
  uptimePct?: number | null;
  uptimePct90d?: number | null;
  uptimePctLow: number | null;
  uptimePctHigh: number | null;
}

/** The bounds by the definition, as a reader computes them. */
function recomputed({ measuredMinutes, scheduledMinutes }: Minutes, downMinutes: number | null) {
  if (measuredMinutes === 0) return { uptimePctLow: null, uptimePctHigh: null };
  return {
    uptimePctLow: Math.floor((100_000 * (measuredMinutes - downMinutes!)) / scheduledMinutes) / 1_000,
    uptimePctHigh: Math.ceil((100_000 * (scheduledMinutes - downMinutes!)) / scheduledMinutes) / 1_000,
  };
}

function sumOf(rows: readonly { downMinutes: number | null }[]): number {
  return rows.reduce((sum, { downMinutes }) => sum + (downMinutes ?? 0), 0);
}

type Counted = [where: string, basis: Basis, downMinutes: number | null];

function ofBoard({ summary, venues }: BoardBody): Counted[] {
  return [
    ["all venues of the board", summary, sumOf(venues.flatMap(({ days }) => days))],
    ...venues.flatMap((row): Counted[] => [
      [`${row.id} on the board`, row, sumOf(row.days)],
      ...row.days.map((day): Counted => [`${row.id} on ${day.date}`, day, day.downMinutes]),
    ]),
  ];
}

function ofReliability({ fleet, venues }: Pick<ReliabilityBody, "fleet" | "venues">): Counted[] {
  return [
    ["all venues compared", fleet, sumOf(venues)],
    ...venues.flatMap((row): Counted[] => [
      [row.id, row, row.downMinutes],
      [`REST of ${row.id}`, row.rest, row.rest.downMinutes],
      [`streams of ${row.id}`, row.streams, row.streams.downMinutes],
      ...row.components.map((one): Counted => [`${row.id} ${one.component}`, one, one.downMinutes]),
    ]),
  ];
}

void t.test("every bound is recomputed from the published minutes", async (t) => {
  const { body: page } = await api.ask<VenueBody>("/v1/targets/kraken");
  const counted: Counted[] = [
    ...ofBoard(board),
    ...ofReliability(reliability),
    ["the page of Kraken", page, sumOf(page.days)],
    ...page.days.map((day): Counted => [`the page of Kraken on ${day.date}`, day, day.downMinutes]),
  ];
  for (const [where, basis, downMinutes] of counted) {
    const { uptimePct90d = null, uptimePct = uptimePct90d, uptimePctLow: low, uptimePctHigh: high } = basis;
    t.strictSame({ uptimePctLow: low, uptimePctHigh: high }, recomputed(basis, downMinutes), where);
    if (uptimePct !== null) t.ok(low! <= uptimePct && uptimePct <= high!, `${where}: the uptime is within its bounds`);
  }
  const kinds = [
    "REST of okx",
    "streams of okx",
    "bybit rest:ticker",
    "all venues of the board",
    "kraken on the board",
  ];
  for (const kind of kinds) t.ok(counted.some(([where, { uptimePctLow }]) => where === kind && uptimePctLow !== null));

  const { body: table } = await api.ask<Record<string, string>[]>("/v1/reliability.csv?days=6");
  for (const row of table) {
    const [measuredMinutes, scheduledMinutes] = [Number(row["windowMeasuredMinutes"]), Number(row["scheduledMinutes"])];
    const { uptimePctLow: low, uptimePctHigh: high } = recomputed(
      { measuredMinutes, scheduledMinutes },
      Number(row["downMinutes"]),
    );
    const said = [row["uptimePctLow"], row["uptimePctHigh"]].map((text) => (text === "" ? null : Number(text)));
    t.strictSame(said, [low, high], `${row["venue"]} in the table`);
  }
});

void t.test("three minutes a day prove at least 0.2 %", (t) => {
  const of = (id: string) => reliability.venues.find((row) => row.id === id);
  t.match(of("okx"), { uptimePct: null, coveragePct: 0.208, uptimePctLow: 0.208, uptimePctHigh: 100 });
  t.match(of("kraken"), { uptimePctLow: 0.194, uptimePctHigh: 99.987 });
  t.match(of("bybit"), { uptimePctLow: null, uptimePctHigh: null }, "one endpoint is no measurement of its venue");
  t.match(of("bitstamp"), { uptimePct: 100, uptimePctLow: 100, uptimePctHigh: 100 });
  t.match(of("gemini"), { uptimePct: 0, uptimePctLow: 0, uptimePctHigh: 0 });
  t.end();
});

void t.test("a rank is one more than the number of venues above it in any case, so overlapping bounds tie", (t) => {
  const rows = reliability.venues.filter(({ uptimePctLow }) => uptimePctLow !== null);
  const rankOf = new Map(reliability.ranks.flatMap(({ rank, venues }) => venues.map((id) => [id, rank] as const)));
  t.strictSame([...rankOf.keys()].sort(), rows.map(({ id }) => id).sort());
  for (const { id, uptimePctHigh } of rows)
    t.equal(rankOf.get(id), 1 + rows.filter(({ uptimePctLow: low }) => low! > uptimePctHigh!).length, id);
  const [okx, kraken, bitstamp, gemini] = ["okx", "kraken", "bitstamp", "gemini"].map((id) => rankOf.get(id));
  t.strictSame([okx, bitstamp, kraken, gemini], [1, 1, 2, rows.length]);
  t.end();
});

void t.test("examples of the reference fulfil the definition", (t) => {
  const page = exampleOf(exchangeResponse) as VenueBody;
  const examples = [
    ...ofReliability(exampleOf(reliabilityResponse) as ReliabilityBody),
    ...(exampleOf(statusResponse) as BoardBody).venues[0]!.days.map((day): Counted => ["a day", day, day.downMinutes]),
    ["the venue of a page", page.summary, page.summary.downMinutes] as Counted,
  ];
  for (const [where, basis, downMinutes] of examples)
    t.match(basis, recomputed(basis, downMinutes), `the example of ${where}`);
  t.end();
});

const bothExtremes = "as if every unmeasured minute had been down, and as if none had";
const inAnyCase = "whatever happened in the unmeasured minutes";

async function asked(name: string, given: Record<string, unknown>): Promise<string> {
  return (await agent.ask(name, given)).text;
}

async function pageAt(path: string): Promise<string> {
  return (await getPage(api.port, path)).text;
}

function file(path: string): string {
  return onOneLine(readFileSync(packagedFile(path), "utf8"));
}

function onOneLine(text: string): string {
  return text.replace(/\s+/g, " ");
}

const clientTypes = ["clients/typescript/src/openapi.ts", "clients/python/src/venuewatch/types.py"];

/** Places that state bounds, with their words. Three minutes a day of OKX were measured. */
const places: [place: string, read: () => Promise<string> | string, says: string[]][] = [
  ["/compare", () => pageAt("/compare?days=7"), [bothExtremes, inAnyCase, "0.208 to 100 %"]],
  ["/venues/okx", () => pageAt("/venues/okx"), [bothExtremes, "0.208 to 100 %"]],
  ["/", () => pageAt("/"), ["0.208–100 %"]],
  ["/methodology", () => pageAt("/methodology"), [bothExtremes, inAnyCase, "0.208 to 100"]],
  ["docs/methodology.md", () => file("docs/methodology.md"), [bothExtremes, "100 (_M_ − _D_) ÷ _N_, rounded down"]],
  ["docs/glossary.md", () => file("docs/glossary.md"), [bothExtremes]],
  ["docs/agents.md", () => file("docs/agents.md"), [bothExtremes, inAnyCase]],
  ["/llms.txt", async () => (await askRaw(api.port, "/llms.txt")).bytes.toString(), [bothExtremes]],
  [
    "the tool `compare`",
    () => asked("compare", { venues: ["okx", "bitstamp", "kraken"], days: 6 }),
    [`More available ${inAnyCase}: bitstamp than kraken.`],
  ],
  [
    "the tool `compare`, of a tie",
    () => asked("compare", { venues: ["okx", "bitstamp"], days: 6 }),
    ["Do not rank them by uptime"],
  ],
  ["the tools described", () => JSON.stringify(agent.tools), [inAnyCase]],
  ["/openapi.json", () => JSON.stringify(openapi()), [inAnyCase]],
  ...clientTypes.map((path): (typeof places)[number] => [path, () => file(path), [inAnyCase]]),
  ...["README.md", "clients/typescript/README.md", "clients/python/README.md", ...documents()].map(
    (path): (typeof places)[number] => [path, () => file(path), []],
  ),
];

function openapi() {
  return openapiDocument({ registry, baseUrl: "https://api.example.org", siteUrl: "http://localhost" }, new Date());
}

function documents(): string[] {
  return readdirSync(packagedFile("docs"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".md"))
    .map((path) => `docs/${path}`);
}

/** Words of a statistical claim, which no bound makes. */
const statistical = /\b95 ?%|95 (times|per cent)|confiden|\b(un)?sure\b|likel|probab|certain|quantile|statistic/i;

void t.test("every sentence that states a bound says what the definition says", async (t) => {
  for (const [place, read, says] of places) {
    const text = await read();
    for (const words of says) t.ok(text.includes(words), `${place} says: ${words}`);
    const ofBounds = sentencesOf(text).filter((one) => /\bbounds?\b|uptimePct(Low|High)|vailableThan/i.test(one));
    for (const sentence of ofBounds) t.notMatch(sentence, statistical, place);
  }
});

function sentencesOf(text: string): string[] {
  return text.split(/(?<=[.:;!?]["*_)]?)\s+|"/);
}

void t.test("each field of a bound is described by the definition, in the clients too", (t) => {
  const meanings = {
    uptimePctLow:
      "The uptime of all scheduled minutes as if every unmeasured minute had been down: 100 × (measured − down) ÷ scheduled minutes, rounded down to three digits. Null if nothing was measured.",
    uptimePctHigh:
      "The uptime of all scheduled minutes as if no unmeasured minute had been down: 100 × (scheduled − down) ÷ scheduled minutes, rounded up to three digits. Null if nothing was measured.",
  };
  const described = [...propertiesIn({ openapi: openapi(), tools: agent.tools })];
  const clients = clientTypes.map(file);
  for (const [name, meaning] of Object.entries(meanings)) {
    const own = described.filter(([property]) => property === name);
    t.ok(own.length >= 5, `${name} is described ${own.length} times`);
    for (const [, description] of own) t.equal(description, meaning);
    const comments = [`/** @description ${meaning} */ ${name}: `, `${name}: Union[float, None] """${meaning}"""`];
    for (const text of clients) {
      const places = text.split(new RegExp(`\\b${name}: `)).length - 1;
      const said = comments.map((comment) => text.split(comment).length - 1);
      t.ok(places > 0 && Math.max(...said) === places, `${name} is described at its ${places} places in a client`);
    }
  }
  t.end();
});

/** Names and descriptions of all properties of the schemas within. */
function* propertiesIn(part: unknown): Generator<[name: string, description: unknown]> {
  if (typeof part !== "object" || part === null) return;
  for (const [key, value] of Object.entries(part) as [string, unknown][]) {
    if (key === "properties")
      for (const [name, schema] of Object.entries(value as Record<string, { description?: string }>))
        yield [name, schema.description];
    yield* propertiesIn(value);
  }
}

// The bounds of an uptime in SQL, against the definition in whole numbers: all unmeasured minutes down, or none.

interface CountedMinutes {
  measured: number | null;
  down: number | null;
  scheduled: number;
}

interface Bounded {
  uptime: string | null;
  low: string | null;
  high: string | null;
}

void t.test("bounds of uptime", async (t) => {
  const { pool } = await migratedDatabase(t);
  const boundsOf = (counts: readonly CountedMinutes[]) =>
    pool.query<Bounded>(sql`
      select b."uptimePct"::text as uptime, b."uptimePctLow"::text as low, b."uptimePctHigh"::text as high
      from rows from (
        jsonb_to_recordset(${JSON.stringify(counts)}::jsonb) as (measured bigint, down bigint, scheduled bigint)
      ) with ordinality as c (measured, down, scheduled, nth)
      cross join lateral api.uptime_basis(c.measured, c.down, c.scheduled) b
      order by c.nth
    `);
  const of = async (measured: number | null, down: number | null, scheduled: number) =>
    (await boundsOf([{ measured, down, scheduled }]))[0];

  await t.test("of simple windows", async (t) => {
    t.strictSame(await of(270, 0, 90 * 1_440), { uptime: null, low: "0.208", high: "100.000" }, "three minutes a day");
    t.strictSame(await of(1_440, 0, 1_440), { uptime: "100.000", low: "100.000", high: "100.000" });
    t.strictSame(await of(1_440, 1_440, 1_440), { uptime: "0.000", low: "0.000", high: "0.000" });
    t.strictSame(await of(1_440, 36, 1_440), { uptime: "97.500", low: "97.500", high: "97.500" }, "without rounding");
    t.strictSame(await of(1_440, 1, 1_440), { uptime: "99.930", low: "99.930", high: "99.931" }, "rounded outwards");
    t.strictSame(await of(3, 3, 1_440), { uptime: null, low: "0.000", high: "99.792" }, "everything measured was down");
  });

  await t.test("are null where nothing was measured or scheduled", async (t) => {
    const unknown = { uptime: null, low: null, high: null };
    t.strictSame(await boundsOf([null, 0].map((none) => ({ measured: none, down: none, scheduled: 1_440 }))), [
      unknown,
      unknown,
    ]);
    t.strictSame(await of(null, null, 0), unknown);
  });

  await t.test("are the two extremes of what can have happened, for any counts", async (t) => {
    const random = randomFrom(11);
    const upTo = (most: number) => Math.floor(random() * (most + 1));
    const counts = Array.from({ length: 5_000 }, () => {
      const scheduled = 1 + upTo(random() < 0.5 ? 1_440 : 15 * 90 * 1_440);
      const measured = random() < 0.2 ? scheduled : 1 + upTo(scheduled - 1);
      return { scheduled, measured, down: upTo(random() < 0.5 ? measured : Math.min(measured, 30)) };
    });
    const bounded = await boundsOf(counts);
    t.equal(bounded.length, counts.length);
    for (const [i, { scheduled, measured, down }] of counts.entries()) {
      const { uptime, low, high } = bounded[i]!;
      const is = {
        uptime: uptime === null ? null : thousandths(uptime),
        low: thousandths(low),
        high: thousandths(high),
      };
      // minutes are whole and small enough for exact products
      const of = { low: 100_000 * (measured - down), high: 100_000 * (scheduled - down) };
      const right =
        is.low * scheduled <= of.low &&
        (is.low + 1) * scheduled > of.low &&
        is.high * scheduled >= of.high &&
        (is.high - 1) * scheduled < of.high &&
        (is.uptime === null || (is.low <= is.uptime && is.uptime <= is.high));
      if (!right) t.fail(`${JSON.stringify(counts[i])}: ${JSON.stringify(bounded[i])}`);
    }
  });
});

function thousandths(percent: string | null): number {
  return Math.round(Number(percent) * 1_000);
}
