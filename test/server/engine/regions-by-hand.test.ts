/** What the second opinion says of regions and states, on worlds small enough to compute by hand. */
import t from "tap";
import { after, judge, lives, momentAt, viewAt } from "../../support/hand-computed.js";

void t.test("a sample is unknown until the database has it", (t) => {
  const judged = judge(
    30,
    "eu",
    `okx rest:ticker, every 5s
     eu .*12 x*3@30 .*3`,
  );
  t.match(viewAt(judged, 70), { samples: 9, failed: 0 });
  t.match(viewAt(judged, 85), { samples: 9, failed: 0, badRun: 0 });
  // the failed sample of +60s arrived at +90s, and the good ones of +75s to +85s before it
  t.match(viewAt(judged, 90), { samples: 9, failed: 1, badRun: 0 });
  t.end();
});

void t.test("a typical latency applies from ten minutes after noon", (t) => {
  const judged = judge(
    200,
    "eu us",
    `okx rest:ticker, every 5s
     eu typical 2026-01-15T06:00:00Z 300ms
     eu typical 2026-01-15T12:00:00Z 301ms
     us typical 2026-01-15T06:00:00Z 300ms
     eu 900ms*200
     us 900ms*200`,
  );
  t.match(viewAt(judged, 595, "eu"), { slow: 12, state: "degraded" });
  t.match(viewAt(judged, 600, "eu"), { slow: 0, state: "operational" });
  t.match(viewAt(judged, 595, "us"), { slow: 12, state: "degraded" });
  t.match(viewAt(judged, 600, "us"), { slow: 0 }, "no typical latency exists for noon");
  t.end();
});

void t.test("a region's view follows from its recent samples", (t) => {
  const last = (slots: string, more = "") => {
    const judged = judge(40, "eu", `okx rest:ticker, every 5s\n${more}\neu ${slots}`);
    return (seconds: number) => viewAt(judged, seconds);
  };
  const none = { state: "unknown", reporting: false, samples: 0, badRun: 0 };
  t.match(last("_*40")(60), none, "nothing measured");
  t.match(last(". .")(60), { state: "unknown", reporting: true, samples: 1 });
  t.match(last(".*3")(10), { state: "operational", samples: 3 });
  t.match(last("x*2 .*8")(45), { state: "degraded" }, "two of ten");
  t.match(last("x*2 .*9")(50), { state: "operational" }, "two of eleven");
  t.match(last("x .*4")(20), { state: "operational" }, "one failed answer");
  t.match(last("x .*2 x")(15), { state: "outage", runFrom: after(15) });
  t.match(last(".*2 x*2")(15), { state: "outage", badRun: 2 }, "two of four");
  t.match(last("x*2 .*3")(20), { state: "degraded", badRun: 0 });
  // the newest is of +15s; a minute later it is too old, and so are all before it
  t.match(last(".*4")(70), { state: "unknown", reporting: true, samples: 1 });
  t.match(last(".*4")(75), { ...none });

  const typical = "eu typical 2026-01-15T06:00:00Z 100ms";
  t.match(last("599ms*4", typical)(15), { state: "operational", slow: 0 });
  t.match(last("600ms*4", typical)(15), { state: "degraded", slow: 4 });
  t.match(last("600ms*4")(15), { state: "operational", slow: 0 });
  t.match(last("2999ms*4")(15), { state: "operational", slow: 0 });
  t.match(last("3000ms*4")(15), { state: "degraded", slow: 4, confirms: true });
  t.match(last("3000ms*4", "eu typical 2026-01-15T06:00:00Z 2000ms")(15), { slow: 0 });
  t.match(last(". 600ms", typical)(5), { state: "unknown", slow: 1 });
  t.match(last(".*2 600ms*2", typical)(15), { state: "degraded", badRun: 2 });
  t.match(last(".*3 600ms*2", typical)(20), { state: "operational" });
  t.match(last(".*7 x 600ms x900ms", typical)(45), { state: "degraded", failed: 2, slow: 1, badRun: 3 });
  t.end();
});

void t.test("unserved slots count as bad", (t) => {
  const judged = (component: string, slots: string) => judge(40, "eu", `okx ${component}, every 5s\neu ${slots}`);

  const paused = judged("rest:ticker", ".*12 u*12 .*16");
  t.match(viewAt(paused, 70), { samples: 12, failed: 3, badRun: 3, newestBadAt: after(70), confirms: true });
  t.match(lives(paused), [{ started: 60, opened: 70, lastBad: 115 }]);

  const streamOfDeadSocket = judged("ws:trades", ".*12 u*12 .*16");
  t.match(viewAt(streamOfDeadSocket, 70), {
    samples: 12,
    failed: 3,
    state: "degraded",
    badRun: 0,
    newestBadAt: after(70),
    confirms: false,
  });
  t.match(viewAt(streamOfDeadSocket, 85), { failed: 6, state: "outage" });
  t.strictSame(lives(streamOfDeadSocket), [], "it is the socket's incident");
  t.match(lives(judged("ws:conn", ".*12 x*12 .*16")), [{ opened: 70 }]);

  const stalledBefore = judged("ws:trades", ".*12 x*2 u*3 x .*22");
  t.match(viewAt(stalledBefore, 80), { failed: 5, badRun: 2 });
  t.match(viewAt(stalledBefore, 85), { failed: 6, badRun: 3 });
  t.match(lives(stalledBefore), [{ started: 60, opened: 85 }]);
  t.end();
});

