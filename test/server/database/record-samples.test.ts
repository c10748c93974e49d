import t from "tap";
import { sql } from "../../../shared/database/pool.js";
import { recordSamples } from "../../../server/database/record-samples.js";
import type { Sample } from "../../../shared/measurement/sample.js";
import { migratedDatabase } from "../../support/database.js";
import { emptied } from "../../support/emptied.js";
import { madeSample } from "../../support/made-sample.js";
import { poolOn } from "../../support/pool-on.js";

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

const database = await migratedDatabase(t);

void t.test("a batch of samples is stored once, and each sample's outcome is reported", async (t) => {
  const { pool } = await emptied(database);
  const now = Date.now();
  const batch = [
    madeSample({ slotAt: new Date(now - 2_000) }),
    madeSample({
      ...{ slotAt: new Date(now - 1_000), good: false, fault: "timeout", fresh: true, head: 23_000_000_000 },
      ...{ certificateExpiresAt: new Date(now + dayMs), clockErrorMs: -1900, clockErrorWithinMs: 40 },
    }),
    madeSample({
      ...{ slotAt: new Date(now - 1_000), component: "ws:trades" },
      ...{ messages: 40, quietMs: 900, eventAgeMs: -3, sequenceGaps: 2, lateMs: 70 },
    }),
    madeSample({ slotAt: new Date(now - 1_000), component: "ws:book", good: false, fault: "closed", unserved: true }),
  ];
  const record = async (samples: Sample[]) => {
    const { timeline, ...recorded } = await recordSamples(pool, "us-east", samples);
    t.match(timeline, /^[0-9A-F]{8}$/);
    return recorded;
  };

  const outcome = { stored: 0, duplicates: 0, refused: 0, unknown: [] };
  t.strictSame(await record(batch), { ...outcome, stored: 4 }, "a batch is stored");
  t.strictSame(await record(batch), { ...outcome, duplicates: 4 }, "a repeated batch is not stored again");
  const again = madeSample({ slotAt: new Date(now - 500) });
  t.strictSame(
    await record([again, again, batch[0]!]),
    { ...outcome, stored: 1, duplicates: 2 },
    "a duplicate within a batch is stored once",
  );
  t.strictSame(await record([]), outcome);
  const unheard = madeSample({ slotAt: new Date(now - 100), component: "rest:unheard" });
  const nowhere = madeSample({ slotAt: new Date(now - 200), venue: "nowhere" });
  const tooOld = new Date(now - 7 * dayMs - minuteMs);
  t.strictSame(
    await record([madeSample({ slotAt: new Date(now - 300) }), unheard, { ...nowhere, slotAt: tooOld }, nowhere]),
    { ...outcome, stored: 1, refused: 1, unknown: [unheard, nowhere] },
    "samples of unknown components are returned unless they are too old",
  );
  const slots = [-7 * dayMs - minuteMs, -7 * dayMs + minuteMs, 2 * minuteMs, minuteMs / 2];
  t.strictSame(
    await record(slots.map((ms) => madeSample({ slotAt: new Date(now + ms) }))),
    { ...outcome, stored: 2, refused: 2 },
    "samples older than seven days or more than a minute ahead are refused",
  );
  const refused = {
    slotAt: new Date(now - 400),
    component: "ws:trades",
    good: false,
    fault: "handshake",
    refusal: `60018 ${"x".repeat(300)}`,
  } as const;
  await record([madeSample(refused)]);
  t.strictSame(
    await pool.query(sql`select refusal from sample where ts = ${refused.slotAt}`),
    [{ refusal: refused.refusal.slice(0, 200) }],
    "the venue's words of refusal are stored, truncated",
  );
  for (const latencyUs of [NaN, Infinity])
    await t.rejects(record([madeSample({ slotAt: new Date(now), latencyUs })]), { code: "22P02" }, `${latencyUs}`);
  await t.rejects(
    recordSamples(pool, "atlantis", batch),
    /knows the region atlantis, this one does not: run `venuewatch migrate`/,
    "a batch of an unknown region is an error, so that it is not lost",
  );

  const stored = await pool.query(sql`
    select c.component, s.good, s.fault, s.latency_us, s.messages, s.quiet_ms, s.event_age_ms, s.sequence_gaps, s.late_ms, s.fresh, s.certificate_expires_at,
      s.head::text, s.clock_error_ms, s.clock_error_within_ms, s.unserved
    from sample s
    join component c using (component_id)
    where s.ts = ${batch[1]!.slotAt}
    order by c.component
  `);
  const none = {
    ...{ good: false, latency_us: 80_000, messages: null, quiet_ms: null, event_age_ms: null, sequence_gaps: null },
    ...{ late_ms: null, fresh: null, certificate_expires_at: null, head: null, unserved: null },
    ...{ clock_error_ms: null, clock_error_within_ms: null },
  };
  t.strictSame(
    stored,
    [
      {
        ...{ ...none, component: "rest:ticker", fault: "timeout", fresh: true, head: "23000000000" },
        ...{ certificate_expires_at: new Date(now + dayMs), clock_error_ms: -1900, clock_error_within_ms: 40 },
      },
      { ...none, component: "ws:book", fault: "closed", unserved: true },
      {
        ...{ ...none, component: "ws:trades", good: true, fault: null },
        ...{ messages: 40, quiet_ms: 900, event_age_ms: -3, sequence_gaps: 2, late_ms: 70 },
      },
    ],
    "every field is stored in its column",
  );
});

void t.test("a sample is good exactly when it has no fault", async (t) => {
  const { pool } = await emptied(database);
  const insert = (good: boolean, fault: string | null) =>
    pool.query(sql`
      insert into sample (ts, component_id, region_id, good, fault) values (now(), 1, 1, ${good}, ${fault}::fault)
    `);
  await t.rejects(insert(true, "timeout"), { code: "23514" });
  await t.rejects(insert(false, null), { code: "23514" });
  await t.resolves(insert(false, "timeout"));
});

void t.test("three regions can insert while roll-ups are refreshed", async (t) => {
  const { pool, url, registry } = await emptied(database);
  const refresher = poolOn(t, url);
  const startMs = Math.floor(Date.now() / minuteMs) * minuteMs - 2 * minuteMs;

  let inserting = true;
  const refreshes = (async () => {
    let done = 0;
    while (inserting) {
      await refresher.query(sql`call upkeep.refresh_newest(now())`);
      done += 1;
    }
    return done;
  })();
  const totals = await Promise.all(
    registry.regions.map(async ({ id }) => {
      let stored = 0;
      for (let slot = 0; slot < 20; slot++) {
        const slotAt = new Date(startMs + slot * 5_000);
        const batch = registry.venues.map(({ id: venue, rest }) =>
          madeSample({ venue, component: `rest:${rest[0]!.name}`, slotAt }),
        );
        stored += (await recordSamples(pool, id, batch)).stored;
      }
      return stored;
    }),
  );
  inserting = false;
  t.ok((await refreshes) > 0);
  t.strictSame(totals, [300, 300, 300], "every sample is stored");

  await pool.query(sql`call upkeep.refresh_newest(now())`);
  const [rolledUp] = await pool.query<{ samples: number }>(sql`select sum(samples) as samples from sample_minute`);
  t.equal(rolledUp!.samples, 900, "the next refresh rolls up all samples");
});
