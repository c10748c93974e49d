/** Tests the metrics that programs export for operators, on the programs themselves. */
import { serviceAddress } from "../../../server/core/alerts/service-address.js";
import { join } from "node:path";
import t, { type Test } from "tap";
import { makeProbeMetrics } from "../../../probe/probe-metrics.js";
import { openPool, sql } from "../../../shared/database/pool.js";
import { makeEngineMetrics } from "../../../server/core/metrics.js";
import { makeUpkeep, usualUpkeepPace } from "../../../server/core/rollups/upkeep.js";
import { makeLog } from "../../../shared/log/log.js";
import { makeOwnMetrics } from "../../../shared/log/own-metrics.js";
import { version } from "../../../shared/config/package.js";
import { migratedDatabase } from "../../support/database.js";
import { idleProbe } from "../../support/exported-metrics.js";
import { ago, forget, outage } from "../../support/fleet.js";
import { freePort } from "../../support/free-port.js";
import { type Families, scrape, ownFamilies, total } from "../../support/own-families.js";
import { addressLogged, runCli } from "../../support/run-script.js";
import { until } from "../../support/until.js";
import { loopbackRegistry } from "../../../world/loopback-registry.js";

void t.test("each program exports metrics of its work, and its identity", async (t) => {
  const { pool, url, registry: real } = await migratedDatabase(t);
  // venues at a port where nothing listens
  const file = JSON.stringify(loopbackRegistry(real, () => 9, 1));
  const registry = join(t.testdir({ "registry.json": file }), "registry.json");
  const env = { DATABASE_URL: url, REGISTRY: registry, HEALTH_PORT: "0" };

  await t.test("core", async (t) => {
    const address = await addressLogged(runCli(t, ["core"], { ...env, BASE_URL: "https://status.example/" }), "ready");
    const known = () => serviceAddress(pool).catch(() => null);
    await until(async () => (await known())?.baseUrl === "https://status.example");
    let seen = await scrape(address);
    await until(async () => {
      seen = await scrape(address);
      return (
        total(seen, "venuewatch_engine_tick_seconds", {}, "_count") > 0 &&
        total(seen, "venuewatch_upkeep_seconds", {}, "_count") > 5 &&
        // a scrape waits for the database for up to three seconds, and the database does one thing at a time
        total(seen, "venuewatch_database_up") === 1
      );
    }, 60_000);
    for (const [name, value] of [
      ["engine_leading", 1],
      ["channel_key_present", 0],
      ["alert_events_waiting", 0],
      ["upkeep_failures_total", 0],
    ] as const)
      t.equal(total(seen, `venuewatch_${name}`), value, name);
    t.ok(total(seen, "venuewatch_engine_behind_seconds") >= 0);
    t.equal(seen["venuewatch_engine_instants_behind"]!.series.length, 1);
    const incidents = seen["venuewatch_engine_incidents_total"]!.series;
    t.match(
      incidents,
      ["opened", "escalated", "closed", "retracted"].map((event) => ({ labels: { event }, value: 0 })),
    );
    t.ok(seen["venuewatch_upkeep_failures_total"]!.series.length > 5);
    t.equal(total(seen, "venuewatch_build_info", { service: "core", version }), 1);
    t.ok(seen["venuewatch_nodejs_eventloop_lag_p99_seconds"]);
    t.match(await (await fetch(`${address}/healthz`)).json(), { service: "core" });
  });

  await t.test("probe", async (t) => {
    const probe = runCli(t, ["probe"], { ...env, REGION: "us-east" });
    const address = await addressLogged(probe, "ready");
    // it may first deliver samples that an earlier probe left
    const delivered = "venuewatch_probe_samples_delivered_total";
    const taken = "venuewatch_probe_samples_taken_total";
    for (const name of [delivered, taken]) await until(async () => total(await scrape(address), name) > 0, 60_000, 50);
    const seen = await scrape(address);
    const all = Object.values(seen).flatMap(({ series }) => series);
    t.ok(all.every(({ labels }) => labels["region"] === "us-east"));
    t.ok(total(seen, "venuewatch_probe_slot_lateness_seconds", {}, "_count") > 0);
    t.equal(total(seen, "venuewatch_probe_samples_lost_total"), 0);
    t.equal(total(seen, "venuewatch_probe_samples_refused_total"), 0);
    t.equal(seen["venuewatch_probe_samples_waiting"]!.series.length, 1);
    t.ok(total(seen, "venuewatch_probe_record_seconds", { outcome: "recorded" }, "_count") > 0);
    t.ok(seen["venuewatch_probe_unmeasured_slots_total"]!.series.some(({ labels }) => labels["reason"] === "starved"));
    t.match(await (await fetch(`${address}/healthz`)).json(), { service: "probe" });
  });

  await t.test("web", async (t) => {
    const program = runCli(t, ["web"], { ...env, PORT: "0", RATE_LIMIT: "7" });
    const own = await addressLogged(program, "own metrics");
    const site = await addressLogged(program, "ready");
    for (const path of [
      ...["/v1/status", "/v1/exchanges/okx", "/v1/targets/okx", "/v1/targets/mtgox"],
      ...["/docs/api/board", "/nothing/here", "/v1/status?category=x", "/v1/regions"],
    ])
      await (await fetch(site + path)).text();
    const name = "venuewatch_web_request_seconds";
    await until(async () => total(await scrape(own), name, {}, "_count") === 8, 10_000);
    const seen = await scrape(own);
    const counts = seen[name]!.series.filter((series) => series.name === `${name}_count`);
    const lines = counts.map(({ labels, value }) => `${labels["route"]} ${labels["status"]}: ${value}`);
    // labelled by routes, which are few, and never by the requested path
    t.strictSame(lines.sort(), [
      ...["/docs/api/:group 200: 1", "/v1/status 200: 1", "/v1/status 400: 1"],
      ...["/v1/targets/:venue 200: 2", "/v1/targets/:venue 404: 1"],
      ...["none 404: 1", "none 429: 1"],
    ]);
    for (const address of [own, site]) t.match(await (await fetch(`${address}/healthz`)).json(), { service: "web" });
    t.equal((await fetch(`${own}/readyz`)).status, 200);
  });
});

