import t from "tap";
import { startEventLoopWatch } from "../../../probe/schedule/event-loop-watch.js";

void t.test("a standstill of the probe itself is noticed, and passes", (t) => {
  const watch = startEventLoopWatch();
  t.teardown(() => watch.close());
  const beforeMs = performance.now();
  t.notOk(watch.stoodStillSince(beforeMs, 250));
  while (performance.now() < beforeMs + 500);
  t.ok(watch.stoodStillSince(beforeMs, 250), "before any timer had its turn");
  const atMostMs = performance.now() - beforeMs + 100;
  t.notOk(watch.stoodStillSince(beforeMs, atMostMs), "it was not that long");
  t.notOk(watch.stoodStillSince(performance.now(), 250), "what comes after is sound");
  t.end();
});
