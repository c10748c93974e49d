/** Core's metrics of alerts, for operators. */
import t, { type Test } from "tap";
import { makeAlertMetrics } from "../../../../server/core/alerts/alert-metrics.js";
import { alertFormats } from "../../../../server/core/alerts/formats/webhook-request.js";
import { deliveryRules } from "../../../../server/core/alerts/retry-rules.js";
import { openPool, sql } from "../../../../shared/database/pool.js";
import { makeLog } from "../../../../shared/log/log.js";
import { makeOwnMetrics } from "../../../../shared/log/own-metrics.js";
import { dispatcherFor, receiverFor } from "../../../support/alerting.js";
import { addChannel, happened, native } from "../../../support/alerts.js";
import { migratedDatabase } from "../../../support/database.js";
import { ago, forget } from "../../../support/fleet.js";
import { freePort } from "../../../support/free-port.js";
import { type Families, ownFamilies, total } from "../../../support/own-families.js";
import { until } from "../../../support/until.js";

const results = "venuewatch_delivery_results_total";
const took = "venuewatch_delivery_seconds";
const off = "venuewatch_channels_switched_off_total";
const first = "venuewatch_alert_first_attempt_seconds";
const delivered = "venuewatch_alert_delivered_seconds";

function alertMetrics(t: Test, url: string, lines: string[] = []) {
  const registry = makeOwnMetrics("core");
  const log = makeLog("core", "warn", (line) => lines.push(line));
  const db = openPool(url, { applicationName: "test", log, max: 1 });
  t.teardown(() => db.close());
  return { registry, meter: makeAlertMetrics(registry, db, log, true) };
}

/** Values of a family's own series, by these labels. */
function byLabels(families: Families, name: string, ...labels: string[]) {
  return Object.fromEntries(
    families[`venuewatch_${name}`]!.series.map((one) => [
      labels.map((label) => one.labels[label]).join(" "),
      one.value,
    ]),
  );
}

void t.test("attempts are counted by their result", async (t) => {
  const { url } = await migratedDatabase(t);
  const { registry, meter } = alertMetrics(t, url);
  const before = await ownFamilies(registry);
  t.equal(before[results]!.series.length, alertFormats.length * 6, "every series exists");
  t.equal(total(before, results), 0, "every series starts at 0, so that the first increase shows");
  t.strictSame(byLabels(before, "channels_switched_off_total", "cause"), { failures: 0, gone: 0 });
  for (const name of [took, first, delivered]) t.equal(total(before, name, { format: "chat" }, "_count"), 0);

  meter.sent("chat", { result: "delivered", durationMs: 200 });
  meter.sent("chat", { result: "timeout", durationMs: 10_000 });
  meter.sent("paging", { result: "refused", durationMs: 40 });
  meter.sent("native", { result: "unreachable", durationMs: 3 });
  meter.sent("native", { result: "unsafe", durationMs: 0 });
  meter.sent("native", { result: "ours", durationMs: 0 });
  const settled = { format: "chat", channel_off: null, first_sent_after_ms: 125, delivered_after_ms: null } as const;
  meter.settled(settled);
  meter.settled({ ...settled, first_sent_after_ms: null, delivered_after_ms: 5_400 });
  meter.settled({ ...settled, first_sent_after_ms: 375, channel_off: "gone" });

  const after = await ownFamilies(registry);
  t.match(byLabels(after, "delivery_results_total", "format", "result"), {
    ...{ "chat delivered": 1, "chat timeout": 1, "paging refused": 1 },
    ...{ "native unreachable": 1, "native unsafe": 1, "native ours": 1 },
  });
  t.equal(total(after, results), 6);
  t.equal(total(after, took, { format: "chat" }, "_sum"), 10.2);
  t.equal(total(after, took, { format: "native" }, "_count"), 1, "only requests that left are timed");
  t.strictSame(byLabels(after, "channels_switched_off_total", "cause"), { failures: 0, gone: 1 });
  t.equal(total(after, first, { format: "chat" }, "_count"), 2);
  t.equal(total(after, first, { format: "chat" }, "_sum"), 0.5);
  t.equal(total(after, delivered, {}, "_count"), 1);
  t.equal(total(after, delivered, {}, "_sum"), 5.4);
});

