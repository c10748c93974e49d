/**
 * A quiet market is no dead stream: silence is no fault while the venue shows no trade, but a stream that stops is
 * found.
 */
import { existsSync, readFileSync } from "node:fs";
import t from "tap";
import { makeCounterpart } from "../../../probe/stream/counterpart.js";
import { limits } from "../../../shared/measurement/probe-rules.js";
import { type Stream } from "../../../shared/registry/registry.js";
import { loadRegistry } from "../../../shared/registry/load-registry.js";
import { judgedSlots, type Market } from "../../support/heard-market.js";
import { randomFrom } from "../../support/random-samples.js";

const minuteMs = 60_000;
const secondMs = 1000;

/** Bitstamp's trades, with an estimated rate of thirty a minute. */
const trades: Stream = {
  name: "trades",
  label: "Trades",
  subscribe: {},
  match: { path: "$.at" },
  eventTime: { path: "$.at", unit: "ms" },
  counterpart: "trades",
  cadenceMs: 10_000,
  typicalPerMinute: 30,
  rateBasis: "estimate",
  stall: { afterMs: 120_000, distribution: null },
};
const measured: Stream = {
  ...trades,
  stall: {
    afterMs: 120_000,
    distribution: {
      ...{ periods: 20_000, from: "2026-01-01", to: "2026-01-08" },
      ...{ p50Ms: 900, p99Ms: 20_000, p999Ms: 60_000 },
    },
  },
};
const untimed: Stream = { ...trades };
delete untimed.eventTime;

const rest = { cadenceMs: 15_000, oldestMs: minuteMs };

const random = randomFrom(11);

/** One or several trades in each minute that has any. */
function tradesOf(hasTrades: readonly boolean[]): number[] {
  return hasTrades
    .flatMap((has, minute) =>
      Array.from({ length: has ? 1 + Math.floor(random() * 4) : 0 }, () => Math.floor((minute + random()) * minuteMs)),
    )
    .sort((a, b) => a - b);
}

function faultsOf(market: Omit<Market, "stream"> & { stream?: Stream }) {
  const slots = judgedSlots({ stream: trades, ...market });
  return slots.filter(({ fault }) => fault !== null);
}

/** A trade every this many seconds, for an hour. */
const every = (seconds: number) => Array.from({ length: 3600 / seconds }, (_, n) => (n + 1) * seconds * secondMs);

void t.test("no fault where a fifth of all minutes have no trade", (t) => {
  for (let run = 0; run < 4; run += 1) {
    const minutes = Array.from({ length: 600 }, () => random() > 0.2);
    // and some silences as long as the longest recorded ones
    for (const from of [100, 250, 400]) minutes.fill(false, from, from + 6);
    for (const stream of [trades, measured, untimed])
      for (const shows of ["time", "id"] as const)
        t.strictSame(
          faultsOf({ ...{ stream, trades: tradesOf(minutes), untilMs: 600 * minuteMs }, rest: { ...rest, shows } }),
          [],
        );
  }
  t.end();
});

const recorded = "../shared/recordings/quiet-minutes.json";

void t.test(
  "recorded silences of real markets are no fault",
  { skip: !existsSync(recorded) && `${recorded} is not there` },
  (t) => {
    interface Recorded {
      windows: { from: number; to: number; zero: number[] }[];
    }
    const { windows } = JSON.parse(readFileSync(recorded, "utf8")) as Recorded;
    for (const { from, to, zero } of windows) {
      const minutes = Array.from({ length: (to - from) / 60 }, (_, minute) => !zero.includes(from + minute * 60));
      for (const stream of [trades, measured, untimed])
        t.strictSame(
          faultsOf({ ...{ stream, trades: tradesOf(minutes), rest }, untilMs: minutes.length * minuteMs }),
          [],
        );
    }
    t.end();
  },
);

void t.test("a stream that stops is found within a minute after its threshold", (t) => {
  const stopsAtMs = 20 * minuteMs;
  const dueMs = stopsAtMs + trades.stall.afterMs;
  for (const stream of [trades, measured, untimed])
    for (const shows of ["time", "id"] as const)
      for (const seconds of [1, 5, 12]) {
        const faults = faultsOf({
          ...{ stream, stopsAtMs, trades: every(seconds) },
          untilMs: 30 * minuteMs,
          rest: { ...rest, shows },
        });
        t.match(faults[0], { fault: "stall" });
        t.ok(faults[0]!.atMs > dueMs - seconds * secondMs, "not before the threshold");
        const third = faults[2]!.atMs - dueMs;
        t.ok(third <= minuteMs, `the third bad slot ended ${third / secondMs} s after the threshold`);
        const slots = (30 * minuteMs - faults[0]!.atMs) / 10_000 + 1;
        t.equal(faults.length, slots, "the fault lasts");
      }
  t.end();
});

