/** Dispatchers lose their database for a while, repeatedly: connections are cut, new ones refused. */
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { openPool, sql } from "../../../../shared/database/pool.js";
import { makeLog } from "../../../../shared/log/log.js";
import { isAllDone } from "../../../support/alert-queue.js";
import {
  areInOrder,
  deadlineMs,
  dispatcherFor,
  eventIdOf,
  patientRules as rules,
  receiverFor,
} from "../../../support/alerting.js";
import { addChannel, happened, native } from "../../../support/alerts.js";
import { migratedDatabase } from "../../../support/database.js";
import { makeGate } from "../../../support/gate.js";
import { randomFrom } from "../../../support/random-samples.js";
import { until } from "../../../support/until.js";

const absences = 6;
const dispatchersAtOnce = 2;

void t.test("no alert is lost while the database is away for longer than the lease", async (t) => {
  const { pool, url } = await migratedDatabase(t);
  const gate = await makeGate(t, url);
  const random = randomFrom(11);
  // slow enough that a request is in flight whenever the database goes away
  const receiver = await receiverFor(t, () => ({ status: random() < 0.1 ? 500 : 200, afterMs: 10 + 30 * random() }));
  const paths = ["/a", "/b", "/c"];
  for (const path of paths) await addChannel(pool, { to: native(receiver.origin + path) });

  const lines: string[] = [];
  const dispatchers = Array.from({ length: dispatchersAtOnce }, () => {
    const log = makeLog("test", "error", (line) => lines.push(line));
    const db = openPool(gate.url, { applicationName: "away", log, max: 2 });
    t.teardown(() => db.close());
    return dispatcherFor(t, db, { deadlineMs, log, rules });
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

  t.match(lines.join(""), "the database is away", "the dispatchers met the outage");
  t.notMatch(lines.join(""), "a turn of the dispatcher failed", "no dispatcher logged a separate failure");
  t.strictSame(await pool.query(sql`select state, count(*) as deliveries from delivery group by state`), [
    { state: "delivered", deliveries: events * paths.length },
  ]);
  for (const path of paths) {
    const ids = receiver.arrivals.filter((one) => one.path === path).map(eventIdOf);
    const all = Array.from({ length: events }, (_, i) => i + 1);
    t.strictSame([...new Set(ids)], all, `${path} received every event`);
    areInOrder(t, ids);
    t.comment(`${path}: ${ids.length} requests for ${events} events`);
  }
});
