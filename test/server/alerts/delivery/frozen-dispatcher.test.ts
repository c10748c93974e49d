/**
 * A dispatcher stands still, like a virtual machine that is migrated, while another takes over. Once it runs again,
 * none of its old alerts may arrive after newer ones.
 */
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { clearAlerts, isAllDone } from "../../../support/alert-queue.js";
import type { FaultPoint } from "../../../support/alerting-process.js";
import { areInOrder, eventIdOf, patientRules, receiverFor, startAlerting } from "../../../support/alerting.js";
import { addChannel, happened, native } from "../../../support/alerts.js";
import { migratedDatabase } from "../../../support/database.js";
import { until } from "../../../support/until.js";

const points: FaultPoint[] = ["claim_deliveries", "post", "settle_or_retry_deliveries"].flatMap((step) =>
  (["before", "after"] as const).map((when) => ({ step, when, time: 1 })),
);

void t.test("a dispatcher sends no old alert after a freeze", async (t) => {
  const { pool, url } = await migratedDatabase(t);
  for (const [i, point] of points.entries())
    await t.test(`${point.when} ${point.step}`, async (t) => {
      const receiver = await receiverFor(t);
      const received = () => receiver.arrivals.map(eventIdOf);
      await clearAlerts(pool);
      await addChannel(pool, { to: native(`${receiver.origin}/${i}`) });
      await happened(pool, { kinds: ["opened", "closed"] });

      const frozen = startAlerting(t, url, { fault: { ...point, signal: "SIGSTOP" } });
      await frozen.prints("frozen");
      const other = startAlerting(t, url);
      await until(() => isAllDone(pool), 60_000, 20);
      await other.end();
      const before = received();
      // as long as it may need to continue
      await sleep(patientRules.lease_ms / 2);

      frozen.child.kill("SIGCONT");
      await happened(pool, { venue: "okx" });
      await until(() => received().includes(3), 60_000, 20);
      // it waits for its attempts in flight
      await frozen.end();
      t.ok(before.includes(1) && before.includes(2), "another dispatcher took over");
      const after = received().slice(before.length);
      t.strictSame([...new Set(after)], [3], `only newer alerts follow: ${before.join(" ")}, then ${after.join(" ")}`);
      areInOrder(t, received());
    });
});
