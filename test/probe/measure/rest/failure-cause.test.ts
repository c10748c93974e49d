import t from "tap";
import { causeOf, unlessOurNetwork } from "../../../../probe/measure/causes.js";
import type { Connectivity } from "../../../../probe/network/own-network.js";

const errorOf = (code: string) => Object.assign(new Error(code), { code });

void t.test("a host without a route is the venue's fault while others are reached", async (t) => {
  const gone = errorOf("EHOSTUNREACH");
  const away = errorOf("ENETUNREACH");
  // An address of each family, and no IPv6 on this machine.
  const both = new AggregateError([away, gone]);
  const network = { unmeasured: "network" };
  const judged = (error: Error, way: Connectivity) =>
    unlessOurNetwork(
      causeOf(error, "connect"),
      { host: "a", sinceMs: 0, error },
      { asked() {}, answered() {}, wayOut: () => Promise.resolve(way), forget() {} },
    );
  for (const error of [gone, away, both]) {
    t.same(await judged(error, "open"), { fault: "connect" });
    t.same(await judged(error, "unknown"), network);
    t.same(await judged(error, "shut"), network);
  }
  const refused = errorOf("ECONNREFUSED");
  t.same(await judged(refused, "unknown"), { fault: "connect" });
  t.same(await judged(refused, "shut"), network);
  for (const code of ["EMFILE", "EADDRNOTAVAIL"])
    t.same(await judged(errorOf(code), "open"), { unmeasured: "sockets" });
});