void t.test("metrics show waiting deliveries, and channels that are off", async (t) => {
  const { pool, url } = await migratedDatabase(t);
  const { registry } = alertMetrics(t, url);
  await forget(pool);

  t.strictSame((await ownFamilies(registry))["venuewatch_channel_state"]!.series, []);

  await addChannel(pool);
  await addChannel(pool, { to: { format: "chat", url: "https://chat.example/hook" } });
  const pager = { format: "paging", serviceRegion: "eu", routingKey: "x" } as const;
  const paging = await addChannel(pool, { to: pager, floor: "outage" });
  const gone = await addChannel(pool, { after: 1_000 });
  await happened(pool, { venue: "okx", at: ago(300), severity: "degraded" });
  await happened(pool, { venue: "gate", at: ago(100) });
  const events = await ownFamilies(registry);
  t.equal(total(events, "venuewatch_alert_events_waiting"), 2);
  const oldest = total(events, "venuewatch_alert_events_oldest_seconds");
  t.ok(oldest >= 300 && oldest < 3_000, `${oldest}`);
  const formats = { "1 native": 0, "2 chat": 0, "3 paging": 0, "4 native": 0 };
  t.strictSame(byLabels(events, "channel_deliveries_waiting", "channel", "format"), formats);

  await pool.file("expand_alerts", [ago(200), 100]);
  await pool.query(sql`
    update channel set off_at = now(), off_cause = case channel_id when ${paging} then 'failures' else 'gone' end
    where channel_id in (${paging}, ${gone})
  `);
  const line = await ownFamilies(registry);
  t.equal(total(line, "venuewatch_alert_events_waiting"), 0);
  t.equal(total(line, "venuewatch_alert_events_oldest_seconds"), 0);
  t.strictSame(byLabels(line, "channel_deliveries_waiting", "channel"), { 1: 2, 2: 2, 3: 1, 4: 0 });
  const ages = byLabels(line, "channel_deliveries_oldest_seconds", "channel");
  t.ok(ages["1"]! >= 200 && ages["1"]! < 3_000, `${ages["1"]}`);
  t.equal(ages["4"], 0);
  t.strictSame(byLabels(line, "channel_state", "channel"), { 1: 0, 2: 0, 3: 2, 4: 3 });

  await pool.query(sql`update channel set off_at = now(), off_cause = 'operator' where channel_id = 1`);
  await pool.query(sql`
    update channel set removed_at = now(), destination = null, secret = null where channel_id = ${gone}
  `);
  const removed = await ownFamilies(registry);
  t.strictSame(byLabels(removed, "channel_state", "channel"), { 1: 1, 2: 0, 3: 2 }, "a removed channel has no series");
});

void t.test("attempts and delays are counted from the outbox to the receiver", async (t) => {
  const { pool, url } = await migratedDatabase(t);
  const { registry, meter } = alertMetrics(t, url);
  const receiver = await receiverFor(t, ({ path }) => ({ status: path === "/gone" ? 410 : 204 }));
  await addChannel(pool, { to: native(`${receiver.origin}/well`) });
  const gone = await addChannel(pool, { to: { format: "chat", url: `${receiver.origin}/gone` } });
  // both half a minute ago
  await happened(pool, { at: ago(30), kinds: ["opened", "closed"] });
  const log = makeLog("test", "error", () => {});
  dispatcherFor(t, pool, { log, metrics: meter, rules: { ...deliveryRules, look_ms: 50 } });

  let seen = await ownFamilies(registry);
  await until(async () => {
    seen = await ownFamilies(registry);
    return total(seen, delivered, {}, "_count") === 2 && total(seen, off) === 1;
  }, 20_000);
  t.equal(total(seen, results, { format: "native", result: "delivered" }), 2);
  t.equal(total(seen, results, { format: "chat", result: "refused" }), 1);
  t.equal(total(seen, results), 3);
  t.equal(total(seen, off, { cause: "gone" }), 1);
  t.equal(byLabels(seen, "channel_state", "channel")[gone], 3);
  t.equal(total(seen, first, { format: "native" }, "_count"), 2);
  t.equal(total(seen, first, { format: "chat" }, "_count"), 1);
  const waited = total(seen, delivered, { format: "native" }, "_sum");
  t.ok(waited >= 58 && waited < 600, `measured from the recording of each event: ${waited} s`);
  t.equal(total(seen, delivered, { format: "chat" }, "_count"), 0);
});

void t.test("core still exposes its own metrics without its database", async (t) => {
  const nobody = `postgres://127.0.0.1:${await freePort()}/none`;
  const lines: string[] = [];
  const { registry, meter } = alertMetrics(t, nobody, lines);
  meter.sent("native", { result: "ours", durationMs: 0 });
  const seen = await ownFamilies(registry);
  const gauges = ["alert_events_waiting", "alert_events_oldest_seconds", "channel_state"];
  for (const name of [...gauges, "channel_deliveries_waiting", "channel_deliveries_oldest_seconds"])
    t.strictSame(seen[`venuewatch_${name}`]!.series, [], "no series, rather than 0: unknown");
  t.equal(total(seen, "venuewatch_delivery_results_total"), 1);
  t.equal(total(seen, "venuewatch_channel_key_present"), 1);
  t.equal(lines.length, 1, "one query a scrape");
});
