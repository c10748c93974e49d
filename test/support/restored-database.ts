/** Checks that a restored database has the same content and keeps working. */
import type { Test } from "tap";
import { startWeb } from "../../server/web/web.js";
import { openPool, type Pool, sql } from "../../shared/database/pool.js";
import { tick } from "../../server/core/engine/tick.js";
import { makeLog } from "../../shared/log/log.js";
import { migrate } from "../../server/database/migrate.js";
import { packagedFile } from "../../shared/config/package.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import { ago, decide, measured, pastIncident } from "./fleet.js";
import { codeUnder } from "./code-under.js";

const log = makeLog("test", "error");
const registry = await loadRegistry(packagedFile("registry/exchanges.json"));

/** Fills a database with some of everything: raw samples in compressed and open chunks, roll-ups, and an incident. */
export async function fill(pool: Pool): Promise<void> {
  await measured(pool, { from: ago(2 * 86_400), to: ago(2 * 86_400 - 60), venue: "okx" });
  await pool.query(sql`call upkeep.refresh_late(now())`);
  await pool.query(sql`select compress_chunk(c) from show_chunks('sample', older_than => now() - interval '1 day') c`);
  await measured(pool, { from: ago(60), to: ago(0), venue: "kraken" });
  await pastIncident(pool, { venue: "kraken", component: "rest:ticker", startedAt: ago(3_600), minutes: 5 });
  await decide(pool);
}

/** Values that must be the same afterwards. */
export type Facts = Awaited<ReturnType<typeof facts>>;

const rollUps = [
  ...["sample_minute", "sample_hour", "rest_hour", "stream_hour", "latency_hour", "component_minute", "venue_minute"],
  ...["component_hour", "venue_hour", "component_day", "venue_day", "latency_day", "venue_latency_day"],
];
const counted = ["sample", "incident", "alert_event", "region_state", "component", "migration", ...rollUps];

async function factsOf(pool: Pool, tables: string[]) {
  const found: Record<string, object> = {};
  for (const table of tables)
    [found[table]] = (await pool.query<object>(sql`
      select count(*) as rows, md5(string_agg(r::text, ' ' order by r::text)) as said from ${sql.ident(table)} r
    `)) as [object];
  return found;
}

export async function facts(pool: Pool) {
  const tables = await factsOf(pool, counted);
  const [chunks] = await pool.query<{ compressed: number }>(sql`
    select count(*) as compressed from timescaledb_information.chunks where is_compressed
  `);
  return { tables, ...chunks!, answers: await answers(pool) };
}

async function answers(pool: Pool): Promise<string[]> {
  const web = await startWeb({
    ...{ pool, registry, log, rateLimit: 0, trustProxy: [], port: 0, host: "127.0.0.1" },
    ...{ baseUrl: "http://localhost", siteUrl: "http://localhost" },
    // a restore takes longer than that under load, and no answer is to change meanwhile
    staleAfterMs: Infinity,
  });
  const found: string[] = [];
  for (const path of ["/v1/status", "/v1/targets/kraken", "/v1/incidents"]) {
    const answer = await fetch(`http://127.0.0.1:${web.port}${path}`);
    found.push(`${answer.status} ${await answer.text()}`);
  }
  await web.close();
  return found;
}

/**
 * Each `migrate` advances `generatedAt` by a millisecond, since the registry may have changed what is published, and by
 * another one where it recreates the views. That is always so after pg_dump, since all objects have new OIDs.
 */
function withoutInstant(all: Facts): Facts {
  const answers = all.answers.map((answer) => {
    const at = /"generatedAt" : "([^"]+)"/.exec(answer)?.[1];
    return at === undefined ? answer : answer.replaceAll(at, "then");
  });
  return { ...all, answers };
}

/** Checks that the content is the same. */
export async function isTheSame(t: Test, pool: Pool, before: Facts, { migrated = false } = {}): Promise<void> {
  t.ok(before.compressed > 0);
  t.match(before.answers[2], /^200 .*kraken/, "there was an incident");
  const compared = migrated ? withoutInstant : (all: Facts) => all;
  t.strictSame(compared(await facts(pool)), compared(before), "everything is unchanged, to the byte");
}

/** Checks that it keeps working. */
export async function goesOn(t: Test, pool: Pool): Promise<void> {
  await migrate(pool, registry, log);
  await measured(pool, { from: ago(10), to: ago(0) });
  // a late sample, for a compressed chunk
  const late = { from: ago(2 * 86_400 - 180), to: ago(2 * 86_400 - 240) };
  await measured(pool, { ...late, venue: "okx", component: "rest:ticker" });
  t.match(await tick(pool, new Date(Date.now() + 4_000)), { at: String });
  await pool.query(sql`call upkeep.refresh_late(now())`);
  const [rolled] = await pool.query<{ raw: number; minutes: number }>(sql`
    select (select count(*) from sample) as raw, (select sum(samples) from sample_minute) as minutes
  `);
  t.equal(rolled!.minutes, rolled!.raw, "roll-ups follow what is measured");
  await mendsARollUp(t, pool);
}

/** No alert reuses an earlier number: runs the page's step for a restore that begins no new timeline. */
export async function skipsNumbers(t: Test, pool: Pool): Promise<void> {
  const [last] = await pool.query<{ id: number }>(sql`select max(event_id) as id from alert_event`);
  await pool.script(codeUnder("docs/backup.md", "After a restore", "sql"));
  const [next] = await pool.query<{ id: number }>(
    sql`select nextval(pg_get_serial_sequence('alert_event', 'event_id')) as id`,
  );
  t.ok(next!.id > last!.id + 1_000_000);
}

async function mendsARollUp(t: Test, pool: Pool): Promise<void> {
  const before = await factsOf(pool, rollUps);
  const [table] = await pool.query<{ name: string }>(sql`
    select format('%I.%I', materialization_hypertable_schema, materialization_hypertable_name) as name
    from timescaledb_information.continuous_aggregates where view_name = 'sample_minute'
  `);
  await pool.script(`delete from ${table!.name}`);
  for (const call of codeUnder("docs/operating.md", "A table is damaged", "sql").split(";\n")) await pool.script(call);
  t.strictSame(await factsOf(pool, rollUps), before, "a roll-up is mended");
}

export function poolOn(url: string): Pool {
  return openPool(url, { applicationName: "test", log });
}