void t.test("an endpoint that fails in part is degraded", (t) => {
  // three windows at +60s: three of twelve, three of twelve, two of twelve
  const inPart = "x .*3 x .*3 x .*3 x .*3 x .*3 x .*3 x .*5 x .*5";
  const judged = judge(
    30,
    "eu",
    `okx rest:ticker, every 5s
     eu from -115s ${inPart} .*18`,
  );
  t.match(viewAt(judged, 10), { failsInPart: false }, "two in the first window");
  t.match(viewAt(judged, 15), { failsInPart: true, badRun: 0 });
  t.match(viewAt(judged, 60), {
    state: "degraded",
    samples: 12,
    failed: 2,
    badRun: 0,
    failsInPart: true,
    confirms: true,
  });
  // seven of thirty-six are less than a fifth
  t.match(viewAt(judged, 65), { state: "operational", failsInPart: false });
  t.match(lives(judged), [{ started: -115, opened: 15, lastBad: 35, closed: 125 }]);

  const spared = judge(
    30,
    "eu",
    `okx rest:ticker, every 5s
     eu from -115s x*2 .*10 .*12 x*2 . x*2 . x*2 .*4 .*12`,
  );
  t.match(viewAt(spared, 60), { failed: 6, failsInPart: false });
  t.strictSame(lives(spared), [], "the middle window has no failure");

  // nine of thirty; in the middle one of ten, or of eleven
  const hardly = (midst: string) =>
    judge(
      3,
      "eu",
      `okx rest:ticker, every 5s
       eu from -175s x .*2 x .*2 x .*2 x .*2 ${midst} x .*2 x .*2 x .*2 x .*4`,
    );
  const tenth = hardly(".*3 x .*6 _*2");
  t.match(viewAt(tenth, 0), { failed: 4, failsInPart: true });
  const less = hardly(".*3 x .*7 _");
  t.match(viewAt(less, 0), { failed: 4, failsInPart: false });

  const slow = judge(
    30,
    "eu",
    `okx rest:ticker, every 5s
     eu from -115s ${inPart.replaceAll("x", "3000ms")} .*18`,
  );
  t.match(viewAt(slow, 60), { slow: 2, failsInPart: false });

  const socketDown = judge(
    30,
    "eu",
    `okx ws:trades, every 5s
     eu from -175s x .*3 x .*3 x .*3 u*24 x .*5 x .*5`,
  );
  t.match(viewAt(socketDown, 60), { failed: 2, failsInPart: false });
  t.strictSame(lives(socketDown), []);
  t.end();
});

void t.test("windows and ages grow with the cadence", (t) => {
  const judged = judge(
    60,
    "eu us",
    `okx rest:ticker, every 60s
     eu from -300s x*3 .*3
     us from -300s .*5`,
  );
  t.match(viewAt(judged, 0), { samples: 6, failed: 3, state: "outage" });
  t.match(viewAt(judged, 60), { samples: 5, failed: 2, state: "degraded" });
  // the newest is of -60s, and is valid for two cadences
  t.match(viewAt(judged, 55, "us"), { reporting: true, state: "operational" });
  t.match(viewAt(judged, 60, "us"), { reporting: false, state: "unknown" });
  t.end();
});

void t.test("a region is bad since the first of an unbroken sequence", (t) => {
  const judged = judge(30, "eu", `okx rest:ticker, every 5s\neu .*8 x*2 .*14`);
  // two of ten are a fifth; two of eleven are not
  t.match(viewAt(judged, 45), { state: "degraded", badSince: after(45) });
  t.match(viewAt(judged, 50), { state: "operational", badSince: null });
  t.end();
});

void t.test("the quorum is a majority of the reporting regions", (t) => {
  const of = (slots: string[]) => {
    const regions = slots.map((_, i) => `r${i}`);
    const judged = judge(
      20,
      regions.join(" "),
      `okx rest:ticker, every 5s
       ${slots.map((one, i) => `r${i} ${one}`).join("\n")}`,
    );
    const { state, counted, quorum } = momentAt(judged, 20).components[0]!;
    return `${state} ${counted} ${quorum}`;
  };
  const good = ".*5";
  const degraded = "x*2 .*3";
  const outage = "x*5";
  t.equal(of(["_"]), "unknown 0 1");
  t.equal(of([outage]), "outage 1 1");
  t.equal(of([outage, good]), "operational 2 2");
  t.equal(of([outage, outage, good, good]), "operational 4 3");
  t.equal(of([outage, outage, degraded, good]), "degraded 4 3");
  t.equal(of([outage, degraded, good]), "degraded 3 2");
  t.equal(of([outage, outage, good]), "outage 3 2");
  t.equal(of([outage, "_"]), "unknown 1 2", "one region alone confirms nothing");
  t.equal(of([good, "_", "_"]), "unknown 1 2", "one region alone does not confirm that all is well");
  t.equal(of([outage, outage, "_"]), "outage 2 2", "a silent region is not counted");
  t.equal(of([good, ".", "."]), "unknown 3 2", "one region of two knows");
  t.equal(of([outage, degraded, ".", "."]), "unknown 4 3", "no region sees it well");
  t.end();
});

void t.test("a venue's state follows from its known components", (t) => {
  const of = (...slots: string[]) => {
    const components = slots.map((one, i) => `okx rest:${"abc"[i]}, every 5s\neu ${one}`);
    return momentAt(judge(20, "eu", components.join("\n")), 20).venues[0]!.state;
  };
  t.equal(of("x*5", ".*5"), "outage", "half");
  t.equal(of("x*5", ".*5", "_"), "outage", "half of the known components");
  t.equal(of("x*5", ".*5", ".*5"), "degraded");
  t.equal(of("x*2 .*3", ".*5"), "degraded");
  t.equal(of("_", "_"), "unknown");
  t.end();
});
