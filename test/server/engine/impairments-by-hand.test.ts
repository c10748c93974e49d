/** What the second opinion says of impaired regions and outliers, on worlds small enough to compute by hand. */
import t from "tap";
import {
  after,
  endpoints,
  judge,
  type JudgedByHand,
  lives,
  momentAt,
  noon,
  statesOf,
  viewAt,
} from "../../support/hand-computed.js";

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
  const v3At = (judged: JudgedByHand, seconds: number) =>
    momentAt(judged, seconds).views.find(({ venue, region }) => venue === "v3" && region === "eu");
  const stateAt = (judged: JudgedByHand, seconds: number) =>
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
  t.match(v3At(around, 210), { samples: 2, failed: 2, badRun: 2, runFrom: after(55), newestBadAt: after(205) });
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
  t.match(judged.impairments, [{ region: "eu", startedAt: after(60), endedAt: after(95), seenElsewhere: true }]);
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
  const outliersOf = ({ outliers }: JudgedByHand) =>
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