void t.test("every stream of the registry is found as soon, at any phase of its slots", async (t) => {
  const { venues } = await loadRegistry("registry-all.json");
  for (const { id, rest, socket } of venues)
    for (const { name, counterpart, cadenceMs } of socket?.streams ?? []) {
      const asked = rest.find((endpoint) => endpoint.name === counterpart);
      if (!asked) continue;
      const threeSlots = asked.cadenceMs + limits.counterpart_settle_ms + 3 * cadenceMs;
      t.ok(threeSlots < minuteMs, `${id} ${name}: ${threeSlots} ms`);
    }
});

void t.test("a stream that resumes is good again", (t) => {
  const stream = { ...trades, stall: { afterMs: 30_000, distribution: null } };
  const atMs = every(5).filter((one) => one < 600_000 || one > 700_000);
  // REST showed the trades meanwhile, the stream did not send them
  const slots = judgedSlots({
    ...{ stream, trades: every(5), untilMs: 15 * minuteMs },
    ...{ stopsAtMs: 600_000, rest },
  });
  t.ok(slots.some(({ fault }) => fault === "stall"));
  const quiet = judgedSlots({ ...{ stream, trades: atMs, untilMs: 15 * minuteMs, rest } });
  t.ok(quiet.every(({ fault }) => fault === null));
  t.end();
});

void t.test("frames that the probe itself missed are no fault of a stream", (t) => {
  // The trade of the 590th second is the last before the standstill; the others arrive during it, or are lost with the
  // socket.
  const before = every(5).filter((atMs) => atMs <= 590_000);
  for (const during of [[730_000], [605_000, 730_000], [748_000]])
    for (const stream of [trades, measured, untimed])
      for (const shows of ["time", "id"] as const)
        for (const reconnects of [false, true])
          for (const hasTrailers of [false, true])
            for (const laterMs of [0, 1, 4, 9].map((s) => s * secondMs)) {
              const span = { fromMs: 600_000, toMs: 750_000 + laterMs };
              const slots = judgedSlots({
                ...{ stream, hasTrailers, untilMs: 30 * minuteMs },
                trades: [...before, ...during],
                rest: { cadenceMs: 15_000, shows },
                standstill: { ...span, reconnects },
              });
              t.ok(slots.every(({ fault }) => fault === null));
              t.ok(slots.filter(({ atMs }) => atMs > 800_000).length > 90);
            }
  // A slot that is skipped while the probe runs: frames that arrived in it count.
  for (const stream of [trades, measured])
    t.strictSame(
      faultsOf({
        ...{ stream, untilMs: 30 * minuteMs, rest: { cadenceMs: 15_000 } },
        trades: [600_000, 725_000],
        unread: { fromMs: 725_000, toMs: 735_000 },
      }),
      [],
    );
  t.end();
});

void t.test("a stream that stops near a standstill of the probe is found", (t) => {
  const toMs = 750_000;
  for (const stopsAtMs of [500_000, 600_500, 700_000, 760_000])
    for (const stream of [trades, measured, untimed])
      for (const reconnects of [false, true]) {
        const faults = faultsOf({
          ...{ stream, stopsAtMs, trades: every(5), untilMs: 30 * minuteMs },
          ...{ rest, standstill: { fromMs: 600_000, toMs, reconnects } },
        });
        const sinceMs = Math.max(stopsAtMs, toMs + 10_000);
        const dueMs = sinceMs + trades.stall.afterMs;
        t.match(faults[0], { fault: "stall" });
        const afterMs = faults[0]!.atMs - dueMs;
        t.ok(afterMs <= minuteMs, `${afterMs / secondMs} s after the threshold`);
        const slots = (30 * minuteMs - faults[0]!.atMs) / 10_000 + 1;
        t.equal(faults.length, slots, "the fault lasts");
      }
  t.end();
});

void t.test("a silent stream without a counterpart's evidence", async (t) => {
  const stopped = { trades: every(5), stopsAtMs: 600_000 };
  const untilMs = 15 * minuteMs;
  const first = (stream: Stream, rest: Market["rest"]) =>
    faultsOf({ ...stopped, stream, untilMs, rest })[0]?.atMs ?? null;

  await t.test("is no fault where its rate is an estimate", (t) => {
    t.equal(first(trades, null), null);
    t.end();
  });
  await t.test("stalls where its rate is measured, probed or documented", (t) => {
    const dueMs = 600_000 + 120_000;
    t.equal(first(measured, null), dueMs + 10_000);
    for (const rateBasis of ["documented", "probed"] as const)
      t.equal(first({ ...trades, rateBasis }, null), dueMs + 10_000);
    t.end();
  });
  await t.test("is judged without a counterpart that fails", (t) => {
    const failing = { ...rest, failsFromMs: 590_000 };
    t.equal(first(trades, failing), null, "an estimated rate proves nothing without the counterpart");
    const waitedMs = limits.counterpart_wait_cadences * rest.cadenceMs;
    const atMs = first(measured, failing)! - 600_000 - 120_000;
    t.ok(atMs > waitedMs && atMs <= waitedMs + 10_000, "any other rate waits for the counterpart only a while");
    t.end();
  });
});

