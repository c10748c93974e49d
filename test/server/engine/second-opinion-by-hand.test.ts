/** The second opinion itself, on worlds small enough to compute by hand from the rule book. */
import t from "tap";
import { secondOpinion } from "../../support/second-opinion.js";
import type { Rules } from "../../second-opinion/world.js";
import { worldOf } from "../../support/world-text.js";

const rules: Rules = {
  step_ms: 5_000,
  catch_up_ms: 86_400_000,
  window_ms: 60_000,
  window_cadences: 6,
  vote_max_age_ms: 60_000,
  vote_max_age_cadences: 2,
  min_samples: 3,
  slow_multiple: 3,
  slow_floor_ms: 500,
  slow_untypical_ms: 3_000,
  outage_bad_share: 0.5,
  degraded_bad_share: 0.2,
  degraded_min_failed: 2,
  partial_windows: 3,
  impaired_within_ms: 120_000,
  impaired_min_venues: 4,
  impaired_venue_share: 0.5,
  outlier_after_ms: 600_000,
  quorum_min_regions: 2,
  opening_bad_run: 3,
  recovery_hold_ms: 60_000,
  flap_openings: 3,
  flap_within_ms: 3_600_000,
  flap_hold_ms: 600_000,
  unmeasured_close_ms: 86_400_000,
  retraction_every_ms: 60_000,
  late_sample_ms: 15_000,
  retraction_ms: 600_000,
};

const noon = Date.parse("2026-01-15T12:00:00Z");
const after = (seconds: number) => noon + seconds * 1000;

/** From noon, every five seconds. */
function judge(instants: number, regions: string, text: string) {
  const head = `from 2026-01-15T12:00:00Z, ${instants} instants every 5s`;
  return secondOpinion(worldOf(`${head}\nregions ${regions}\n${text}`, rules));
}

type Judged = ReturnType<typeof judge>;

function momentAt({ moments }: Judged, seconds: number) {
  const moment = moments.find(({ at }) => at === after(seconds));
  if (!moment) throw new Error(`expected an instant at +${seconds}s`);
  return moment;
}

function viewAt(judged: Judged, seconds: number, region = "eu") {
  return momentAt(judged, seconds).views.find((v) => v.region === region)!;
}

function statesOf(judged: Judged, what: "components" | "venues") {
  const changes: string[] = [];
  for (const moment of judged.moments)
    for (const one of moment[what])
      if (one.since === moment.at) changes.push(`+${(moment.at - noon) / 1000}s ${one.state}`);
  return changes;
}

/** The course of incidents, in seconds since noon. */
function lives(judged: Judged) {
  const s = (at: number | null) => (at === null ? null : (at - noon) / 1000);
  return judged.incidents.map((one) => ({
    slug: one.slug,
    started: s(one.startedAt),
    opened: s(one.openedAt),
    escalated: s(one.escalatedAt),
    lastBad: s(one.lastBadAt),
    closed: s(one.closedAt),
    closedFor: one.closedFor,
    retracted: s(one.retractedAt),
    flapping: one.flapping,
    witnesses: one.witnesses.join(" "),
  }));
}

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
  t.match(last("3000ms*4", "eu typical 2026-01-15T06:00:00Z 2000ms")(15), {
    slow: 0,
  });
  t.match(last(". 600ms", typical)(5), { state: "unknown", slow: 1 });
  t.match(last(".*2 600ms*2", typical)(15), { state: "degraded", badRun: 2 });
  t.match(last(".*3 600ms*2", typical)(20), { state: "operational" });
  t.match(last(".*7 x 600ms x900ms", typical)(45), {
    state: "degraded",
    failed: 2,
    slow: 1,
    badRun: 3,
  });
  t.end();
});

