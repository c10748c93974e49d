import { readFileSync } from "node:fs";
import t from "tap";
import { makeMeter } from "../../../probe/measure/stream/meter.js";
import {
  distributionOf,
  leastPeriods,
  measureStalls,
  mostDays,
  type Silence,
  thresholdFrom,
} from "../../../server/cli/stalls.js";
import { type Db, sql } from "../../../shared/database/pool.js";
import { packagedFile } from "../../../shared/config/package.js";
import { parseRegistry } from "../../../shared/registry/load-registry.js";
import type { Stream } from "../../../shared/registry/registry.js";
import type { Fault } from "../../../shared/measurement/sample.js";
import { emptyDatabase, migratedDatabase } from "../../support/database.js";
import { pastIncident } from "../../support/fleet.js";
import { randomFrom } from "../../support/random-samples.js";
import { runCli } from "../../support/run-script.js";

const slotMs = 10_000;

const dayMs = 86_400_000;

/** The silences of each line of slots, in seconds; one slot ends every ten seconds. */
const lines: [what: string, slots: string, periods: string][] = [
  ["each slot has its own silence", "5 4 3 2 1", "2 3 4 5"],
  ["one silence that spans several slots", "1 8 18 28 31 2 1", "2 31"],
  ["two silences in succession", "1 9 19 22 6 16 21 1 0", "1 21 22"],
  ["silences of equal length are separate", "3 3 3 2", "3 3 3"],
  ["a silence that lasts to the end is incomplete", "1 0 10 20 30", "1"],
  ["a silence that lasts into an unmeasured slot is incomplete", "2 1 11 21 . 3 2 0", "2 2 3"],
  ["a silence that ends after the gap is complete", "2 1 11 . 31 33 2 1", "2 2 33"],
  ["a refused subscription is no silence", "2 1 x40 x50 3 2 1", "2 2 3"],
];

interface Kind {
  /** Null: the stream's own component. */
  component: string | null;
  retracted?: boolean;
  /** An impairment of a region instead. */
  impaired?: string;
  /** Whether it excludes periods from a series of eu-central. */
  counts: boolean;
}

const kinds: Kind[] = [
  { component: null, counts: true },
  { component: "ws:conn", counts: true },
  { component: "rest:ticker", counts: false },
  { component: null, retracted: true, counts: false },
  { component: null, impaired: "eu-central", counts: true },
  { component: null, impaired: "us-east", counts: false },
];

