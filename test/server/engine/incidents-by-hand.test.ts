/** What the second opinion says of incidents, on worlds small enough to compute by hand. */
import t from "tap";
import { after, judge, lives, noon, statesOf, viewAt } from "../../support/hand-computed.js";

void t.test("an incident opens, escalates and closes", (t) => {
  const judged = judge(
    80,
    "eu us ap",
    `okx rest:ticker, every 5s
     eu .*12 x*24 .*44
     us .*16 x*18 .*46
     ap .*80`,
  );
  t.strictSame(statesOf(judged, "components"), [
    "+0s unknown",
    "+10s operational",
    // three of twelve: us follows eu by 20 s
    "+90s degraded",
    "+105s outage",
    // us has seven good of twelve; then less than a tenth of its last minute failed
    "+200s degraded",
    "+220s operational",
  ]);
  t.strictSame(lives(judged), [
    {
      slug: "okx-2026-01-15-rest-degraded",
      started: 80,
      opened: 90,
      escalated: 105,
      // eu continues for two more slots
      lastBad: 165,
      closed: 280,
      closedFor: "witnessed",
      retracted: null,
      flapping: false,
      witnesses: "eu us",
    },
  ]);
  t.strictSame(
    judged.alerts.map(({ kind, at }) => `${kind} +${(at - noon) / 1000}s`),
    ["opened +90s", "escalated +105s", "closed +280s"],
  );
  t.end();
});

void t.test("a long run of one region does not date an incident back", (t) => {
  const judged = judge(
    20,
    "eu us",
    `okx rest:ticker, every 5s
     eu from -3600s x*740
     us from -60s .*15 x*10`,
  );
  t.match(lives(judged), [{ started: 15, opened: 25, witnesses: "eu us" }]);
  t.end();
});

void t.test("a run does not reach back over a silence", (t) => {
  const began = (component: string, slots: string) => {
    const judged = judge(30, "eu", `okx ${component}, every 5s\neu ${slots}`);
    return lives(judged).map(({ started, opened }) => ({ started, opened }));
  };
  // the second is of +5s, and the third a minute later; or five seconds more
  t.strictSame(began("rest:ticker", "x*2 _*11 x*3"), [{ started: 0, opened: 75 }]);
  t.strictSame(began("rest:ticker", "x*2 _*12 x*3"), [{ started: 70, opened: 80 }]);
  t.strictSame(began("rest:ticker", "x*2 u*12 x*3"), [{ started: 0, opened: 10 }]);
  t.strictSame(
    began("ws:trades", "x*2 u*12 x*3"),
    [{ started: 70, opened: 80 }],
    "an excluded slot counts as not measured",
  );
  t.end();
});

void t.test("an incident closes although the remaining region is blocked for good", (t) => {
  const judged = judge(
    100,
    "eu us ap",
    `okx rest:ticker, every 5s
     eu from -600s .*140 _*40 .*40
     us from -600s x*220
     ap from -600s .*145 _*30 .*45`,
  );
  t.strictSame(statesOf(judged, "components"), [
    "+0s operational",
    // eu has no vote any more, and ap has two samples left
    "+170s unknown",
    // ap has three again
    "+285s operational",
  ]);
  t.strictSame(lives(judged), []);
  t.end();
});

void t.test("an end that no witness can see takes the longer hold", (t) => {
  const judged = judge(
    151,
    "eu us ap sa",
    `okx rest:ticker, every 5s
     eu .*12 x*6
     us .*12 x*6
     ap _*18 .*133
     sa _*18 .*133`,
  );
  t.strictSame(statesOf(judged, "components"), [
    "+0s unknown",
    "+10s operational",
    "+70s degraded",
    "+85s outage",
    // two more report, and know nothing yet
    "+90s unknown",
    "+100s operational",
    // those that saw it bad have two samples left, and no vote
    "+135s unknown",
    "+145s operational",
  ]);
  t.match(lives(judged), [
    { started: 60, opened: 70, lastBad: 85, closed: 745, closedFor: "held", witnesses: "eu us" },
  ]);
  t.end();
});

void t.test("silence closes no incident until it has lasted", (t) => {
  const of = (rules: string) =>
    judge(
      40,
      "eu",
      `${rules}
       okx rest:ticker, every 5s
       eu .*12 x*4`,
    );
  // at +125s two samples are left
  const lasting = of("rules unmeasured_close_ms=60000");
  t.match(statesOf(lasting, "components").at(-1), "+125s unknown");
  t.match(lives(lasting), [{ opened: 70, lastBad: 75, closed: 185, closedFor: "unmeasured" }]);
  // when the good samples have left the window, most of the rest failed
  t.match(lasting.alerts.at(-1), { kind: "closed", severity: "outage" });
  t.match(lives(of("")), [{ opened: 70, lastBad: 75, closed: null }]);

  const inTurns = judge(
    40,
    "eu",
    `rules unmeasured_close_ms=60000
     okx rest:ticker, every 5s
     eu .*12 x*4 _*5 .*4`,
  );
  // one failed of five is left at +130s, and two good ones at +170s
  t.strictSame(statesOf(inTurns, "components").slice(-2), ["+130s operational", "+170s unknown"]);
  t.match(lives(inTurns), [{ closed: 190, closedFor: "unmeasured" }]);
  t.end();
});

