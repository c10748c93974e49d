/** An incident can be checked by hand as docs/checking.md describes, with the result that the engine recorded. */
import { readFileSync } from "node:fs";
import pg from "pg";
import t from "tap";
import { type Db, sql } from "../../shared/database/pool.js";
import { rulesRow } from "../../shared/rules/engine-rules.js";
import { packagedFile } from "../../shared/config/package.js";
import { migratedDatabase } from "../support/database.js";
import { analystOf, comesOutAsShown, stepsOf } from "../support/page-of-statements.js";
import { decideThrough, forget, measured, unmeasured } from "../support/fleet.js";

const page = readFileSync(packagedFile("docs/checking.md"), "utf8");
const [, slug = ""] = /^\\set slug '(.+)'$/m.exec(page) ?? [];

void t.test("docs/checking.md shows the results of its statements", async (t) => {
  const { pool, url } = await migratedDatabase(t);
  await makeWorldOfPage(pool);
  const analyst = await analystOf(t, url);
  t.ok(stepsOf(page).length >= 9);
  await comesOutAsShown(t, page, analyst, { slug: pg.escapeLiteral(slug) });
});

void t.test("all evidence is recomputed with the same result", async (t) => {
  const { pool, url } = await migratedDatabase(t);
  await makeWorldOfAllKinds(pool);
  const analyst = await analystOf(t, url);
  const { rows } = await analyst.query<{ slug: string; decision: string; kept: string; recomputed: string }>(`
    select i.slug, d.decision, d.kept::text, analytics.evidence(i.slug, d.decision)::text as recomputed
    from analytics.incidents i
    cross join lateral (
      values
        ('opening', i.evidence -> 'opening'), ('escalation', i.evidence -> 'escalation'),
        ('closing', i.evidence -> 'closing'), ('retraction', i.retraction_evidence)
    ) as d (decision, kept)
    order by i.incident_id, d.decision
  `);
  for (const { slug, decision, kept, recomputed } of rows) t.equal(recomputed, kept, `${slug}: ${decision}`);

  await pool.query(sql`update probe set version = '9.9.9'`);
  const { rows: others } = await analyst.query<{ slug: string }>(`
    select i.slug
    from analytics.incidents i
    where analytics.without_builds(i.evidence -> 'opening') <> analytics.without_builds(analytics.evidence(i.slug, 'opening'))
      or i.evidence -> 'opening' = analytics.evidence(i.slug, 'opening') and (i.evidence -> 'opening')::text ~ '1.2.3'
  `);
  t.strictSame(others, [], "also after an upgrade, except for the builds");

  const kinds: Record<string, RegExp> = {
    "a slow region": /"slow": [3-9]/,
    "a silent region": /no samples/,
    "an impaired region": /impaired: most/,
    "a build of a probe": /"probeVersion": "1.2.3"/,
    "a run of two, under other rules": /"badRun": 2.*"confirming": 2/,
  };
  const all = rows.map(({ kept }) => kept).join("\n");
  for (const [kind, form] of Object.entries(kinds)) t.match(all, form, `${kind} is among them`);
  const decided = new Set(rows.filter(({ kept }) => kept !== null).map(({ decision }) => decision));
  t.same(decided, new Set(["opening", "escalation", "closing", "retraction"]));
});

void t.test("evidence that cannot be recomputed is null", async (t) => {
  const { pool, url } = await migratedDatabase(t);
  await makeWorldOfPage(pool);
  const analyst = await analystOf(t, url);
  async function evidence(...of: [slug: string, decision: string]): Promise<unknown> {
    const { rows } = await analyst.query<{ evidence: unknown }>("select analytics.evidence($1, $2) as evidence", of);
    return rows[0]!.evidence;
  }
  t.match(await evidence(slug, "opening"), { reporting: 3 });
  t.equal(await evidence(slug, "retraction"), null, "it was not retracted");
  t.equal(await evidence("okx-2020-01-01-rest-outage", "opening"), null);
  await t.rejects(evidence(slug, "beginning"), {
    message: "expected opening, escalation, closing or retraction; got beginning",
  });
  await pool.query(sql`update incident set retracted_at = closed_at, retraction_reason = 'a drill'`);
  t.equal(await evidence(slug, "retraction"), null, "an operator's retraction has no evidence");
  await pool.script("select drop_chunks('sample', older_than => now())");
  t.equal(await evidence(slug, "opening"), null, "its samples are gone");
});