void t.test("unserved slots count as bad", (t) => {
  const judged = (component: string, slots: string) => judge(40, "eu", `okx ${component}, every 5s\neu ${slots}`);

  const paused = judged("rest:ticker", ".*12 u*12 .*16");
  t.match(viewAt(paused, 70), {
    samples: 12,
    failed: 3,
    badRun: 3,
    newestBadAt: after(70),
    confirms: true,
  });
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

void t.test("a region is impaired once it is bad on most of four venues", (t) => {
  const four = (eu: string[]) =>
    eu
      .map(
        (slots, i) => `v${i} rest:ticker, every 5s
                       eu ${slots}
                       us .*60`,
      )
      .join("\n");
  const bad = ".*12 x*20 .*28";
  const later = ".*13 x*20 .*27";
  const good = ".*60";

  const impaired = judge(60, "eu us", four([bad, later, later, good]));
  t.match(momentAt(impaired, 70).impaired, [], "one of four, so far");
  // three of twelve are bad at +70s, of the others at +75s
  t.strictSame(
    momentAt(impaired, 75).impaired.map((one) => ({ ...one })),
    [
      {
        region: "eu",
        group: ["eu"],
        // the first of these three, which was recognised at +70s
        startedAt: after(60),
        recognisedAt: after(75),
        endedAt: null,
        seenElsewhere: false,
        venues: ["v0", "v1", "v2"],
      },
    ],
  );
  t.match(momentAt(impaired, 70).components[0], { counted: 2, quorum: 2 });
  t.match(
    momentAt(impaired, 75).components[0],
    { counted: 1, quorum: 2, state: "unknown" },
    "one region alone confirms nothing",
  );
  // Its own trouble is no failure in part, so less than a fifth is enough: v0 has two bad samples of twelve left at
  // +205s, the others at +210s.
  t.equal(impaired.impairments[0]!.endedAt, after(210));
  t.strictSame(impaired.incidents, []);

  const half = judge(60, "eu us", four([bad, bad, good, good]));
  t.strictSame(half.impairments, [], "half is not most");
  const three = judge(60, "eu us", four([bad, bad, bad]));
  t.strictSame(three.impairments, [], "three venues are too few");
  const elsewhere = judge(60, "eu us", four([bad, bad, bad, good]).replaceAll("us .*60", "us .*12 x*20 .*28"));
  t.strictSame(elsewhere.impairments, [], "the venues are bad, not a region");
  const alone = judge(60, "eu", four([bad, bad, bad, good]).replace(/us .*/g, ""));
  t.equal(alone.impairments.length, 1, "no other region exists");
  t.match(momentAt(alone, 70).components[0], { counted: 0, quorum: 1, state: "unknown" }, "no region has a vote then");
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
    {
      started: 60,
      opened: 70,
      lastBad: 85,
      closed: 745,
      closedFor: "held",
      witnesses: "eu us",
    },
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

/** One endpoint of each venue, with these slots in these regions. */
function endpoints(venues: Record<string, string>[]) {
  return venues
    .map((of, i) =>
      [`v${i} rest:ticker, every 5s`, ...Object.entries(of).map(([region, slots]) => `${region} ${slots}`)].join("\n"),
    )
    .join("\n");
}

void t.test("a machine that probes two regions is impaired as one vantage", (t) => {
  const bad = ".*12 x*12 .*36";
  const good = ".*60";
  const cut = endpoints([
    { eu: bad, us: bad, ap: good },
    { eu: bad, us: bad, ap: good },
    { eu: bad, us: bad, ap: "_" },
    { eu: good, us: good, ap: good },
  ]);
  const oneMachine = "eu runs on m1 from -60s\nus runs on m1 from -60s";
  const judged = judge(60, "eu us ap", `${oneMachine}\n${cut}`);
  t.match(
    judged.impairments,
    ["eu", "us"].map((region) => ({
      region,
      group: ["eu", "us"],
      startedAt: after(60),
      recognisedAt: after(70),
      venues: ["v0", "v1", "v2"],
    })),
  );
  t.strictSame(lives(judged), []);
  t.match(momentAt(judged, 70).components[0], { counted: 1, state: "unknown" });
  // two of twelve are bad at +165s
  t.equal(judged.impairments[0]!.endedAt, after(165));
  t.equal(judged.impairments[1]!.endedAt, after(165));

  const opens = (vantages: string, world = cut) => judge(60, "eu us ap", `${vantages}\n${world}`).incidents.length;
  t.equal(opens(""), 3, "two vantages agree");
  t.equal(opens("eu runs on m1 from -60s\nus runs on m1 from 71s"), 3);
  t.equal(opens("eu runs on m1 from -60s\nus runs on m1 from 70s"), 0);
  t.equal(opens(`${oneMachine}\nus runs on m2 from 70s`), 3);
  t.equal(opens(`${oneMachine}\nus runs on several from 70s`), 3);
  t.equal(opens("eu runs on several from -60s\nus runs on several from -60s"), 3);
  const elsewhere = cut.replaceAll(`ap ${good}`, `ap ${bad}`);
  t.equal(
    opens(oneMachine, elsewhere),
    3,
    "two venues are bad elsewhere too, so the machine is not at fault for the third",
  );

  const allOnOne = `${oneMachine}\nap runs on m1 from -60s`;
  t.equal(opens(allOnOne), 3, "one of the machine's regions sees it well");
  t.equal(opens(allOnOne, elsewhere), 0, "all regions are one vantage");
  t.end();
});

/** On three venues eu loses its network from +60s to +155s; this is recognised at +70s and ends at +205s. */
const eusNetwork = endpoints(["", "", ""].map(() => ({ eu: ".*12 x*20 .*28", us: ".*60" })));

void t.test("samples of a region's own trouble are excluded", (t) => {
  const judged = (slots: string, phaseMs: number) =>
    judge(
      60,
      "eu us",
      `${eusNetwork}
       v3 rest:ticker, every 30s at ${phaseMs}ms
       eu from -180s ${slots}
       us from -180s .*16`,
    );
  const v3At = (judged: Judged, seconds: number) =>
    momentAt(judged, seconds).views.find(({ venue, region }) => venue === "v3" && region === "eu");
  const stateAt = (judged: Judged, seconds: number) =>
    momentAt(judged, seconds).components.find(({ venue }) => venue === "v3");

  const within = judged(".*8 x*5 .*3", 0);
  t.match(within.impairments, [
    {
      startedAt: after(60),
      recognisedAt: after(70),
      endedAt: after(205),
      seenElsewhere: false,
      venues: ["v0", "v1", "v2"],
    },
  ]);
  t.match(v3At(within, 200), { samples: 6, failed: 5, state: "outage" });
  t.match(v3At(within, 205), { samples: 6, failed: 5, state: "outage" });
  t.match(stateAt(within, 205), { counted: 1, state: "unknown" }, "no vote when the impairment ends");
  // the bad ones of +60s to +180s were its network's; +210s has a good one
  t.match(v3At(within, 210), { samples: 1, failed: 0, badRun: 0 });
  t.match(stateAt(within, 210), { counted: 2 });

  const over = judged(".*8 . x*3 .*4", 0);
  t.match(v3At(over, 205), { samples: 6, failed: 3, state: "outage" });
  t.match(v3At(over, 210), { samples: 3, failed: 0, state: "operational" });

  // of +55s to +205s: the first precedes the impairment, and the last follows its end
  const around = judged(".*7 x*6 .*3", 25_000);
  t.match(v3At(around, 205), { samples: 6, failed: 6, badRun: 6 });
  t.match(v3At(around, 210), {
    samples: 2,
    failed: 2,
    badRun: 2,
    runFrom: after(55),
    newestBadAt: after(205),
  });
  t.strictSame(around.incidents, []);
  t.end();
});

void t.test("samples count again if other regions see the same", (t) => {
  const judged = judge(
    60,
    "eu us",
    endpoints([
      ...["", "", ""].map(() => ({
        eu: ".*12 x*20 .*28",
        // both regions recover at the same instant: otherwise the last one would look bad alone
        us: ".*17 x*15 .*28",
      })),
      { eu: ".*60", us: ".*60" },
    ]),
  );
  // us has three of twelve at +95s
  t.match(judged.impairments, [
    {
      region: "eu",
      startedAt: after(60),
      endedAt: after(95),
      seenElsewhere: true,
    },
  ]);
  t.match(momentAt(judged, 90).components[0], { counted: 1, state: "unknown" });
  t.match(momentAt(judged, 95).components[0], { counted: 2, state: "degraded" }, "the region votes at once");
  t.match(viewAt(judged, 100), { failed: 9 }, "no sample is excluded");
  const once = { started: 85, opened: 95, retracted: null };
  t.match(lives(judged), [once, once, once]);
  t.end();
});

void t.test("an impairment starts with the first bad venue", (t) => {
  const startOf = (first: string) =>
    judge(
      60,
      "eu us",
      endpoints([
        { eu: first, us: ".*60" },
        { eu: ".*16 x*20 .*24", us: ".*60" },
        { eu: ".*16 x*20 .*24", us: ".*60" },
        { eu: ".*60", us: ".*60" },
      ]),
    ).impairments.map(({ startedAt, recognisedAt }) => [(startedAt - noon) / 1000, (recognisedAt - noon) / 1000]);
  t.strictSame(startOf(".*16 x*20 .*24"), [[80, 90]], "from the run's start");
  t.strictSame(startOf(".*12 x*3 . x*19 .*25"), [[70, 90]], "bad since +70s, and the present run began at +80s");
  t.strictSame(startOf(".*12 x*2 . x*19 .*26"), [[75, 90]], "bad since +75s");
  t.end();
});

void t.test("a region that alone is bad for long is an outlier", (t) => {
  const rules = "rules outlier_after_ms=120000 impaired_within_ms=60000";
  const judged = (regions: string, slots: string[], instants = 100) =>
    judge(
      instants,
      regions,
      `${rules}
       okx rest:ticker, every 5s
       ${slots.map((one, i) => `${regions.split(" ")[i]} ${one}`).join("\n")}`,
    );
  const outliersOf = ({ outliers }: Judged) =>
    outliers.map(({ region, startedAt, endedAt }) =>
      [region, `from +${(startedAt - noon) / 1000}s`, endedAt === null ? "on" : `to +${(endedAt - noon) / 1000}s`].join(
        " ",
      ),
    );
  const three = (eu: string, us: string) => judged("eu us ap", [eu, us, ".*100"]);

  // eu is bad since +10s; us has a bad moment: three of twelve from +160s
  const moment = three("x*100", ".*30 x*4 .*66");
  t.strictSame(outliersOf(moment), ["eu from +130s on"]);
  t.match(momentAt(moment, 125).components[0], { counted: 3, quorum: 2 });
  t.match(momentAt(moment, 130).components[0], { counted: 2, quorum: 2 });
  t.match(momentAt(moment, 160).components[0], { state: "operational" });
  t.strictSame(lives(moment), []);

  // and at +280s us has been bad for two minutes, too: two of three are lasting
  const joined = three("x*100", ".*30 x*70");
  t.strictSame(outliersOf(joined), ["eu from +130s to +280s"]);
  t.match(momentAt(joined, 275).components[0], { state: "operational" });
  t.match(momentAt(joined, 280).components[0], { state: "outage", counted: 3 });
  t.match(lives(joined), [{ started: 150, opened: 280, witnesses: "eu us" }]);

  // two of twelve are left at +245s, and it still fails in part; then one
  const well = three("x*40 .*60", ".*100");
  t.strictSame(outliersOf(well), ["eu from +130s to +250s"]);
  const silent = three("x*40 _*30 x*30", ".*100");
  t.strictSame(outliersOf(silent), ["eu from +130s on"], "silence does not end an outlier");
  t.match(momentAt(silent, 400).components[0], { counted: 2 });
  t.strictSame(outliersOf(three("x*40 _*30 .*2", ".*100")), ["eu from +130s on"], "two good answers make no state");

  /*
   * us makes a quorum with eu from +110s, and they open. It is well at +195s, the incident closes at +255s, and is
   * over before the next instant. Before that the component is bad, then it has an incident.
   */
  const agreed = three("x*100", ".*20 x*10 .*70");
  t.match(lives(agreed), [{ opened: 110, closed: 255 }]);
  t.strictSame(outliersOf(agreed), ["eu from +260s on"]);

  t.strictSame(
    outliersOf(judged("eu us ap", ["x*100", "x*100", ".*100"])),
    [],
    "lasting trouble of a quorum makes no outlier",
  );
  const twoOfFour = judged("eu us ap sa", ["x*100", "x*100", ".*100", ".*100"]);
  t.strictSame(outliersOf(twoOfFour), ["eu from +130s on", "us from +130s on"]);
  t.match(momentAt(twoOfFour, 130).components[0], { counted: 2, quorum: 2 });

  // one of two regions is left, and the outlier gives the second state until only two of its samples are left
  const ofTwo = judged("eu us", ["x*40", ".*100"]);
  t.match(momentAt(ofTwo, 130).components[0], { counted: 1, quorum: 2 });
  t.strictSame(statesOf(ofTwo, "components"), ["+0s unknown", "+10s operational", "+245s unknown"]);
  t.strictSame(
    statesOf(judged("eu us", ["x*60", ".*40"]), "components").slice(0, 3),
    // us has two samples left
    ["+0s unknown", "+10s operational", "+245s unknown"],
    "no region sees it well",
  );
  t.end();
});

void t.test("a region's own network makes no outlier", (t) => {
  const judged = judge(
    60,
    "eu us",
    `rules outlier_after_ms=60000
     ${eusNetwork}
     v3 rest:ticker, every 5s
     eu .*60
     us .*60`,
  );
  // bad since +70s, when it became impaired; well at +205s, when that is over
  t.equal(judged.impairments.length, 1);
  t.strictSame(judged.outliers, []);
  t.end();
});

void t.test("a region is impaired alone or with its machine", (t) => {
  const bad = ".*12 x*12 .*36";
  const impaired = (fourth: Record<string, string>) =>
    judge(
      60,
      "eu us",
      `eu runs on m1 from -60s
       us runs on m1 from -60s
       ${endpoints([{ eu: bad }, { eu: bad }, { eu: bad }, fourth])}`,
    ).impairments.map(({ region, group, recognisedAt }) =>
      [region, "with", ...group, `+${(recognisedAt - noon) / 1000}s`].join(" "),
    );
  // each alone measures fewer than four venues; us, which sees none of these venues bad, is not impaired with its
  // machine
  t.strictSame(impaired({ us: ".*60" }), ["eu with eu us +70s"]);
  t.strictSame(impaired({ eu: ".*60" }), ["eu with eu +70s"]);
  t.end();
});

void t.test("suspect trouble opens no incident until it has lasted", (t) => {
  const bad = ".*12 x*48";
  const good = ".*60";
  // one endpoint of three: no venue is bad
  const turning = (ticker: string[], ap = "") =>
    ticker
      .map((slots, i) =>
        ["ticker", "book", "trades"]
          .map(
            (name) => `v${i} rest:${name}, every 5s
                       eu ${name === "ticker" ? slots : good}
                       us ${name === "ticker" ? slots : good}
                       ${ap}`,
          )
          .join("\n"),
      )
      .join("\n");
  const oneMachine = "eu runs on m1 from -60s\nus runs on m1 from -60s";
  const opened = (world: string) =>
    judge(60, "eu us ap", `${oneMachine}\n${world}`).incidents.map(
      ({ venue, startedAt, openedAt }) => `${venue} +${(openedAt - noon) / 1000}s, from +${(startedAt - noon) / 1000}s`,
    );

  // bad since +70s, which is less than two minutes ago until +190s
  t.strictSame(opened(turning([bad, bad, bad, good])), [
    "v0 +190s, from +60s",
    "v1 +190s, from +60s",
    "v2 +190s, from +60s",
  ]);
  t.strictSame(
    opened(turning([bad, bad, good, good])),
    ["v0 +70s, from +60s", "v1 +70s, from +60s"],
    "half is not most",
  );
  t.equal(opened(turning([bad, bad, bad])).length, 3, "too few venues for suspicion");
  t.match(opened(turning([bad, bad, bad]))[0], /\+70s/);
  t.match(
    opened(turning([bad, bad, bad, good], `ap ${good}`))[0],
    /\+190s/,
    "a region elsewhere sees it well: the machine's two regions are no quorum before",
  );
  t.match(
    opened(turning([bad, bad, bad, good], `ap ${bad}`))[0],
    /\+70s/,
    "a region elsewhere sees trouble at the same venues",
  );
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
    {
      slug: "okx-2026-01-15-rest-degraded",
      opened: 70,
      lastBad: 70,
      closed: 180,
      flapping: false,
    },
    {
      slug: "okx-2026-01-15-rest-degraded-2",
      opened: 235,
      closed: 345,
      flapping: false,
    },
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
    {
      started: 20,
      opened: 30,
      escalated: 45,
      retracted: 120,
      closed: null,
      witnesses: "eu ap",
    },
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
