import t from "tap";
import { startEventLoopWatch } from "../../../shared/process/event-loop-watch.js";

void t.test("a standstill of the probe itself is noticed, and ends", (t) => {
  const watch = startEventLoopWatch();
  t.teardown(() => watch.close());
  const beforeMs = performance.now();
  t.notOk(watch.stalledSince(beforeMs, 250));
  while (performance.now() < beforeMs + 500);
  t.ok(watch.stalledSince(beforeMs, 250), "noticed before any timer ran");
  const atMostMs = performance.now() - beforeMs + 100;
  t.notOk(watch.stalledSince(beforeMs, atMostMs), "the standstill was shorter");
  t.notOk(watch.stalledSince(performance.now(), 250), "the time after it is unaffected");
  t.end();
});
