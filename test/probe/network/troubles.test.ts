import t from "tap";
import { isBeyondBearing, makeTroubles } from "../../../probe/network/troubles.js";
import { makeLog } from "../../../shared/log/log.js";
import type { ClockError } from "../../../probe/lease/heartbeat.js";

function standing() {
  const state = {
    nowMs: 1_790_000_000_000,
    clock: null as ClockError | null,
    spool: null as string | null,
  };
  const lines: string[] = [];
  const troubles = makeTroubles({
    clockError: () => state.clock,
    spoolTrouble: () => state.spool,
    log: makeLog("test", "info", (line) => lines.push(line)),
    now: () => state.nowMs,
  });
  return { state, troubles, lines };
}

void t.test(
  "slots that are lost to the machine's own network are its trouble, until a minute has passed without",
  (t) => {
    const { state, troubles, lines } = standing();
    const begunMs = state.nowMs;
    for (const venue of ["kraken", "kraken", "okx"]) {
      troubles.unmeasured("network", 1, venue);
      state.nowMs += 20_000;
    }
    t.strictSame(troubles.read(), [
      {
        kind: "network",
        since: new Date(begunMs),
        detail: "there is no way out of this machine: 3 slots of 2 venues not measured",
      },
    ]);
    state.nowMs += 39_000;
    t.equal(troubles.read().length, 1, "a slow endpoint may yet say more");
    state.nowMs += 1_000;
    t.strictSame(troubles.read(), [], "it is over");
    t.match(lines, [/warn .*network/, /info .*is over.*network/]);
    t.equal(lines.length, 2, "a line at its beginning and one at its end");
    t.end();
  },
);

void t.test("what every probe meets now and then is no trouble", (t) => {
  const { troubles } = standing();
  for (const reason of ["overlap", "subscribing", "starting", "stale"] as const)
    troubles.unmeasured(reason, 1, "kraken");
  t.strictSame(troubles.read(), []);
  t.end();
});

void t.test("each kind lasts by itself, the oldest first", (t) => {
  const { state, troubles, lines } = standing();
  troubles.unmeasured("late", 12, "kraken");
  state.nowMs += 1;
  troubles.unmeasured("sockets", 1, "okx");
  state.nowMs += 1;
  state.spool = "/srv/venuewatch/spool is full";
  troubles.read();
  state.nowMs += 1;
  troubles.unmeasured("resolver", 1, "okx");
  t.same(
    troubles.read().map(({ kind }) => kind),
    ["starved", "sockets", "spool", "resolver"],
  );
  t.notMatch(JSON.stringify(troubles.read()), /srv/, "where it is, is not for the public");
  t.match(lines.join("\n"), /srv/, "but for operators");
  state.spool = null;
  t.same(
    troubles.read().map(({ kind }) => kind),
    ["starved", "sockets", "resolver"],
  );
  t.end();
});

void t.test("a clock that is off is told of where that is certain", (t) => {
  const { state, troubles } = standing();
  const told = () => troubles.read().map(({ detail }) => detail);
  t.same(told(), [], "nothing is known");
  state.clock = { errorMs: 900, withinMs: 450 };
  t.same(told(), [], "it may be half of that");
  state.clock = { errorMs: -900, withinMs: 40.2 };
  t.same(told(), ["this machine's clock is 900 ms behind the venues' clocks, give or take 41 ms"]);
  t.notOk(isBeyondBearing(state.clock), "events are corrected by it");
  state.clock = { errorMs: 2_100, withinMs: 40 };
  t.match(told(), [/2100 ms ahead of .* nothing is recorded until/]);
  t.ok(isBeyondBearing(state.clock));
  t.notOk(isBeyondBearing({ errorMs: 2_100, withinMs: 200 }), "not certain");
  t.end();
});
