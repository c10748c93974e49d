/** The bounds of an uptime in SQL, against the definition in whole numbers: all unmeasured minutes down, or none. */
import t from "tap";
import { sql } from "../../shared/database/pool.js";
import { migratedDatabase } from "../support/database.js";
import { randomFrom } from "../support/random-samples.js";

interface Counted {
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
  const boundsOf = (counts: readonly Counted[]) =>
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
