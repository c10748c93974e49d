/** How states look, whatever their fault. */
import t from "tap";
import { lookOf } from "../../../../server/web/pages/parts.js";

void t.test("a limit names what is degraded, and hides no outage", (t) => {
  t.same(lookOf("degraded", "limited"), { state: "degraded", word: "Limits our requests" });
  t.match(lookOf("outage", "limited"), { state: "outage", word: /^Down$/ });
  for (const state of ["operational", "unknown", "outage"] as const)
    t.same(lookOf(state, "limited"), lookOf(state, null), state);
  t.same(lookOf("degraded", "timeout"), lookOf("degraded", null));
  t.end();
});
