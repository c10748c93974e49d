/**
 * A dispatcher stands still, like a virtual machine that is migrated, while another takes over. Once it runs again,
 * none of its old alerts may arrive after newer ones.
 */
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import type { Alert } from "../../../../server/alerts/formats/alert.js";
import { deliveryRules } from "../../../../server/alerts/delivery/rules.js";
import { sql } from "../../../../shared/database/pool.js";
import type { AlertingOptions, FaultPoint } from "../../../support/alerting-process.js";
import { startAlerting } from "../../../support/alerting.js";
import { addChannel, channelKey, happened, native } from "../../../support/alerts.js";
import { migratedDatabase } from "../../../support/database.js";
import { until } from "../../../support/until.js";
import { startReceiver } from "../../../../simulator/receiver.js";

const alerting: AlertingOptions = {
  channelKey: channelKey.toString("base64"),
  deadlineMs: 300,
  rules: {
    ...deliveryRules,
    attempts: 1_000,
    switch_off_failures: 1_000,
    backoff_ms: 10,
    backoff_factor: 1,
    lease_ms: 700,
    look_ms: 20,
    sweep_ms: 50,
  },
};

const points: FaultPoint[] = ["claim_deliveries", "post", "settle_deliveries"].flatMap((step) =>
  (["before", "after"] as const).map((when) => ({ step, when, time: 1 })),
);

void t.test("a dispatcher sends no old alert after a freeze", async (t) => {
  const { pool, url } = await migratedDatabase(t);
  for (const [i, point] of points.entries())
    await t.test(`${point.when} ${point.step}`, async (t) => {
      const receiver = await startReceiver();
      t.teardown(() => receiver.close());
      const came = () => receiver.arrivals.map(({ body }) => (JSON.parse(body.toString()) as Alert).eventId);
      await pool.script("truncate incident, alert_event, channel, delivery, delivery_attempt restart identity");
      await addChannel(pool, { to: native(`${receiver.origin}/${i}`) });
      await happened(pool, { kinds: ["opened", "closed"] });

      const frozen = startAlerting(t, url, { ...alerting, fault: { ...point, signal: "SIGSTOP" } });
      await frozen.says("frozen");
      const other = startAlerting(t, url, alerting);
      const notedAll = async () => {
        const [row] = await pool.query<{ n: number }>(
          sql`select count(*) as n from delivery where state = 'delivered'`,
        );
        return row!.n === 2;
      };
      await until(notedAll, 60_000, 20);
      await other.end();
      const before = came();
      // as long as it may need to continue
      await sleep(alerting.rules.lease_ms / 2);

      frozen.child.kill("SIGCONT");
      await happened(pool, { venue: "okx" });
      await until(() => came().includes(3), 60_000, 20);
      // it waits for its attempts in flight
      await frozen.end();
      t.ok(before.includes(1) && before.includes(2), "another dispatcher took over");
      const after = came().slice(before.length);
      t.ok(
        after.every((id) => id === 3),
        `only newer alerts follow: ${before.join(" ")}, then ${after.join(" ")}`,
      );
      t.strictSame(
        came(),
        came().toSorted((a, b) => a - b),
        "in order",
      );
    });
});