function engineMetrics(t: Test, url: string, lines: string[] = []) {
  const registry = makeOwnMetrics("core");
  const log = makeLog("core", "warn", (line) => lines.push(line));
  const db = openPool(url, { applicationName: "test", log, max: 1 });
  t.teardown(() => db.close());
  return { registry, meter: makeEngineMetrics(registry, db, log) };
}

void t.test("core exports how far it is behind", async (t) => {
  const { pool, url } = await migratedDatabase(t);
  const { registry, meter } = engineMetrics(t, url);
  await forget(pool);

  const before = await ownFamilies(registry);
  t.equal(total(before, "venuewatch_database_up"), 1);
  const sinceMade = total(before, "venuewatch_engine_behind_seconds");
  t.ok(sinceMade >= 0, "nothing is decided yet, and this is exported, too");
  await pool.query(sql`update migration set applied_at = applied_at - interval '100 s'`);
  const never = await ownFamilies(registry);
  t.ok(total(never, "venuewatch_engine_behind_seconds") >= sinceMade + 100);
  t.ok(total(never, "venuewatch_engine_instants_behind") >= 49);

  await outage.open(pool);
  await pool.query(sql`update engine_clock set ticked_at = ${ago(100)}`);
  const behind = await ownFamilies(registry);
  const instants = total(behind, "venuewatch_engine_instants_behind");
  t.ok(instants >= 50 && instants < 100, "one every two seconds");
  t.ok(total(behind, "venuewatch_engine_behind_seconds") >= 100);
  t.equal(total(behind, "venuewatch_incidents_open"), 1);

  meter.decided({ at: "", opened: ["a", "b"], escalated: [], closed: ["c"], retracted: [] }, 250);
  const decided = await ownFamilies(registry);
  const events = "venuewatch_engine_incidents_total";
  t.equal(total(decided, events, { event: "opened" }), 2);
  t.equal(total(decided, events, { event: "closed" }), 1);
  t.equal(total(decided, "venuewatch_engine_tick_seconds", {}, "_sum"), 0.25);

  const differences = "venuewatch_reconcile_differences_total";
  const rollups = await pool.query<{ name: string }>(sql`
    select view_name as name
    from timescaledb_information.continuous_aggregates
    -- what venues declare has no samples to be compared with
    where view_schema = 'venuewatch' and view_name <> 'transfer_day'
  `);
  const counted = new Map(decided[differences]!.series.map(({ labels, value }) => [labels["rollup"]!, value]));
  const all = ["sample", ...rollups.map(({ name }) => name)];
  t.strictSame(counted, new Map(all.map((name) => [name, 0])), "samples and all roll-ups, at 0");
  meter.compared(["venue_day", "usual_hour"]);
  const example = { kept: null, recomputed: {} };
  meter.differs({ rollup: "venue_day", rows: 3, from: "", to: "", example });
  const compared = await ownFamilies(registry);
  t.equal(total(compared, "venuewatch_reconciled_windows_total"), 2);
  t.equal(total(compared, differences, { rollup: "venue_day" }), 3);
  t.equal(total(compared, differences), 3);
});

