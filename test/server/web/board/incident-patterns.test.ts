/** Recurring incidents on a venue's page. */
import t from "tap";
import { type Api, serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { decide, pastIncident } from "../../../support/fleet.js";
import { randomFrom } from "../../../support/random-samples.js";

interface Pattern {
  component: string;
  severity: string;
  count: number;
  byHour: number[];
  byWeekday: number[];
  recurring: object[];
  incidents: { slug: string; path: string; startedAt: string }[];
}

async function patternsOf(api: Api, venue: string): Promise<Pattern[]> {
  const { body } = await api.ask<{ incidentPatterns: Pattern[] }>(`/v1/targets/${venue}`);
  return body.incidentPatterns;
}

const dayMs = 86_400_000;
const fiveOfSix = { incidents: 5, days: 5, ofDays: 6 };

/** This many weeks before the current one, at a UTC time of a day of the week; Monday is 1. */
function weeksAgo(weeks: number, weekday: number, hour: number, minute = 0) {
  const sinceMonday = (new Date().getUTCDay() + 6) % 7;
  return daysAgo(sinceMonday + 7 * weeks - (weekday - 1), hour, minute);
}

/** This many days before today, at a UTC time. */
function daysAgo(days: number, hour: number, minute = 0): Date {
  const today = Math.floor(Date.now() / dayMs) * dayMs;
  return new Date(today - days * dayMs + (hour * 60 + minute) * 60_000);
}

void t.test("a venue's page shows patterns of incidents", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  const api = await serve(t, { pool, registry });
  const past = (venue: string, component: string, startedAt: Date) =>
    pastIncident(pool, { venue, component, startedAt, minutes: 5 });
  await decide(pool);

  await t.test("an hour of a weekday is a pattern", async (t) => {
    for (const weeks of [1, 2, 3, 5, 8]) await past("okx", "rest:ticker", weeksAgo(weeks, 2, 14, weeks));
    await past("okx", "rest:ticker", weeksAgo(4, 5, 3));
    const [pattern] = await patternsOf(api, "okx");
    const newestAt = weeksAgo(1, 2, 14, 1).toISOString();
    t.match(pattern, { component: "rest:ticker", severity: "outage", count: 6, days: 6, totalSeconds: 1800, newestAt });
    t.strictSame([pattern!.byHour[14], pattern!.byHour[3]], [5, 1]);
    t.strictSame(pattern!.byWeekday, [0, 5, 0, 0, 1, 0, 0]);
    const tuesdays = { every: "week", weekday: "tuesday", hour: 14, ...fiveOfSix };
    t.strictSame(pattern!.recurring, [tuesdays], "neither its hour nor its weekday is another pattern");
  });

  await t.test("an hour of any day is a pattern", async (t) => {
    for (const days of [3, 4, 9, 12, 30]) await past("kraken", "rest:book", daysAgo(days, 0, 10));
    await past("kraken", "rest:book", daysAgo(20, 9));
    const [pattern] = await patternsOf(api, "kraken");
    t.strictSame(pattern!.recurring, [{ every: "day", weekday: null, hour: 0, ...fiveOfSix }]);
  });

  await t.test("a weekday at any hour is a pattern", async (t) => {
    for (const [nth, hour] of [2, 7, 11, 16, 21].entries())
      await past("gemini", "ws:trades", weeksAgo(nth + 1, 7, hour));
    await past("gemini", "ws:trades", weeksAgo(3, 4, 5));
    const [pattern] = await patternsOf(api, "gemini");
    t.strictSame(pattern!.recurring, [{ every: "week", weekday: "sunday", hour: null, ...fiveOfSix }]);
  });

  await t.test("several incidents on one afternoon are no pattern", async (t) => {
    for (const minute of [0, 12, 25, 41, 50]) await past("bybit", "ws:conn", daysAgo(2, 15, minute));
    const [pattern] = await patternsOf(api, "bybit");
    t.match(pattern, { count: 5, days: 1 });
    t.strictSame(pattern!.recurring, []);
  });

  await t.test("two incidents are no pattern", async (t) => {
    for (const weeks of [1, 2]) await past("gate", "rest:ticker", weeksAgo(weeks, 3, 8));
    const [pattern] = await patternsOf(api, "gate");
    t.strictSame([pattern!.count, pattern!.recurring], [2, []]);
  });

  await t.test("every incident of the window is counted once", async (t) => {
    const random = randomFrom(7);
    const wanted = [];
    for (let nth = 0; nth < 70; nth++) {
      const startedAt = daysAgo(1 + Math.floor(random() * 88), Math.floor(random() * 24), Math.floor(random() * 60));
      const component = ["rest:ticker", "rest:book", "ws:conn"][nth % 3]!;
      const severity = random() < 0.5 ? "outage" : "degraded";
      const retracted = random() < 0.1;
      const what = { venue: "bitget", component, severity, retracted } as const;
      const slug = await pastIncident(pool, { ...what, startedAt, minutes: 3 });
      if (!retracted) wanted.push({ slug, component, severity });
    }
    await past("bitget", "rest:ticker", daysAgo(95, 3));
    const patterns = await patternsOf(api, "bitget");
    const counted = patterns.flatMap(({ component, severity, incidents }) =>
      incidents.map(({ slug }) => ({ slug, component, severity })),
    );
    const bySlug = (a: { slug: string }, b: { slug: string }) => a.slug.localeCompare(b.slug);
    t.strictSame(counted.sort(bySlug), wanted.sort(bySlug));
    const kinds = patterns.map((one) => `${one.component} ${one.severity}`);
    t.equal(new Set(kinds).size, kinds.length, "each kind appears once");
    for (const { count, byHour, byWeekday, incidents } of patterns) {
      t.strictSame([incidents.length, sum(byHour), sum(byWeekday)], [count, count, count]);
      const times = incidents.map(({ startedAt }) => startedAt);
      t.strictSame(times, [...times].sort().reverse(), "newest first");
    }
    const { body } = await api.ask<{ summary: { incidents: number } }>("/v1/targets/bitget");
    t.equal(body.summary.incidents, wanted.length);
  });

  await t.test("a pattern's links lead to its incidents", async (t) => {
    for (const { incidents } of await patternsOf(api, "okx"))
      for (const { path, slug } of incidents)
        t.match(await api.ask(path), { status: 200, body: { incident: { slug } } });
  });
});

function sum(counts: number[]): number {
  return counts.reduce((a, b) => a + b, 0);
}