// Each test uses separate days, and the incident that stays open comes last.
void t.test("quiet periods are measured from stored samples", async (t) => {
  const { pool, registry } = await migratedDatabase(t);

  await t.test("follow from the slots' silences", async (t) => {
    for (const [index, [what, line, expected]] of lines.entries())
      await t.test(`${what}: ${line}`, async (t) => {
        const { id, socket } = registry.venues[index]!;
        const series = seriesOf(id, socket!.streams[0]!);
        const slots = slotsOf(line);
        const from = new Date("2026-10-30T23:59:15.250Z");
        await storeHeard(pool, { ...series, from, slots });
        const to = endOf(from, slots);
        const silences = await readSilences(pool, series, windowOf(from, to));
        t.equal(periodsOf(silences), expected);
      });

    await t.test("do not include other venues, streams or regions", async (t) => {
      const { id, socket } = registry.venues[0]!;
      const other = { ...seriesOf(id, socket!.streams[0]!), region: "us-east" };
      const from = new Date("2026-10-30T00:00:00Z");
      t.strictSame(await readSilences(pool, other, windowOf(from, new Date(+from + 2 * dayMs))), []);
    });
  });

  await t.test("are complete silences, each counted once", async (t) => {
    const random = randomFrom(3);
    for (const [index, meanMs] of [300, 4_000, 15_000, 60_000].entries()) {
      const { id, socket } = registry.venues[index]!;
      const series = seriesOf(id, socket!.streams[0]!);
      const from = new Date("2026-09-01T00:00:10Z");
      const { slots, silences } = listen(random, meanMs, 2_000);
      await storeHeard(pool, { ...series, from, slots });
      const found = await readSilences(pool, series, windowOf(from, endOf(from, slots)));
      const periods = found.filter((one) => one.periods > 0);
      t.ok(periods.length > 50, `${periods.length} lengths`);
      const wrong = periods.filter((one) => one.periods > (silences.get(one.quietMs) ?? 0));
      t.strictSame(wrong, [], `mean gap ${meanMs} ms`);
      t.equal(periods.at(-1)!.quietMs, Math.max(...silences.keys()));
    }
  });

  await t.test("agree with a simple computation for random series", async (t) => {
    const random = randomFrom(5);
    let periods = 0;
    for (const [day, { id: venue, socket }] of registry.venues.entries()) {
      const stream = socket!.streams[Math.floor(random() * 3)]!;
      const series = seriesOf(venue, stream);
      // each has a separate day: an impairment affects all streams
      const from = new Date(+new Date("2026-08-01T23:31:17.890Z") + day * dayMs);
      const slots = randomSlots(random, 300);
      await storeHeard(pool, { ...series, from, slots });
      const startMs = +from + Math.floor(random() * 300) * slotMs;
      const minutes = Math.ceil(random() * 10);
      const kind = kinds[Math.floor(random() * kinds.length)]!;
      await makeTrouble(pool, kind, series, new Date(startMs), minutes);
      const trouble = kind.counts ? [{ from: startMs, to: startMs + minutes * 60_000 }] : [];
      const [beginMs, endMs] = [Math.floor(random() * 100_000), 2_000_000 + Math.floor(random() * 2_000_000)];
      const window = windowOf(new Date(+from + beginMs), new Date(+from + endMs));
      const expected = computedPlainly(slots, +from, window, trouble);
      t.strictSame(await readSilences(pool, series, window), expected);
      periods += expected.reduce((sum, one) => sum + one.periods, 0);
    }
    t.ok(periods > 500, `${periods} periods`);
  });

  await t.test("give a proposal and the number of false stalls for each stream", async (t) => {
    const venue = registry.venues.find(({ id }) => id === "kraken")!;
    const [ticker, trades] = venue.socket!.streams as [Stream, Stream];
    const small = { ...registry, venues: [venue] };
    const now = new Date("2026-07-31T06:00:00Z");
    const from = new Date(+now - 2 * dayMs);

    // the present threshold is 30 s; the last slot has no next one
    const enough = [...silent(1, leastPeriods - 1), ...slotsOf("21 31 35 1 1")];
    await storeHeard(pool, { ...seriesOf("kraken", ticker), from, slots: enough });
    await storeHeard(pool, { ...seriesOf("kraken", ticker), region: "us-east", from, slots: silent(2, 100) });
    const short = silent(1, leastPeriods);
    await storeHeard(pool, { ...seriesOf("kraken", trades), from, slots: short });

    const [first, second, third] = await measureStalls(pool, small, { days: 3, now });

    const window = { periods: leastPeriods + 99, from: "2026-07-29", to: "2026-07-30" };
    t.match(first, {
      ...{ venue: "kraken", stream: { name: "ticker" } },
      ...{ leftOut: 0, longestMs: 35_000, mostPeriods: leastPeriods },
      proposal: { afterMs: 10_000, distribution: { ...window, p50Ms: 1000, p99Ms: 1000, p999Ms: 2000 } },
    });
    t.match(first, { measuredDays: (leastPeriods + 104) / 8640, falseNow: 2, falseThen: 3 });

    t.match(second, { mostPeriods: leastPeriods - 1, proposal: null }, "one period too few");
    t.ok(second!.distribution, "the distribution is shown nevertheless");
    const nothing = { distribution: null, longestMs: null, mostPeriods: 0, proposal: null };
    t.match(third, nothing, "no quiet period was measured");
  });

  await t.test("can reach back as far as samples are kept", async (t) => {
    const kept = await pool.query(sql`select extract(epoch from upkeep.raw_kept()) / 86400 as days`);
    t.strictSame(kept, [{ days: mostDays }]);
  });

  await t.test("exclude the time of incidents and impairments", async (t) => {
    const from = new Date("2026-12-30T12:00:00Z");
    // slots end at 12:00:00, :10, …; the incident lasts from 12:00:50 to 12:02:50
    const slots = slotsOf("3 2 1 11 21 31 32 5 4 3 2 1 1 1 1 1 1 1 1 1 2 1 1");
    const incident = { startedAt: new Date("2026-12-30T12:00:50Z"), minutes: 2 };
    const allOfThem = "1 1 1 1 1 1 1 1 1 2 2 2 3 3 4 5 32, 0 left out";
    const cases: [venue: string, component: string, more: { minutes?: null; retracted?: true }, expected: string][] = [
      ["kraken", "ws:trades", {}, "1 2 2 3, 13 left out"],
      ["okx", "ws:conn", {}, "1 2 2 3, 13 left out"],
      ["bybit", "ws:trades", { minutes: null }, "2 3, 15 left out"],
      ["gate", "ws:ticker", {}, allOfThem],
      ["gemini", "rest:ticker", {}, allOfThem],
      ["bitget", "ws:trades", { retracted: true }, allOfThem],
    ];
    for (const [venue, component, more, expected] of cases)
      await t.test(`${component} ${JSON.stringify(more)}`, async (t) => {
        const { socket } = registry.venues.find(({ id }) => id === venue)!;
        const trades = socket!.streams.find(({ name }) => name === "trades")!;
        const series = seriesOf(venue, trades);
        await storeHeard(pool, { ...series, from, slots });
        await pastIncident(pool, { venue, component, ...incident, ...more });
        const silences = await readSilences(pool, series, windowOf(from, endOf(from, slots)));
        const leftOut = silences.reduce((sum, one) => sum + one.leftOut, 0);
        t.equal(`${periodsOf(silences)}, ${leftOut} left out`, expected);
      });
  });
});

