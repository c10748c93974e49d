import t from "tap";
import { causeOf } from "../probe/cause.js";
import { makeReach } from "../probe/reach.js";

const errorOf = (code: string) => Object.assign(new Error(code), { code });

void t.test(
  "a host without a route is the venue's fault while others are reached",
  (t) => {
    const gone = errorOf("EHOSTUNREACH");
    t.same(causeOf(gone, "connect", true), { fault: "connect" });
    t.same(causeOf(gone, "connect", false), { unmeasured: "network" });
    // An address of each family, and no IPv6 on this machine.
    const both = new AggregateError([errorOf("ENETUNREACH"), gone]);
    t.same(causeOf(both, "connect", true), { fault: "connect" });
    t.same(causeOf(both, "connect", false), { unmeasured: "network" });
    t.same(causeOf(errorOf("ENETUNREACH"), "connect", true), {
      unmeasured: "network",
    });
    for (const code of ["EMFILE", "EADDRNOTAVAIL"])
      t.same(causeOf(errorOf(code), "connect", true), {
        unmeasured: "sockets",
      });
    t.end();
  },
);

void t.test("only another host, and only of late, counts as reached", (t) => {
  let nowMs = 0;
  const reach = makeReach(() => nowMs);
  t.notOk(reach.othersReached("a"), "nothing was");
  reach.reached("a");
  t.notOk(reach.othersReached("a"), "it does not speak for itself");
  t.ok(reach.othersReached("b"));
  nowMs = 9000;
  t.ok(reach.othersReached("b"));
  nowMs = 10_000;
  t.notOk(reach.othersReached("b"), "too long ago");
  t.end();
});