void t.test("a stream whose event times stand still", async (t) => {
  const untilMs = 30 * minuteMs;
  const freezesAtMs = 600_000;
  const book: Stream = {
    ...trades,
    name: "book",
    rateBasis: "documented",
    stall: { afterMs: 10_000, distribution: null },
  };
  delete book.counterpart;
  const first = (market: Partial<Market>) => faultsOf({ trades: every(1), untilMs, rest: null, ...market })[0];

  await t.test("is stale, by the rule or by the registry", (t) => {
    const after = (stream: Stream) => {
      const found = first({ stream, freezesAtMs })!;
      t.equal(found.fault, "stale");
      return (found.atMs - freezesAtMs) / secondMs;
    };
    t.equal(after(book), 40, "after thirty seconds, plus a slot of ten");
    t.equal(after({ ...book, staleAfterMs: 5_000 }), 10);
    t.equal(after({ ...book, stall: { afterMs: 60_000, distribution: null } }), 190);
    t.equal(first({ stream: book }), undefined);
    t.end();
  });

  await t.test("is stale while its counterpart shows new trades", (t) => {
    const stream = { ...trades, stall: { afterMs: 15_000, distribution: null } };
    const found = first({ stream, freezesAtMs, rest });
    t.match(found, { fault: "stale" });
    t.ok(found!.atMs - freezesAtMs <= 45_000 + rest.cadenceMs + 13_000);
    t.end();
  });

  await t.test("is still stale after a day, when its times are no longer believed", (t) => {
    const dayMs = 24 * 60 * minuteMs;
    const everyFive = Array.from({ length: (25 * 60 * minuteMs) / 5000 }, (_, n) => n * 5000);
    const slots = judgedSlots({
      ...{ stream: book, trades: everyFive, rest: null, freezesAtMs },
      untilMs: dayMs + 45 * minuteMs,
    });
    t.equal(slots.at(-1)!.fault, "stale");
    t.end();
  });
});

void t.test("a repeated old time in a quiet market is not stale", (t) => {
  // a ticker with the time of the last trade, sent every second; after ten minutes trades end
  const stream = { ...trades, stall: { afterMs: 15_000, distribution: null } };
  const told = {
    ...{ stream, untilMs: 30 * minuteMs, resendsEveryMs: secondMs },
    trades: every(1).filter((atMs) => atMs <= 600_000),
  };
  t.strictSame(faultsOf({ ...told, rest: { cadenceMs: 15_000 } }), []);
  t.strictSame(faultsOf({ ...told, rest }), []);
  t.match(
    faultsOf({ ...told, rest: null })[0],
    { fault: "stale" },
    "it is stale without a counterpart that shows a quiet market",
  );
  t.end();
});

void t.test("data right after the subscription may be old", (t) => {
  const trades = [1_000, 2_000];
  const slots = judgedSlots({
    stream: { ...measured, staleAfterMs: 500 },
    ...{ trades, freezesAtMs: 0, untilMs: 60_000, rest: null },
  });
  t.ok(slots.every(({ fault }) => fault === null));
  t.end();
});

void t.test("nodes that alternate with older answers show nothing new", (t) => {
  const counterpart = makeCounterpart(5_000);
  for (let n = 0; n < 40; n += 1) counterpart.answered(n * 5_000, { id: n % 2 === 0 ? "7" : "6" });
  const heard = { atMs: 12_000, eventMs: null };
  t.equal(counterpart.wentOn(heard, 60_000, 200_000), false);
  counterpart.answered(200_000, { id: "8" });
  t.equal(counterpart.wentOn(heard, 60_000, 201_000), false, "not at the moment of the answer");
  t.equal(counterpart.wentOn(heard, 60_000, 204_000), true);
  t.equal(
    counterpart.wentOn({ atMs: 196_000, eventMs: null }, 3_000, 204_000),
    false,
    "the stream may have sent it already",
  );
  t.equal(
    counterpart.wentOn({ atMs: 199_000, eventMs: null }, 3_000, 204_000),
    null,
    "the counterpart has not been asked since",
  );
  t.end();
});