void t.test("a threshold follows from a distribution", async (t) => {
  const stream = { cadenceMs: slotMs } as Stream;
  const days = { firstDay: "2026-10-30", lastDay: "2026-10-30" };
  const silence = (quietMs: number, periods: number): Silence => ({ quietMs, slots: 1, periods, leftOut: 7, ...days });
  const thousand = Array.from({ length: 1000 }, (_, index) => silence(10 * (index + 1), 1));

  await t.test("percentiles use the nearest rank", (t) => {
    const [first, ...others] = thousand.toReversed();
    const withDays = [...others.reverse(), { ...first!, firstDay: "2026-10-29", lastDay: "2026-10-31" }];
    t.strictSame(distributionOf(withDays), {
      ...{ periods: 1000, from: "2026-10-29", to: "2026-10-31" },
      ...{ p50Ms: 5000, p99Ms: 9900, p999Ms: 9990 },
    });
    t.match(distributionOf([silence(4, 1)]), { p50Ms: 4, p99Ms: 4, p999Ms: 4 });
    t.match(distributionOf([silence(1, 998_999), silence(2, 1_001)]), { p99Ms: 1, p999Ms: 2 });
    t.match(distributionOf([silence(1, 999_000), silence(2, 1_000)]), { p999Ms: 1 });
    t.equal(distributionOf([]), null);
    t.end();
  });

  await t.test("the threshold is twice the 99.9th percentile, in whole seconds, at least 10 s", (t) => {
    const distribution = distributionOf(thousand)!;
    const afterMs = (p999Ms: number, cadenceMs = slotMs) =>
      thresholdFrom({ ...distribution, p999Ms }, { ...stream, cadenceMs }).afterMs;
    t.same([afterMs(9990), afterMs(10_000), afterMs(10_001), afterMs(900)], [20_000, 20_000, 21_000, 10_000]);
    t.equal(afterMs(900, 30_000), 30_000, "never shorter than a slot");
    t.end();
  });
});

