/** Bounds for uptime: their values for simple windows, and that they contain the truth as often as they claim. */
import t from "tap";
import { sql } from "../../shared/database/pool.js";
import { betaShare } from "../support/beta.js";
import { migratedDatabase } from "../support/database.js";
import {
  boundsOf,
  containedPct,
  type History,
  judgedHistories,
  patterns,
  sumsOf,
} from "../support/random-histories.js";
import { randomFrom } from "../support/random-samples.js";

const dayMinutes = 1_440;

/** Days with some measured minutes, of which some were down. */
function history(
  days: number,
  isMeasured: (minuteOfDay: number, day: number) => boolean,
  isDown: (minuteOfDay: number, day: number) => boolean = () => false,
): History {
  const of = (is: typeof isMeasured) =>
    new Uint8Array(days * dayMinutes).map((_, at) => (is(at % dayMinutes, Math.floor(at / dayMinutes)) ? 1 : 0));
  return { measured: of(isMeasured), down: of(isDown) };
}

void t.test("bounds for uptime", async (t) => {
  const { pool } = await migratedDatabase(t);
  const of = async (one: History) => (await boundsOf(pool, [sumsOf(one)]))[0]!;

  await t.test("are exact where every minute was measured", async (t) => {
    const isDown = (minute: number, day: number) => day === 3 && minute < 31;
    t.strictSame(await of(history(7, () => true, isDown)), { low: 99.692, high: 99.692, uptime: 99.692 });
    t.strictSame(await of(history(90, () => true)), { low: 100, high: 100, uptime: 100 });
  });

  await t.test("are null where nothing was measured", async (t) => {
    t.strictSame(await of(history(7, () => false)), { low: null, high: null, uptime: null });
  });

  await t.test("do not claim 100 % from three minutes a day", async (t) => {
    const sparse = await of(history(90, (minute) => minute < 3));
    t.equal(sparse.high, 100);
    t.ok(sparse.low! > 98 && sparse.low! < 99, `${sparse.low} %`);
    const apart = await of(history(90, (minute) => minute % 480 === 0));
    t.ok(apart.low! > sparse.low! && apart.low! < 99.7, `minutes hours apart prove more: ${apart.low} %`);
    const whole = await of(history(90, (minute) => minute >= 3));
    t.ok(whole.low! > 99.9, `all other minutes prove nearly everything: ${whole.low} %`);
  });

  await t.test("narrow as more is measured", async (t) => {
    const isDown = (minute: number) => minute < 20;
    const half = await of(history(30, (_, day) => day % 2 === 0, isDown));
    const most = await of(history(30, (_, day) => day % 10 > 0, isDown));
    t.ok(most.high! - most.low! < half.high! - half.low!);
  });

  await t.test("enclose the uptime, even where everything was down", async (t) => {
    for (const share of [0.001, 0.5, 0.999, 1]) {
      const random = randomFrom(9);
      const isDown = () => random() < share;
      const { low, uptime, high } = await of(history(2, (minute) => minute % 3 === 0, isDown));
      const inOrder = [0, low!, uptime!, high!, 100];
      t.strictSame(
        inOrder,
        inOrder.toSorted((a, b) => a - b),
      );
    }
  });

  await t.test("use quantiles near the exact ones", async (t) => {
    // at least as much is known as from one minute
    const shapes = [1.2, 2, 5, 20, 100, 1_000, 30_000].flatMap((sum) =>
      [0.002, 0.01, 0.05, 0.2, 0.5, 0.9, 0.995].map((mean) => ({ a: sum * mean, b: sum * (1 - mean) })),
    );
    const asked = shapes.flatMap((shape) => [0.025, 0.05, 0.95, 0.975].map((share) => ({ ...shape, share })));
    const quantiles = await pool.query<{ quantile: number }>(sql`
      select api.beta_quantile(s.share, s.a, s.b) as quantile
      from rows from (
        jsonb_to_recordset(${JSON.stringify(asked)}::jsonb) as (share float8, a float8, b float8)
      ) with ordinality as s (share, a, b, nth)
      order by s.nth
    `);
    for (const [i, { share, a, b }] of asked.entries()) {
      const { quantile } = quantiles[i]!;
      const deviation = Math.sqrt((a * b) / (a + b + 1)) / (a + b);
      const off = Math.abs(quantile - exactQuantile(share, a, b)) / deviation;
      if (off > 0.25) t.fail(`${share} of Beta(${a}, ${b}) is off by ${off} deviations`);
    }
    t.equal(quantiles.length, asked.length);
  });

  await t.test("contain the truth in 93 to 97 % of random histories", async (t) => {
    const judged = await judgedHistories(pool, randomFrom(7), 60);
    t.ok(judged.length > 2_500, `${judged.length} histories, none of them measured in full`);
    const all = containedPct(judged);
    t.ok(all >= 93 && all <= 97, `${all.toFixed(1)} %`);
    for (const name of Object.keys(patterns)) {
      const share = containedPct(judged.filter(({ pattern }) => pattern === name));
      // to the squares, half hours that repeat every hour look scattered
      const atLeast = name === "half of every hour" ? 78 : 90;
      t.ok(share >= atLeast, `${name}: ${share.toFixed(1)} %`);
    }
  });
});

/** Found by bisection of the distribution function, which is known. */
function exactQuantile(share: number, a: number, b: number): number {
  let [low, high] = [0, 1];
  for (let i = 0; i < 100; i += 1) {
    const middle = (low + high) / 2;
    if (betaShare(middle, a, b) < share) low = middle;
    else high = middle;
  }
  return high;
}
