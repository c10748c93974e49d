import t from "tap";
import { startLoopWatch } from "../probe/loop-watch.js";

void t.test("a standstill of the probe itself is noticed, and passes", (t) => {
  const watch = startLoopWatch();
  t.teardown(() => watch.close());
  const beforeMs = performance.now();
  t.notOk(watch.stoodStillSince(beforeMs));
  while (performance.now() < beforeMs + 800);
  t.ok(watch.stoodStillSince(beforeMs), "before any timer had its turn");
  t.notOk(
    watch.stoodStillSince(performance.now()),
    "what comes after is sound",
  );
  t.end();
});
