/** Dispatchers lose their database for a while, repeatedly: connections are cut, new ones refused. */
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import type { Alert } from "../../../../server/alerts/formats/alert.js";
import { startDispatcher } from "../../../../server/alerts/delivery/dispatcher.js";
import { formatAlert } from "../../../../server/alerts/formats/format-alert.js";
import { makePoster } from "../../../../server/alerts/delivery/post.js";
import { deliveryRules } from "../../../../server/alerts/delivery/rules.js";
import { openPool, type Pool, sql } from "../../../../shared/database/pool.js";
import { makeLog } from "../../../../shared/log/log.js";
import { addChannel, happened, native, sealing } from "../../../support/alerts.js";
import { migratedDatabase } from "../../../support/database.js";
import { makeGate } from "../../../support/gate.js";
import { randomFrom } from "../../../support/random-samples.js";
import { until } from "../../../support/until.js";
import { startReceiver } from "../../../../simulator/receiver.js";

const absences = 6;
const dispatchersAtOnce = 2;
const deadlineMs = 300;
const rules = {
  ...deliveryRules,
  attempts: 1_000,
  switch_off_failures: 1_000,
  backoff_ms: 10,
  backoff_factor: 1,
  own_fault_ms: 10,
  lease_ms: 700,
  look_ms: 20,
  sweep_ms: 50,
};

void t.test("no alert is lost while the database is away for longer than the lease", async (t) => {
  const { pool, url } = await migratedDatabase(t);
  const gate = await makeGate(t, url);
  const random = randomFrom(11);
  // slow enough that a request is in flight whenever the database goes away
  const receiver = await startReceiver({
    react: () => ({ status: random() < 0.1 ? 500 : 200, afterMs: 10 + 30 * random() }),
  });
  t.teardown(() => receiver.close());
  const paths = ["/a", "/b", "/c"];
  for (const path of paths) await addChannel(pool, { to: native(receiver.origin + path) });

  const lines: string[] = [];
  const dispatchers = Array.from({ length: dispatchersAtOnce }, () => {
    const log = makeLog("test", "error", (line) => lines.push(line));
    const db = openPool(gate.url, { applicationName: "away", log, max: 2 });
    const poster = makePoster({ allowLoopback: true, deadlineMs });
    const dispatcher = startDispatcher({
      db,
      poster,
      sealing,
      write: (to, alert, sent) =>
        formatAlert(to, alert, {
          ...sent,
          baseUrl: "https://status.example",
          userAgent: "venuewatch/test",
        }),
      log,
      rules,
    });
    t.teardown(async () => {
      await dispatcher.close();
      await poster.close();
      await db.close();
    });
    return dispatcher;
  });

  let events = 0;
  const happen = async () => {
    await happened(pool, { kinds: ["opened", "closed"] });
    events += 2;
    dispatchers[events % dispatchersAtOnce]!.wake();
  };
  const arrivals = () => receiver.arrivals.length;
  for (let absence = 0; absence < absences; absence++) {
    for (let i = 0; i < 8; i++) await happen();
    const before = arrivals();
    await until(() => arrivals() > before + 5 * random(), 60_000);
    // interrupts any operation, including statements in flight to the database and results in flight from it
    if (absence % 2 === 1) gate.cutAtNextStatement();
    await sleep(20 * random());
    await gate.shut();
    await happen();
    await sleep(rules.lease_ms * (1 + random()));
    await gate.open();
  }
  await until(() => isAllDone(pool), 120_000, 20);

  t.ok(lines.filter((line) => line.includes("the database is away")).length >= 1, "the dispatchers met the outage");
  t.notOk(
    lines.some((line) => line.includes("a turn of the dispatcher failed")),
    "no dispatcher logged a separate failure",
  );
  t.strictSame(await pool.query(sql`select state, count(*) as deliveries from delivery group by state`), [
    { state: "delivered", deliveries: events * paths.length },
  ]);
  for (const path of paths) {
    const own = receiver.arrivals.filter((one) => one.path === path);
    const ids = own.map(({ body }) => (JSON.parse(body.toString()) as Alert).eventId);
    t.strictSame(
      [...new Set(ids)],
      Array.from({ length: events }, (_, i) => i + 1),
      `${path} received every event`,
    );
    t.strictSame(
      ids,
      ids.toSorted((a, b) => a - b),
      "events arrive in order, repeated where necessary",
    );
    t.comment(`${path}: ${ids.length} requests for ${events} events`);
  }
});

async function isAllDone(pool: Pool): Promise<boolean> {
  const [row] = await pool.query<{ done: boolean }>(sql`
    select not exists (select from alert_event where dispatched_at is null and dropped_at is null)
      and not exists (select from delivery where state = 'due') as done
  `);
  return row!.done;
}