void t.test("stalls measure prints thresholds as overrides of a registry", async (t) => {
  const { url, pool, registry } = await migratedDatabase(t);
  const [{ id: venue, socket }] = registry.venues as [(typeof registry.venues)[number]];
  const [ticker, trades] = socket!.streams as [Stream, Stream];
  const now = Math.floor(Date.now() / slotMs) * slotMs;
  for (const [{ name }, length] of [
    [ticker, leastPeriods + 1],
    [trades, leastPeriods],
  ] as const) {
    const slots = Array.from({ length }, () => ({ quietMs: 7001 }));
    const from = new Date(now - length * slotMs);
    await storeHeard(pool, { venue, component: `ws:${name}`, region: "eu-central", from, slots });
  }
  const script = runCli(t, ["stalls", "measure", "--days", "2"], {
    ...{ DATABASE_URL: url, REGISTRY: packagedFile("registry/exchanges.json") },
  });
  t.equal(await script.ended, 0, script.output());
  const [table = "", lines = ""] = script.output().split("Proposals for 1 of 48 streams");
  t.match(table, /\nbinance ws:ticker +\d+-\d+-\d+ +\d+-\d+-\d+ +10,000 +0 +7 +7 +7 +7 +10 +0 +0 +15 +0 +0\n/);
  t.match(table, /\nbinance ws:trades .* too few: 9,999 of 10,000 in a region +- +-\n/);

  const list = JSON.parse(readFileSync(packagedFile("registry/exchanges.json"), "utf8")) as { venues: string[] };
  const proposed = JSON.parse(`[${lines.slice(lines.indexOf("{"))}]`) as object[];
  const venues = [...proposed, ...list.venues.filter((id) => id !== venue)];
  const streams = parseRegistry({ ...list, venues }, "it").venues[0]!.socket!.streams;
  t.match(streams[0]!.stall, { afterMs: 15_000, distribution: { periods: leastPeriods, p50Ms: 7001, p999Ms: 7001 } });
  t.strictSame(streams.slice(1), socket!.streams.slice(1), "the others stay as they are");
});

void t.test("a database without our tables is reported in one sentence", async (t) => {
  const script = runCli(t, ["stalls", "measure"], { DATABASE_URL: await emptyDatabase(t) });
  t.equal(await script.ended, 2);
  t.match(
    script.output(),
    /venuewatch: the database .* cannot be used \(42P01\): venuewatch's tables are missing; run venuewatch migrate/,
  );
});

interface Window {
  from: Date;
  to: Date;
}

interface Series {
  venue: string;
  component: string;
  region: string;
  cadenceMs: number;
}

async function readSilences(db: Db, { venue, component, region, cadenceMs }: Series, { from, to }: Window) {
  return db.file<Silence>("quiet_periods", [venue, component, region, from, to, cadenceMs]);
}

function seriesOf(venue: string, { name, cadenceMs }: Stream) {
  return { venue, component: `ws:${name}`, region: "eu-central", cadenceMs };
}

async function makeTrouble(
  db: Db,
  { component, retracted, impaired }: Kind,
  series: { venue: string; component: string },
  startedAt: Date,
  minutes: number,
): Promise<void> {
  if (impaired === undefined) {
    const where = { ...series, ...(component && { component }) };
    await pastIncident(db, { ...where, startedAt, minutes, retracted });
    return;
  }
  const endedAt = new Date(+startedAt + minutes * 60_000);
  await db.query(sql`
    insert into impairment (region_id, started_at, recognised_at, ended_at, venues, measured)
    select region_id, ${startedAt}, ${startedAt}, ${endedAt}, '{kraken,okx,gate}', 4
    from region
    where region = ${impaired}
  `);
}

function windowOf(from: Date, to: Date): Window {
  return { from, to };
}

/** Just after the last slot. */
function endOf(from: Date, slots: readonly HeardSlot[]): Date {
  return new Date(+from + (slots.length - 1) * slotMs + 1);
}

/** Lengths of all counted periods, in seconds. */
function periodsOf(silences: readonly Silence[]): string {
  return silences
    .flatMap(({ quietMs, periods }) => Array<number>(periods).fill(quietMs))
    .map((ms) => ms / 1000)
    .join(" ");
}

function silent(seconds: number, length: number): HeardSlot[] {
  return Array.from({ length }, () => ({ quietMs: seconds * 1000 }));
}

/** Whole seconds, so that equal lengths occur; at times a continuing silence, a gap, a refusal. */
function randomSlots(random: () => number, length: number): HeardSlot[] {
  const slots: HeardSlot[] = [];
  let quietMs = 0;
  while (slots.length < length) {
    const luck = random();
    quietMs = luck < 0.3 ? quietMs + slotMs : Math.floor(random() * 20) * 1000;
    const fault = luck > 0.97 ? "handshake" : luck > 0.9 ? "stall" : undefined;
    slots.push(luck > 0.4 && luck < 0.45 ? { quietMs: null } : { quietMs, fault });
  }
  return slots;
}