void t.test("an incident's last bad sample is the newest that a quorum shares", (t) => {
  const judged = judge(
    40,
    "eu us",
    `okx rest:ticker, every 5s
     eu .*12 x*3
     us .*16 x*3 .*21`,
  );
  // eu has been silent since +70s, and has a vote until +130s
  t.match(lives(judged), [{ started: 80, opened: 90, lastBad: 80 }], "not before the start");
  t.end();
});

void t.test("the third opening within an hour is flapping", (t) => {
  const judged = judge(
    300,
    "eu",
    `okx rest:ticker, every 5s
     eu .*12 x*3 .*30 x*3 .*30 x*3 .*30 x*3 .*186`,
  );
  // three of twelve last until the window has moved on: bad for 10 s + 45 s, then the hold
  t.match(lives(judged), [
    { slug: "okx-2026-01-15-rest-degraded", opened: 70, lastBad: 70, closed: 180, flapping: false },
    { slug: "okx-2026-01-15-rest-degraded-2", opened: 235, closed: 345, flapping: false },
    {
      slug: "okx-2026-01-15-rest-degraded-3",
      opened: 400,
      // the fourth opening
      lastBad: 565,
      closed: 1215,
      flapping: true,
    },
  ]);
  t.end();
});

void t.test("incidents of one instant are named in order", (t) => {
  const judged = judge(
    20,
    "eu",
    `okx rest:ticker, every 5s
     eu from -60s .*13 x*3 .*9
     okx rest:book, every 5s
     eu from -60s .*12 x*4 .*9
     okx rest:trades, every 5s
     eu from -60s .*13 x*3 .*9`,
  );
  t.strictSame(
    judged.incidents.map(({ slug, component }) => `${component} ${slug}`),
    // the book opens a slot earlier
    [
      "rest:book okx-2026-01-15-rest-degraded",
      "rest:ticker okx-2026-01-15-rest-degraded-2",
      "rest:trades okx-2026-01-15-rest-degraded-3",
    ],
  );
  t.end();
});

void t.test("late samples retract an incident that they contradict", (t) => {
  const held = ".*3 .*30@100 .*27";
  const judged = judge(
    60,
    "eu ap us sa",
    `okx rest:ticker, every 5s
     eu from -60s .*16 x*20 .*24
     ap from -60s .*16 x*20 .*24
     us from -60s ${held}
     sa from -60s ${held}`,
  );
  // when eu and ap turn bad, the others have been silent; by +120s their good samples up to +20s have arrived
  t.match(lives(judged), [
    { started: 20, opened: 30, escalated: 45, retracted: 120, closed: null, witnesses: "eu ap" },
  ]);
  t.match(judged.alerts, [
    { kind: "opened", dropped: true },
    { kind: "escalated", dropped: true },
  ]);
  t.end();
});

void t.test("late samples retract an incident that was no failure in part", (t) => {
  const inPart = "x .*3 x .*3 x .*3";
  const judged = (midst: string) =>
    judge(
      20,
      "eu",
      `okx rest:ticker, every 5s
       eu from -175s ${inPart} ${midst} ${inPart} .*19`,
    );
  // seven of twenty-seven
  const few = judged("x .*2 _*9");
  t.match(viewAt(few, 0), { badRun: 0, failsInPart: true });
  t.match(lives(few), [{ started: -175, opened: 0, retracted: null }]);
  // and then seven of thirty-six
  t.match(lives(judged("x .*2 .*9@115")), [{ opened: 0, retracted: 60 }]);
  t.end();
});

void t.test("an impairment in hindsight retracts the incident that it explains", (t) => {
  // eu and ap are one machine; they open an incident of v0 before their other venues turn bad
  const both = (slots: string) => `eu from -60s ${slots}\nap from -60s ${slots}`;
  const judged = judge(
    40,
    "eu ap us",
    `eu runs on m1 from -60s
     ap runs on m1 from -60s
     v0 rest:ticker, every 5s
     ${both(".*13 x*20")}
     v1 rest:ticker, every 5s
     ${both(".*14 x*20")}
     us from -60s .*40
     v2 rest:ticker, every 5s
     ${both(".*16 x*20")}
     us from -60s .*40
     v3 rest:ticker, every 5s
     ${both(".*40")}
     us from -60s .*40`,
  );
  // three of twelve are bad on v0 at +15s, on v1 at +20s, on v2 at +30s
  t.match(
    judged.impairments,
    ["eu", "ap"].map((region) => ({
      region,
      startedAt: after(5),
      recognisedAt: after(30),
      venues: ["v0", "v1", "v2"],
    })),
  );
  t.match(lives(judged), [
    // at +120s us may still see the same
    { started: 5, opened: 15, retracted: 180 },
  ]);
  t.end();
});

void t.test("an incident that an operator retracted opens again when it gets worse", (t) => {
  const judged = judge(
    24,
    "eu",
    `okx rest:ticker, every 5s
     operator retracts at 80s
     eu .*12 x*12`,
  );
  // three of twelve at +70s, six at +85s
  t.match(lives(judged), [
    { slug: "okx-2026-01-15-rest-degraded", opened: 70, retracted: 80 },
    { slug: "okx-2026-01-15-rest-outage", opened: 85, started: 60 },
  ]);
  t.end();
});
