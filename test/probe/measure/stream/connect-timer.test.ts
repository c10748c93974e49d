/** When the next socket is opened, and at which address. */
import t from "tap";
import { startConnectTimer } from "../../../../probe/measure/stream/reconnecting-socket.js";
import type { Down } from "../../../../probe/measure/stream/socket.js";
import type { Fault } from "../../../../shared/measurement/sample.js";
import { makeFakeClock } from "../../../support/fake-clock.js";

/** Opens sockets that all fail, on a clock of the test. */
function startTimer(urls = ["a"]) {
  const { clock, walk } = makeFakeClock(0);
  const opened: { url: string; atS: number }[] = [];
  const timer = startConnectTimer((url) => opened.push({ url, atS: clock.now() / 1000 }), urls, 0, clock);
  /** Waits for the next socket. @returns its address and how long that took, in seconds */
  async function next() {
    const before = opened.length;
    const fromS = clock.now() / 1000;
    while (opened.length === before) await walk(100);
    const { url, atS } = opened.at(-1)!;
    return { url, tookS: atS - fromS };
  }
  return { timer, next };
}

const down = (fault: Fault, retryAfterMs = 0): Down => ({ cause: { fault }, detail: "", retryAfterMs });

/** Fails this often, and returns how long each next socket took, in seconds. */
async function delays({ timer, next }: ReturnType<typeof startTimer>, ends: Down[]) {
  const took: number[] = [];
  for (const end of ends) {
    timer.retry("a", end);
    took.push((await next()).tookS);
  }
  return took;
}

function areWithin(delaysS: number[], bounds: [fromS: number, toS: number][]) {
  return (
    delaysS.length === bounds.length &&
    bounds.every(([from, to], n) => delaysS[n]! >= from - 0.11 && delaysS[n]! <= to + 0.11)
  );
}

void t.test(
  "a limit without a wait is followed by pauses of 30 s to two minutes, one with a wait by that",
  async (t) => {
    const started = startTimer();
    await started.next();
    const limits = Array.from({ length: 4 }, () => down("limited"));
    const took = await delays(started, [...limits, down("limited", 45_000), down("limited")]);
    t.ok(
      areWithin(took, [
        [30, 30],
        [60, 60],
        [120, 120],
        [120, 120],
        [45, 45],
        [120, 120],
      ]),
      String(took),
    );
  },
);

void t.test("refusals pause from the third in a row on, at most one attempt in two minutes in the end", async (t) => {
  const started = startTimer();
  await started.next();
  const took = await delays(
    started,
    Array.from({ length: 7 }, () => down("blocked")),
  );
  t.ok(
    areWithin(took, [
      [0.5, 1],
      [1, 2],
      [30, 30],
      [60, 60],
      [120, 120],
      [120, 120],
      [120, 120],
    ]),
    String(took),
  );
});

void t.test("any other failure resets the count", async (t) => {
  const started = startTimer();
  await started.next();
  const took = await delays(started, [
    down("blocked"),
    down("blocked"),
    down("timeout"),
    down("blocked"),
    down("blocked"),
  ]);
  t.ok(
    took.every((seconds) => seconds < 20),
    String(took),
  );
});

void t.test("a pause counts as our choice only if the venue asked for no wait", async (t) => {
  const { timer, next } = startTimer();
  await next();
  const ends: [end: Down, isChosen: boolean][] = [
    [down("limited"), true],
    [down("limited", 200_000), false],
    [down("blocked"), false],
    [down("blocked"), false],
    [down("blocked"), true],
    [down("closed"), false],
    [{ ...down("closed"), cause: { unmeasured: "network" } }, false],
  ];
  for (const [end, isChosen] of ends) {
    t.equal(timer.retry("a", end), isChosen, JSON.stringify(end));
    await next();
  }
});

void t.test("a socket that stayed open for half a minute ends the pauses", async (t) => {
  const started = startTimer();
  await started.next();
  await delays(started, [down("limited"), down("limited")]);
  started.timer.ended("a", 29_000);
  t.ok(areWithin(await delays(started, [down("limited")]), [[120, 120]]));
  started.timer.ended("a", 30_000);
  t.ok(areWithin(await delays(started, [down("limited")]), [[30, 30]]));
});

void t.test("a pause that began with a renewal goes on when the old socket ends", async (t) => {
  const { timer, next } = startTimer();
  await next();
  timer.retry("a", down("limited", 45_000));
  t.equal(timer.retry("a", down("closed")), false, "the venue has asked for it");
  t.ok((await next()).tookS >= 44.9);
  timer.retry("a", down("limited"));
  t.equal(timer.retry("a", down("closed")), true, "we have chosen it");
  t.ok((await next()).tookS >= 29.9);
});

void t.test("each address has its own backoff, and the one that may be asked first is next", async (t) => {
  const { timer, next } = startTimer(["a", "b", "c"]);
  t.match(await next(), { url: "a" });
  timer.retry("a", down("limited"));
  t.match(await next(), { url: "b", tookS: 0 });
  timer.retry("b", down("connect"));
  t.match(await next(), { url: "c" });
  timer.retry("c", down("limited"));
  t.match(await next(), { url: "b" }, "a and c are paused");
  const urls: string[] = [];
  for (let n = 0; n < 40; n += 1) {
    timer.retry(urls.at(-1) ?? "b", down((urls.at(-1) ?? "b") === "b" ? "connect" : "limited"));
    urls.push((await next()).url);
  }
  t.same([...new Set(urls)].sort(), ["a", "b", "c"], "none is left out for good");
});
