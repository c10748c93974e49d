import { makeAcknowledged } from "../../../probe/delivery/recorder.js";
import t from "tap";
import { startShip } from "../../../probe/delivery/ship.js";
import { makeLog } from "../../../shared/log/log.js";
import type { Sample } from "../../../shared/measurement/sample.js";
import { numberedSample } from "../../support/numbered-sample.js";
import { someSpool } from "../../support/spool.js";
import { until } from "../../support/until.js";

const quiet = makeLog("test", "error");
const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
const samples = (from: number, to: number) => numbers(from, to).map((n) => numberedSample(n, 0));

void t.test("samples acknowledged on an earlier timeline are delivered again, once", (t) => {
  const acknowledged = makeAcknowledged();
  t.equal(acknowledged.add(samples(0, 2), "1"), 0);
  t.equal(acknowledged.add(samples(2, 3), "1"), 0);
  t.equal(acknowledged.next(9), null, "nothing was lost");
  t.equal(acknowledged.add(samples(3, 4), "2"), 3);
  const first = acknowledged.next(2)!;
  t.same(first.samples, samples(0, 2));
  t.same(acknowledged.next(2)!.samples, samples(0, 2), "the batch is given again until it is stored");
  first.done();
  t.equal(acknowledged.add(samples(0, 2), "3"), 1, "another failover repeats what the last timeline acknowledged");
  const rest = acknowledged.next(9)!;
  t.same(rest.samples, samples(2, 4));
  rest.done();
  t.equal(acknowledged.next(9), null);
  t.end();
});

void t.test("acknowledged samples are kept up to a limit", (t) => {
  const few = makeAcknowledged({ keepAtMost: 4 });
  for (const n of numbers(0, 5)) few.add(samples(2 * n, 2 * n + 2), "1");
  t.equal(few.add([], "2"), 4);
  t.same(few.next(9)!.samples, samples(6, 10), "only the newest are kept");

  const brief = makeAcknowledged({ keepMs: -1 });
  brief.add(samples(0, 2), "1");
  brief.add(samples(2, 3), "1");
  t.equal(brief.add([], "2"), 1, "the last acknowledged batch is kept at any age");
  t.end();
});

void t.test("a ship restores samples that a failover lost, and counts them separately", async (t) => {
  let rows = new Set<number>();
  let timeline = "1";
  const record = (batch: readonly Sample[]) => {
    const before = rows.size;
    for (const { slotAt } of batch) rows.add(+slotAt);
    const stored = rows.size - before;
    const duplicates = batch.length - stored;
    return Promise.resolve({ stored, duplicates, refused: 0, timeline });
  };
  const ship = startShip({ spool: await someSpool(t), record, log: quiet, flushEveryMs: 10 });
  for (const sample of samples(0, 2500)) ship.add(sample);
  await until(() => rows.size === 2500);
  // the standby had half of it
  rows = new Set([...rows].slice(0, 1250));
  timeline = "2";
  ship.add(numberedSample(2500, 0));
  await until(() => rows.size === 2501);
  t.match(ship.status(), { shipped: 2501, duplicates: 0, restored: 1250, refused: 0, waiting: 0 });
  await ship.close();
});