void t.test("a chore that waits for a failed chore has failed too", async (t) => {
  const { pool, url } = await migratedDatabase(t);
  const { registry, meter } = engineMetrics(t, url);
  await pool.script("drop procedure upkeep.refresh_level");
  let passedMs = 0;
  const log = makeLog("test", "error", () => {});
  const clock = { now: () => Promise.resolve(new Date()), passedMs: () => passedMs };
  const upkeep = makeUpkeep(pool, log, usualUpkeepPace, meter, clock);
  const successes = async () => byChore(await ownFamilies(registry), "upkeep_newest_success_timestamp_seconds");
  const begun = await successes();
  await upkeep.doWhatIsDue(() => true);
  // late samples are handled after a minute, and so is what waits for them
  passedMs += 60_000;
  await upkeep.doWhatIsDue(() => true);

  const failing = new Set(["dropping old chunks", "rolling up late samples"]);
  const failures = byChore(await ownFamilies(registry), "upkeep_failures_total");
  for (const [chore, times] of failures) t.equal(times, failing.has(chore) ? 1 : 0, chore);
  for (const [chore, at] of await successes())
    t.equal(begun.get(chore) === at, failing.has(chore), `whether ${chore} has succeeded since this core began`);
  for (const chore of failing) t.ok(failures.has(chore));
  t.strictSame(Object.fromEntries(byChore(await ownFamilies(registry), "upkeep_interval_seconds")), {
    ...{ "leaving out impaired regions": 20, "rolling up the newest minutes": 20 },
    ...{ "rolling up the hour and the day that run": 60, "keeping the hours of a week": 60 },
    ...{ "adding up deposits and withdrawals": 600 },
    ...{ "rolling up late samples": 600, "making the next chunk": 600, compressing: 600 },
    ...{ "analyzing what has grown": 20, "dropping old chunks": 3600 },
    ...{ vacuuming: 3600, "vacuuming what is rewritten": 600 },
  });
});

/** Returns the values of one family, by chore. */
function byChore(families: Families, name: string): Map<string, number> {
  return new Map(families[`venuewatch_${name}`]!.series.map(({ labels, value }) => [labels["chore"]!, value]));
}

void t.test("a probe without measurements exports its start as its newest slot", async (t) => {
  const registry = makeOwnMetrics("probe", { region: "us-east" });
  let newestSlotAt: Date | null = null;
  makeProbeMetrics(registry, new Date(1_700_000_000_000), () => ({ ...idleProbe, newestSlotAt }));
  const name = "venuewatch_probe_newest_slot_timestamp_seconds";
  t.equal(total(await ownFamilies(registry), name), 1_700_000_000);
  newestSlotAt = new Date(1_700_000_005_000);
  t.equal(total(await ownFamilies(registry), name), 1_700_000_005);
});

void t.test("without its database core still exports its own metrics", async (t) => {
  const nobody = `postgres://127.0.0.1:${await freePort()}/none`;
  const lines: string[] = [];
  const { registry, meter } = engineMetrics(t, nobody, lines);
  meter.leads(true);
  const seen = await ownFamilies(registry);
  t.equal(total(seen, "venuewatch_database_up"), 0);
  for (const name of ["engine_behind_seconds", "engine_instants_behind", "incidents_open"])
    t.strictSame(seen[`venuewatch_${name}`]!.series, [], "unknown instead of 0");
  t.equal(total(seen, "venuewatch_engine_leading"), 1);
  t.equal(lines.length, 1, "one query per scrape");
});
