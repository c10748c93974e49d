/** A channel that is quiet during announced maintenance, and hears of what outlasts it. */
import t from "tap";
import { claim, clearAlerts, closeAll, expand, queueOf, settle } from "../../../support/alert-queue.js";
import { addChannel, happened, writeEvent } from "../../../support/alerts.js";
import { migratedDatabase } from "../../../support/database.js";
import { decide, forget } from "../../../support/fleet.js";
import { forgetSaid, notice, said, whole } from "../../../support/stored-notices.js";
import { sql } from "../../../../shared/database/pool.js";

const now = Date.now();
const minutes = (count: number) => new Date(now + count * 60_000);

void t.test("a channel that is quiet in announced maintenance", async (t) => {
  const { pool } = await migratedDatabase(t);
  await forget(pool);
  await decide(pool);

  /** Kraken's feed, read so many minutes ago, has work that began half an hour ago. */
  async function read(minutesAgo: number, plannedEndAt: Date, more: object = {}): Promise<void> {
    const base = { kind: "maintenance", title: "Upgrade", postedAt: minutes(-600), plannedEndAt } as const;
    const work = notice("m1", minutes(-30), { ...base, ...more });
    await said(pool, "kraken", minutes(-minutesAgo), [{ ...whole(work), scope: "maintenances" }]);
  }

  /** One look of a dispatcher. */
  async function look(): Promise<void> {
    const [due] = await pool.file<{ waiting: boolean }>("alerts_due");
    if (!due!.waiting) return;
    await pool.file("send_overrun", [null]);
    await expand(pool);
  }

  t.beforeEach(async () => {
    await clearAlerts(pool);
    await forgetSaid(pool);
  });

  await t.test("gets nothing of an incident within the window, while others get all", async (t) => {
    await read(300, minutes(30));
    const [loud, quiet] = [await addChannel(pool), await addChannel(pool, { onMaintenance: "quiet" })];
    const slug = await happened(pool, { venue: "kraken", at: minutes(-10), severity: "degraded" });
    await happened(pool, { venue: "okx", at: minutes(-10) });
    await look();
    await writeEvent(pool, slug, "escalated");
    await look();
    const skipped = ["kraken opened: skipped", "okx opened", "kraken escalated: skipped"];
    t.strictSame(await queueOf(pool, quiet), skipped);
    await closeAll(pool);
    await look();
    t.strictSame(await queueOf(pool, quiet), [...skipped, "okx closed"], "quiet incidents close quietly");
    const all = ["kraken opened", "okx opened", "kraken escalated", "kraken closed", "okx closed"];
    t.strictSame(await queueOf(pool, loud), all);
    const [{ reason } = { reason: "" }] = await pool.query<{ reason: string }>(sql`
      select reason from delivery where state = 'skipped' limit 1
    `);
    t.equal(reason, "announced maintenance");
  });

  await t.test("hears nothing of an incident that opened and closed before the dispatcher looked", async (t) => {
    await read(300, minutes(30));
    const quiet = await addChannel(pool, { onMaintenance: "quiet" });
    await happened(pool, { venue: "kraken", at: minutes(-10), kinds: ["opened", "closed"] });
    await look();
    t.strictSame(await queueOf(pool, quiet), ["kraken opened: skipped"]);
  });

  await t.test("hears of an incident that outlasts the window, and of its end", async (t) => {
    await read(300, minutes(30));
    const quiet = await addChannel(pool, { onMaintenance: "quiet" });
    await happened(pool, { venue: "kraken", at: minutes(-10) });
    await look();
    await look();
    t.strictSame(await queueOf(pool, quiet), ["kraken opened: skipped"], "as long as it lasts");
    await read(1, minutes(30), { status: "completed", over: true, resolvedAt: minutes(-5) });
    await look();
    t.strictSame(await queueOf(pool, quiet), ["kraken opened: skipped"], "while it was not seen after the end");
    await pool.query(sql`update incident set last_bad_at = ${minutes(-2)}`);
    await look();
    t.strictSame(await queueOf(pool, quiet), ["kraken opened"]);
    await claim(pool, new Date());
    await settle(pool, new Date(), quiet, "delivered");
    await closeAll(pool);
    await look();
    t.strictSame(await queueOf(pool, quiet), ["kraken opened: delivered", "kraken closed"]);
    const [{ told } = { told: 0 }] = await pool.query<{ told: number }>(sql`
      select count(told_after_ms)::int as told from delivery
    `);
    t.equal(told, 0, "the wait is not counted as the time that an alert takes");
  });

  await t.test("hears of an overrun that had closed before the dispatcher looked", async (t) => {
    await read(300, minutes(30));
    const quiet = await addChannel(pool, { onMaintenance: "quiet" });
    await happened(pool, { venue: "kraken", at: minutes(-10) });
    await look();
    await read(1, minutes(30), { status: "completed", over: true, resolvedAt: minutes(-5) });
    await pool.query(sql`update incident set last_bad_at = ${minutes(-2)}`);
    await closeAll(pool);
    await look();
    t.strictSame(await queueOf(pool, quiet), ["kraken opened", "kraken closed"]);
  });

  await t.test("is not quiet about other times, other venues, and maintenance announced too late", async (t) => {
    await read(300, minutes(-20));
    const quiet = await addChannel(pool, { onMaintenance: "quiet" });
    await happened(pool, { venue: "kraken", at: minutes(-10) });
    await happened(pool, { venue: "okx", at: minutes(-10) });
    await look();
    t.strictSame(await queueOf(pool, quiet), ["kraken opened", "okx opened"]);
    await clearAlerts(pool);
    await forgetSaid(pool);
    await read(1, minutes(30), { status: "in_progress" });
    const other = await addChannel(pool, { onMaintenance: "quiet" });
    await happened(pool, { venue: "kraken", at: minutes(-0.5) });
    await look();
    t.strictSame(await queueOf(pool, other), ["kraken opened"], "announced after it began");
  });
});