/** The same result by walking from slot to slot. */
function computedPlainly(
  slots: readonly HeardSlot[],
  firstMs: number,
  window: Window,
  incidents: readonly { from: number; to: number }[],
): Silence[] {
  const heard = slots.map(({ quietMs, fault }) => (fault === "handshake" ? null : quietMs));
  const byLength: Silence[] = [];
  for (const [index, quietMs] of heard.entries()) {
    const endMs = firstMs + index * slotMs;
    if (quietMs === null || endMs < +window.from || endMs >= +window.to) continue;
    const begunMs = endMs - slotMs - quietMs;
    const touches = incidents.some(({ from, to }) => begunMs <= to && endMs + slotMs >= from);
    const next = heard[index + 1] ?? null;
    const ended = next !== null && next <= quietMs;
    const silence = (byLength[quietMs] ??= {
      ...{ quietMs, slots: 0, periods: 0, leftOut: 0 },
      ...{ firstDay: null, lastDay: null },
    });
    if (!touches) silence.slots += 1;
    if (ended && touches) silence.leftOut += 1;
    if (!ended || touches) continue;
    silence.periods += 1;
    silence.lastDay = new Date(endMs).toISOString().slice(0, 10);
    silence.firstDay ??= silence.lastDay;
  }
  return byLength.filter(Boolean);
}

/**
 * Readings of the probe's own meter for frames that arrive at random, read a little late at times.
 *
 * @returns how often each length of silence between frames occurred
 */
function listen(random: () => number, meanMs: number, slotCount: number) {
  const meter = makeMeter();
  const silences = new Map<number, number>();
  const slots: HeardSlot[] = [];
  let heardMs = 0;
  let nextMs = gap();
  meter.subscribed(0);

  function gap() {
    return -Math.log(1 - random()) * meanMs;
  }
  while (slots.length < slotCount) {
    const readMs = (slots.length + 1) * slotMs + random() * 200;
    while (nextMs <= readMs) {
      meter.frame({}, { atMs: nextMs, unixMs: nextMs });
      const quietMs = Math.round(nextMs - heardMs);
      silences.set(quietMs, (silences.get(quietMs) ?? 0) + 1);
      heardMs = nextMs;
      nextMs += gap();
    }
    slots.push({ quietMs: meter.read(readMs, slotMs)!.quietMs });
  }
  return { slots, silences };
}

interface HeardSlot {
  /** Null: not measured. */
  quietMs: number | null;
  fault?: Fault;
}

interface HeardSeries {
  venue: string;
  component: string;
  region: string;
  /** The end of the first slot; the others end ten seconds apart. */
  from: Date;
  slots: HeardSlot[];
}

/** Stores a series without replacing samples. */
async function storeHeard(db: Db, { venue, component, region, from, slots }: HeardSeries): Promise<void> {
  const quietMs = slots.map((slot) => slot.quietMs);
  const faults = slots.map((slot) => slot.fault ?? null);
  await db.query(sql`
    insert into sample (ts, component_id, region_id, good, fault, messages, quiet_ms)
    select
      ${from}::timestamptz + (s.nth - 1) * ${slotMs}::int * interval '1 ms', c.component_id, g.region_id, s.fault is null, s.fault, 1, s.quiet_ms
    from unnest(${quietMs}::int[], ${faults}::fault[]) with ordinality as s (quiet_ms, fault, nth)
    join venue v on v.venue = ${venue}
    join component c on c.venue_id = v.venue_id and c.component = ${component}
    join region g on g.region = ${region}
    where s.quiet_ms is not null
  `);
}

/**
 * Parses a line such as `1 8 18 . 2 x30`: longest silences in seconds. `.` was not measured, and with `x` the venue
 * refused the subscription.
 */
function slotsOf(line: string): HeardSlot[] {
  return line.split(" ").map((word) => {
    if (word === ".") return { quietMs: null };
    if (word.startsWith("x")) return { quietMs: Number(word.slice(1)) * 1000, fault: "handshake" };
    return { quietMs: Number(word) * 1000 };
  });
}
