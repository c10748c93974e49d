import t from "tap";
import { startEventLoopWatch } from "../../../probe/schedule/event-loop-watch.js";

void t.test("a standstill of the probe itself is noticed, and ends", (t) => {
  const watch = startEventLoopWatch();
  t.teardown(() => watch.close());
  const beforeMs = performance.now();
  t.notOk(watch.stoodStillSince(beforeMs, 250));
  while (performance.now() < beforeMs + 500);
  t.ok(watch.stoodStillSince(beforeMs, 250), "noticed before any timer ran");
  const atMostMs = performance.now() - beforeMs + 100;
  t.notOk(watch.stoodStillSince(beforeMs, atMostMs), "the standstill was shorter");
  t.notOk(watch.stoodStillSince(performance.now(), 250), "the time after it is unaffected");
  t.end();
});
