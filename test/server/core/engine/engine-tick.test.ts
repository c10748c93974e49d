import t from "tap";
import { type Pool, sql } from "../../../../shared/database/pool.js";
import { engineRules, rulesRow } from "../../../../shared/rules/engine-rules.js";
import { accepted, tick } from "../../../../server/core/engine/tick.js";
import { version } from "../../../../shared/config/package.js";
import { migratedDatabase } from "../../../support/database.js";
import { everythingDecided } from "../../../support/decisions.js";
import { member } from "../../../support/member.js";
import { poolOn } from "../../../support/pool-on.js";
import { parseScenario } from "../../../support/scenario.js";
import { play } from "../../../support/scenario-play.js";

const startsAt = new Date("2026-01-15T12:00:00Z");
const afterS = (seconds: number) => new Date(+startsAt + seconds * 1000);

void t.test("the engine, in what scenarios cannot show", async (t) => {
  const { pool, url } = await migratedDatabase(t);

  await t.test("has the same rules in SQL as in TypeScript", async (t) => {
    const fields = await pool.query<{ name: string }>(sql`
      select attname::text as name from pg_attribute
      where attrelid = 'engine.rules'::regclass and attnum > 0
    `);
    t.strictSame(fields.map(({ name }) => name).sort(), engineRules.map(({ name }) => name).sort());
  });

  await t.test("stores each region's vote, or its absence, as evidence", async (t) => {
    await playText(
      pool,
      // known only after the played instants, so that the tick below opens the incident
      `eu-central .*12 x*3@15
       ap-southeast .*12 x*3@15
       us-east    .*6 _*9`,
    );
    await pool.query(sql`
      insert into region_vantage (region_id, holds_from, machine)
      select region_id, ${startsAt}::timestamptz, 'one' from region where region <> 'ap-southeast'
    `);
    await member(pool, { region: "eu-central" }).renew();
    const decided = accepted(await tick(pool, afterS(90)));
    t.strictSame(decided.opened, ["kraken-2026-01-15-rest-degraded"]);
    const [row] = await pool.query<{ evidence: unknown; started_at: Date }>(
      sql`select evidence, started_at from incident`,
    );
    t.strictSame(row!.started_at, afterS(60));
    const vote = {
      ...{ vote: "degraded", samples: 8, bad: 3, slow: 0, unserved: 0, badRun: 3, partial: null },
      ...{ faults: { timeout: 3 }, refusal: null, p50Ms: 80, typicalP50Ms: null },
      ...{ newestAt: "2026-01-15T12:01:10.000Z", ageMs: 20_000 },
    };
    t.strictSame(row!.evidence, {
      opening: {
        ...{ at: "2026-01-15T12:01:30.000Z", state: "degraded" },
        ...{ published: 3, reporting: 2, counted: 2, vantages: 2, quorum: 2, confirming: 2 },
        notes: [],
        votes: [
          { region: "eu-central", ...vote, probeVersion: "1.2.3", machine: "one" },
          { region: "ap-southeast", ...vote, probeVersion: null, machine: null },
        ],
        notCounted: [
          { region: "us-east", reason: "newest sample too old", newestAt: "2026-01-15T12:00:25.000Z", machine: "one" },
        ],
      },
    });
  });

  await t.test("notes in evidence what limits the votes", async (t) => {
    const notes = async () => {
      const [row] = await pool.query<{ notes: string[] }>(sql`
        select evidence #> '{opening,notes}' as notes from incident
      `);
      return row!.notes;
    };
    await playText(
      pool,
      `one machine: eu-central us-east ap-southeast
       eu-central .*12 x*3
       us-east    .*12 x*3`,
    );
    t.strictSame(await notes(), ["Regions whose probes run on one machine share its network: they are one vantage."]);
    await playText(pool, "published: eu-central\neu-central .*12 x*3");
    t.strictSame(await notes(), ["The registry publishes one region: nobody else can confirm what it sees."]);
  });

  await t.test("stores partial failures as evidence, unserved slots included", async (t) => {
    const body = `.*12 ${"x . . u . . ".repeat(7)}`;
    await playText(pool, `eu-central ${body}\nus-east ${body}`);
    const [row] = await pool.query<{ vote: object }>(sql`
      select evidence #> '{opening,votes,0}' as vote from incident
    `);
    // the last minute, and the three minutes together
    t.match(row!.vote, { samples: 12, bad: 4, unserved: 2, badRun: 1, partial: { samples: 36, bad: 10 } });
  });

  await t.test("stores why an incident closed", async (t) => {
    await playText(pool, "eu-central .*12 x*5 .*30\nus-east .*12 x*5 .*30");
    const because = () => pool.query(sql`select evidence ->> 'closedBecause' as because from incident`);
    t.strictSame(await because(), [
      { because: "a region that saw it sees it well, and a quorum has for the whole hold" },
    ]);
    await playText(
      pool,
      `at +100s rest:ticker leaves the registry
       eu-central .*12 x*12
       us-east    .*12 x*12
       rest:book, every 5s
       eu-central .*24`,
    );
    const reason = await pool.query(sql`select evidence -> 'closing' ->> 'reason' as reason from incident`);
    t.strictSame(reason, [{ reason: "the component is no longer watched" }]);
  });

  await t.test("decides by the rules in force at the instant", async (t) => {
    const others = {
      ...rulesRow,
      ...{ quorum_min_regions: 1, partial_windows: 60, slow_untypical_ms: 60_000, unmeasured_close_ms: 1_000_000_000 },
    };
    const seen = async (text: string) => {
      const lines = await play(pool, parseScenario(text), others);
      return lines.map((line) => line.replace(/, rest:ticker, .*/, ""));
    };
    const okx = `venue okx, rest:ticker, every 5s, from ${startsAt.toISOString()}, decided every 10s`;
    t.strictSame(
      await seen(`${okx}\neu-central .*6 x*3`),
      [
        "+10s rest:ticker operational, 1 report, quorum 1",
        "+40s rest:ticker degraded, 1 report, quorum 1",
        "+40s opened okx-2026-01-15-rest-degraded",
        "+40s alert opened okx-2026-01-15-rest-degraded, degraded",
      ],
      "one reporting region is enough",
    );
    t.strictSame(
      await seen(`${okx}\neu-central 5000ms*4\nus-east 5000ms*4\nap-southeast 5000ms*4`),
      ["+10s rest:ticker operational, 3 report, quorum 2"],
      "a minute is not slow",
    );
    const part = `.*12 ${"x . . ".repeat(15)}`;
    t.strictSame(
      await seen(`${okx}\neu-central ${part}\nus-east ${part}`),
      ["+10s rest:ticker operational, 2 report, quorum 2", "+90s rest:ticker degraded, 2 report, quorum 2"],
      "no incident opens without a run, or an hour of partial failure",
    );
    const gone = ".*6 x*6 _*310";
    t.strictSame(
      (
        await seen(
          `venue okx, rest:ticker, every 300s, from ${startsAt.toISOString()}, decided every 600s
           eu-central ${gone}\nus-east ${gone}`,
        )
      ).at(-1),
      "+4200s rest:ticker unknown, 0 report, quorum 1",
      "a day of silence closes no incident",
    );
  });

  await t.test("decides an instant once, and only in order", async (t) => {
    await playText(pool, "eu-central .*12 x*12\nus-east .*12 x*12");
    const before = await everythingDecided(pool);
    const refused = { refused: "decided before" };
    t.strictSame(await tick(pool, afterS(115)), refused, "the same instant");
    t.strictSame(await tick(pool, afterS(30)), refused, "an earlier instant");
    t.strictSame(await everythingDecided(pool), before, "nothing has changed");
    const [clock] = await pool.query(sql`select ticked_at, version from engine_clock`);
    t.strictSame(clock, { ticked_at: afterS(115), version });
  });

  await t.test("makes the same incidents from the same samples", async (t) => {
    const text = `eu-central .*12 x*12 .*24 x*5 .*20
                  us-east    .*12 x*12 .*24 x*5 .*20

                  rest:book, every 5s
                  eu-central .*12 x*9 .*24 l*5 .*23
                  us-east    .*12 x*9 .*24 l*5 .*23`;
    const first = await playText(pool, text);
    const decided = await everythingDecided(pool);
    t.ok(decided.incidents!.length >= 3, "some incidents");
    t.strictSame(await playText(pool, text), first);
    t.strictSame(await everythingDecided(pool), decided);
  });

  await t.test("opens one incident in two concurrent ticks", async (t) => {
    const other = poolOn(t, url);
    await playText(pool, "eu-central .*12 x*2\nus-east .*12 x*2");
    await insertBad(pool, afterS(70));
    const both = await Promise.all([tick(pool, afterS(70)), tick(other, afterS(71))]);
    t.equal(both.flatMap((one) => ("refused" in one ? [] : one.opened)).length, 1);
    const [row] = await pool.query<{ n: number }>(sql`select count(*) as n from incident`);
    t.equal(row!.n, 1);
    await t.rejects(
      pool.query(sql`
        insert into incident (slug, component_id, severity, peak_severity, started_at, opened_at, last_bad_at, evidence)
        select 'another', component_id, severity, peak_severity, started_at, opened_at, last_bad_at, '{}' from incident
      `),
      { code: "23505" },
      "the table refuses a second open incident",
    );
  });

  await t.test("never changes what is recorded of an incident", async (t) => {
    const refused = async (changes: string[], message: RegExp) => {
      for (const change of changes)
        await t.rejects(pool.text(`update incident set ${change}`, []), { message }, change);
    };
    await playText(pool, "eu-central .*12 x*12\nus-east .*12 x*12");
    await refused(["slug = 'another'", "opened_at = started_at"], /^the name, the beginning/);
    await refused(
      ["peak_severity = 'degraded'", "escalated_at = null", "evidence = evidence - 'escalation'"],
      /the peak and the last bad instant/,
    );
    await t.rejects(pool.script("delete from incident"), {
      message: /^incident .* cannot be deleted; retract it instead$/,
    });

    await pool.script("update incident set retracted_at = last_bad_at, retraction_reason = 'a drill'");
    await refused(["retraction_reason = 'none'"], /was retracted at/);
    await pool.script("update incident set dismissed_until = retracted_at + interval '1 s'");
    await refused(["dismissed_until = null"], /was retracted at/);

    await playText(pool, "eu-central .*12 x*5 .*30\nus-east .*12 x*5 .*30");
    await refused(["last_bad_at = closed_at", "closed_at = null"], /was closed at/);
  });

  await t.test("lists a region once if its impairments overlap", async (t) => {
    // in hindsight the second begins before the first ends
    await pool.query(sql`
      insert into impairment (region_id, started_at, recognised_at, ended_at, venues, measured)
      select region_id, ${afterS(0)}::timestamptz, ${afterS(10)}::timestamptz, ${afterS(60)}::timestamptz, '{okx}'::text[], 4
      from region where region = 'us-east'
      union all
      select region_id, ${afterS(30)}, ${afterS(90)}, null, '{okx}', 4 from region where region = 'us-east'
    `);
    const rows = await pool.query(sql`select engine.impaired_regions(${afterS(40)}, ${afterS(120)})`);
    t.equal(rows.length, 1);
    await pool.script("truncate impairment");
  });
});

/** Plays Kraken's samples, one every five seconds, as in a scenario. */
function playText(pool: Pool, body: string) {
  const head = `venue kraken, rest:ticker, every 5s, from ${startsAt.toISOString()}`;
  return play(pool, parseScenario(`${head}\n${body}`), { ...rulesRow, step_ms: 5_000 });
}

async function insertBad(pool: Pool, at: Date) {
  await pool.query(sql`
    insert into sample (ts, component_id, region_id, good, fault)
    select ${at}, s.component_id, s.region_id, false, 'timeout' from region_state s where s.bad > 0
  `);
}
