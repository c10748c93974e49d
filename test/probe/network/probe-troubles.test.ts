import t from "tap";
import { makeTroubles } from "../../../probe/network/probe-troubles.js";
import { type ClockError, exceedsTolerance } from "../../../probe/measure/clock-error.js";
import { listeningLog } from "../../support/listening-log.js";

function standing() {
  const state = { nowMs: 1_790_000_000_000, clock: null as ClockError | null, spool: null as string | null };
  const { log, lines } = listeningLog("info");
  const troubles = makeTroubles({
    clockError: () => state.clock,
    spoolTrouble: () => state.spool,
    ...{ log, now: () => state.nowMs },
  });
  return { state, troubles, lines };
}

void t.test("slots lost to the machine's own network are probe trouble, until a minute passes without one", (t) => {
  const { state, troubles, lines } = standing();
  const startMs = state.nowMs;
  for (const venue of ["kraken", "kraken", "okx"]) {
    troubles.unmeasured("network", 1, venue);
    state.nowMs += 20_000;
  }
  const detail = "there is no way out of this machine: 3 slots of 2 venues not measured";
  t.strictSame(troubles.read(), [{ kind: "network", since: new Date(startMs), detail }]);
  state.nowMs += 39_000;
  t.equal(troubles.read().length, 1, "the trouble lasts while a slow endpoint may still report");
  state.nowMs += 1_000;
  t.strictSame(troubles.read(), [], "the trouble is over");
  t.match(lines, [/warn .*network/, /info .*is over.*network/]);
  t.equal(lines.length, 2, "one line when the trouble begins and one when it ends");
  t.end();
});

void t.test("slots lost for reasons that every probe meets now and then are no trouble", (t) => {
  const { troubles } = standing();
  for (const reason of ["overlap", "subscribing", "starting", "stale"] as const)
    troubles.unmeasured(reason, 1, "kraken");
  t.strictSame(troubles.read(), []);
  t.end();
});

void t.test("each kind of trouble begins and ends independently, oldest first", (t) => {
  const { state, troubles, lines } = standing();
  const kinds = () => troubles.read().map(({ kind }) => kind);
  troubles.unmeasured("late", 12, "kraken");
  state.nowMs += 1;
  troubles.unmeasured("sockets", 1, "okx");
  state.nowMs += 1;
  state.spool = "/srv/venuewatch/spool is full";
  troubles.read();
  state.nowMs += 1;
  troubles.unmeasured("resolver", 1, "okx");
  t.same(kinds(), ["starved", "sockets", "spool", "resolver"]);
  t.notMatch(JSON.stringify(troubles.read()), /srv/, "the public detail hides the path");
  t.match(lines.join("\n"), /srv/, "the operator's log names the path");
  state.spool = null;
  t.same(kinds(), ["starved", "sockets", "resolver"]);
  t.end();
});

void t.test("a wrong clock is reported once its error is certain", (t) => {
  const { state, troubles } = standing();
  const details = () => troubles.read().map(({ detail }) => detail);
  t.same(details(), [], "the error is unknown");
  state.clock = { errorMs: 900, withinMs: 450 };
  t.same(details(), [], "the error may be half as large");
  state.clock = { errorMs: -900, withinMs: 40.2 };
  t.same(details(), ["this machine's clock is 900 ms behind the venues' clocks, give or take 41 ms"]);
  t.notOk(exceedsTolerance(state.clock), "event times are corrected by the known error");
  state.clock = { errorMs: 2_100, withinMs: 40 };
  t.match(details(), [/2100 ms ahead of .* nothing is recorded until/]);
  t.ok(exceedsTolerance(state.clock));
  t.notOk(exceedsTolerance({ errorMs: 2_100, withinMs: 200 }), "not certain");
  t.end();
});
