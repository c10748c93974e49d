/** What a dispatcher does for channels of every format, as their receivers see it. */
import t, { type Test } from "tap";
import { deliveriesOf, type Delivery } from "../../../../../server/core/alerts/deliveries.js";
import { type Destination } from "../../../../../server/core/alerts/formats/webhook-request.js";
import { formatAlert } from "../../../../../server/core/alerts/formats/format-alert.js";
import { deliveryRules } from "../../../../../server/core/alerts/retry-rules.js";
import { type Pool, sql } from "../../../../../shared/database/pool.js";
import { makeLog } from "../../../../../shared/log/log.js";
import { isAllDone } from "../../../../support/alert-queue.js";
import { dispatcherFor, receiverFor } from "../../../../support/alerting.js";
import { service } from "../../../../support/write-alert.js";
import { addChannel, happened, native } from "../../../../support/alerts.js";
import { migratedDatabase } from "../../../../support/database.js";
import { ago } from "../../../../support/fleet.js";
import { until } from "../../../../support/until.js";
import type { Receiver } from "../../../../../world/receivers.js";

/** The contract's numbers, with pauses shortened to a five hundredth. */
const rules = {
  ...deliveryRules,
  backoff_ms: deliveryRules.backoff_ms / 500,
  pace_ms: { native: 0, chat: 0, paging: 0 },
  look_ms: 20,
};

/** One of each format; all keys of a service region share one paging service. */
function destinations(receiver: Receiver, path: string): Destination[] {
  return [
    native(`${receiver.origin}/native/${path}`),
    { format: "chat", url: `${receiver.origin}/chat/${path}` },
    { format: "paging", serviceRegion: "us", routingKey: path },
    { format: "paging", serviceRegion: "eu", routingKey: path },
  ];
}

function startSending(t: Test, pool: Pool, { origin }: Receiver): void {
  const pagingEndpoints = { us: `${origin}/us`, eu: `${origin}/eu` };
  dispatcherFor(t, pool, {
    write: (to, alert, sent) => formatAlert(to, alert, { ...sent, ...service, pagingEndpoints }),
    log: makeLog("test", "error", () => {}),
    rules,
    // in the middle of the spread
    random: () => 0.5,
  });
}

/** Oldest first. */
async function logOf(pool: Pool, channel: number): Promise<Delivery[]> {
  const wanted = { incident: null, state: null, since: null, limit: 100 };
  return (await deliveriesOf(pool, { channel, ...wanted })).reverse();
}

void t.test("spec: retry policy, delivery log and severity floor apply to all 3 formats", async (t) => {
  const { pool } = await migratedDatabase(t);
  const failed = new Map<string, number>();
  const receiver = await receiverFor(t, ({ path, body }) => {
    const to = path + (/"routing_key":"(\w+)"/.exec(String(body))?.[1] ?? "");
    if (to.includes("failing")) return { status: 500 };
    // recovers at the third attempt
    const times = (failed.get(to) ?? 0) + 1;
    failed.set(to, times);
    return { status: times <= 2 ? 503 : 202 };
  });
  const channels = async (path: string, floor: "degraded" | "outage") => {
    const ids: [format: string, channel: number][] = [];
    for (const to of destinations(receiver, path)) {
      const format = to.format === "paging" ? `paging ${to.serviceRegion}` : to.format;
      ids.push([format, await addChannel(pool, { to, floor })]);
    }
    return ids;
  };
  const failing = await channels("failing", "degraded");
  const floored = await channels("floored", "outage");
  await happened(pool, { venue: "okx", severity: "degraded", kinds: ["opened", "escalated", "closed"], at: ago(10) });
  startSending(t, pool, receiver);
  await until(() => isAllDone(pool), 60_000, 20);

  for (const [format, channel] of floored)
    await t.test(`${format}: the severity floor, and retries`, async (t) => {
      const log = await logOf(pool, channel);
      t.strictSame(
        log.map(({ kind, state, attempts }) => [kind, state, attempts.map(({ status }) => status)]),
        [
          ["escalated", "delivered", [503, 503, 202]],
          ["closed", "delivered", [202]],
        ],
        "no alert while it was only degraded",
      );
      const attempt = { result: "refused", answer: "heard", durationMs: Number, startedAt: String, endedAt: String };
      t.match(log[0]!.attempts[0], attempt);
    });

  for (const [format, channel] of failing)
    await t.test(`${format}: retries until the channel is switched off`, async (t) => {
      const log = await logOf(pool, channel);
      t.strictSame(
        log.map(({ kind, state, failures, attempts }) => [kind, state, failures, attempts.map(({ status }) => status)]),
        [
          ["opened", "failed", 5, Array(5).fill(500)],
          ["escalated", "failed", 5, Array(5).fill(500)],
          ["closed", "skipped", 0, []],
        ],
      );
      for (const { attempts } of log.slice(0, 2))
        for (const [i, { endedAt }] of attempts.slice(0, -1).entries()) {
          const pausedMs = Date.parse(attempts[i + 1]!.startedAt) - Date.parse(endedAt!);
          const leastMs = rules.backoff_ms * rules.backoff_factor ** i;
          t.ok(pausedMs >= leastMs - 1, `paused for ${pausedMs} ms, at least ${leastMs} ms`);
        }
      const [row] = await pool.query(sql`select off_cause, failures from channel where channel_id = ${channel}`);
      t.strictSame(row, { off_cause: "failures", failures: 10 });
    });
  t.equal(receiver.arrivals.length, 4 * (4 + 10), "no more requests than that");
});

void t.test("spec: an event that was not dispatched yet is sent however old it is", async (t) => {
  const { pool } = await migratedDatabase(t);
  const receiver = await receiverFor(t);
  for (const to of destinations(receiver, "well")) await addChannel(pool, { to });
  const old = ago(200 * 24 * 3600);
  const slug = await happened(pool, { at: old, kinds: ["opened", "closed"] });
  await pool.query(sql`call upkeep.retain(clock_timestamp())`);
  startSending(t, pool, receiver);
  await until(() => isAllDone(pool), 60_000, 20);
  t.strictSame(
    receiver.arrivals.map(({ path }) => path).sort(),
    ["/chat/well", "/eu", "/native/well", "/us"].flatMap((to) => [to, to]),
  );
  t.ok(receiver.arrivals.every(({ body }) => body.includes(slug)));
});