const at = (time: string) => new Date(`2026-01-15T12:${time}Z`);

/** Two of three regions see OKX's ticker time out for a minute. The samples of one of them arrive late. */
async function makeWorldOfPage(db: Db): Promise<void> {
  await forget(db);
  await measured(db, { from: at("00:00"), to: at("07:00"), venue: "okx" });
  const trouble = { venue: "okx", component: "rest:ticker", fault: "timeout", to: at("03:20") } as const;
  await measured(db, { ...trouble, from: at("02:06"), regions: ["us-east"], receivedAfterS: 7 });
  await measured(db, { ...trouble, from: at("02:11"), regions: ["eu-central"] });
  await makeTypical(db);
  await decideThrough(db, at("01:50"), at("06:00"), rulesRow);
}

async function makeWorldOfAllKinds(db: Db): Promise<void> {
  await forget(db);
  await makeTypical(db);
  await db.query(sql`
    with probe_of_europe as (
      insert into probe (region_id, process, version, started_at, seen_at, unmeasured)
      select region_id, gen_random_uuid(), '1.2.3', ${at("00:00")}, ${at("00:00")}, 0
      from region
      where region = 'eu-central'
      returning region_id, process
    )
    insert into venue_lease (region_id, venue_id, process)
    select p.region_id, v.venue_id, p.process
    from probe_of_europe p
    cross join venue v
    on conflict (region_id, venue_id) do update set process = excluded.process
  `);
  const all = { from: at("00:00"), to: at("10:00") };
  await measured(db, all);
  const minute = { from: at("02:00"), to: at("03:00") };
  await measured(db, { ...minute, venue: "okx", component: "rest:ticker", latencyMs: 3_000 });
  const kraken = { venue: "kraken", component: "rest:ticker" };
  await unmeasured(db, { ...all, ...kraken, regions: ["us-east"] });
  const reporting = { regions: ["eu-central", "ap-southeast"] };
  await measured(db, { ...minute, ...kraken, ...reporting, fault: "http" });
  await measured(db, { ...minute, venue: "gemini", component: "rest:book", fault: "limited", receivedAfterS: 9 });
  await measured(db, { ...minute, venue: "coinbase", component: "rest:time", fault: "timeout" });
  await unmeasured(db, { ...minute, venue: "deribit", kind: "ws" });
  await measured(db, { ...minute, venue: "deribit", component: "ws:conn", fault: "closed" });

  // retracted: good samples from between the bad ones arrive later
  const bybit = { venue: "bybit", component: "rest:ticker" };
  await measured(db, { ...bybit, from: at("02:04"), to: at("02:29"), fault: "timeout" });
  for (const slot of ["02:10", "02:20"])
    await measured(db, { ...bybit, from: new Date(+at(slot) - 1), to: new Date(+at(slot) + 1), receivedAfterS: 50 });

  // one region turns bad at every venue, and another has trouble with one of them
  await measured(db, { from: at("04:30"), to: at("05:20"), fault: "dns", regions: ["us-east"] });
  await measured(db, { from: at("04:50"), to: at("05:20"), fault: "tls", venue: "gate", ...reporting });
  await decideThrough(db, at("01:50"), at("07:20"), rulesRow);

  const bitget = { venue: "bitget", component: "rest:ticker", regions: ["eu-central", "us-east"] };
  await measured(db, { ...bitget, from: at("08:20"), to: at("08:50"), fault: "body" });
  const others = { ...rulesRow, opening_bad_run: 2, degraded_bad_share: 0.1 };
  await decideThrough(db, at("07:21"), at("09:00"), others);
}

/** Inserts it as if it had been computed in the morning. */
async function makeTypical(db: Db): Promise<void> {
  await db.query(sql`
    insert into typical_latency (holds_from, component_id, region_id, p50_us, hours)
    select engine.typical_in_force(${at("02:00")}), c.component_id, g.region_id, 74000 + 3000 * g.position, 168
    from component c, venue v, region g
    where v.venue_id = c.venue_id and v.venue = 'okx' and c.component = 'rest:ticker'
  `);
}
