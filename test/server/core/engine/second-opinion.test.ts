/**
 * The engine and the second opinion on components of hundreds of random worlds at a time, and on worlds that once
 * revealed a bug.
 */
import t from "tap";
import { agree } from "../../../support/agreement.js";
import { migratedDatabase } from "../../../support/database.js";
import { randomRuns, rulesOfTheBook } from "../../../support/random-runs.js";
import { componentWorlds } from "../../../support/random-worlds.js";
import { worldOf } from "../../../support/world-text.js";

void t.test("the engine and the second opinion agree", async (t) => {
  const { pool } = await migratedDatabase(t);

  await t.test("on random components", async (t) => {
    const make = (seed: number) => componentWorlds(seed, 120, rulesOfTheBook);
    for (const run of randomRuns(make, 1)) await agree(t, pool, run);
  });

  await t.test("on worlds in which they once differed, or might", async (t) => {
    for (const [what, text] of Object.entries(worlds))
      await t.test(what, (t) => agree(t, pool, { seed: 0, worlds: [worldFrom(text)] }));
    for (const [what, { comesBy, text }] of Object.entries(worldsWithPauses)) {
      const world = worldFrom(text);
      const instants = comesBy.map((second) => world.instants[0]! + second * 1000);
      await t.test(what, (t) => agree(t, pool, { seed: 0, worlds: [world] }, { comesBy: instants }));
    }
  });
});

function worldFrom(text: string) {
  return worldOf(`from 2026-03-10T09:00:00Z, ${text}`, rulesOfTheBook);
}

/** One endpoint of each venue, with these slots in these regions. */
function endpoints(venues: Record<string, string>[], name = "ticker"): string {
  return venues
    .map((of, i) => [`v${i} rest:${name}, every 5s`, ...Object.entries(of).map((line) => line.join(" "))].join("\n"))
    .join("\n");
}

const turningBad = [".*12 x*28", ".*12 x*28", ".*12 x*28", ".*40"].map((slots) => ({ eu: slots, us: slots }));
const allGood = turningBad.map(() => ({ eu: ".*40", us: ".*40" }));

/** Worlds in which the two once differed, and cases that random worlds hardly ever reach. */
const worlds: Record<string, string> = {
  "samples count again when an impairment ends because others see the same": `60 instants every 5s
      regions eu us ap
      ${endpoints([
        { eu: ".*60", us: ".*24 x*36", ap: ".*28 x*32" },
        ...["v1", "v2"].map(() => ({ eu: ".*60", us: ".*24 x*36", ap: ".*60" })),
        ...["v3", "v4"].map(() => ({ eu: ".*34 x*26", us: ".*24 x*3 .*33", ap: ".*60" })),
        ...["v5", "v6", "v7"].map(() => ({ eu: ".*28 x*32", us: ".*60", ap: ".*60" })),
      ])}`,
  "a witness that fell silent before a pause has seen nothing": `80 instants every 5s
      rules catch_up_ms=5000 quorum_min_regions=1
      away from 100s to 160s
      regions eu us
      okx rest:ticker, every 5s
      eu .*12 x*6
      us from 130s .*60`,
  "a latency less than a microsecond below the limit is not slow": `20 instants every 5s
      rules slow_multiple=2.1 slow_floor_ms=0
      regions eu
      okx rest:ticker, every 5s
      eu typical 2026-03-10T06:00:00Z 100.001ms
      eu 210.002ms*20`,
  "incidents of one instant are named in the order of their components' names": `20 instants every 5s
      regions eu
      okx rest:ticker, every 5s
      eu .*5 x*15
      okx rest:book, every 5s
      eu .*5 x*15`,
  "an opening just too long ago for flapping": `50 instants every 5s
      rules window_ms=20000 recovery_hold_ms=10000 flap_openings=2 flap_within_ms=120000
      regions eu
      okx rest:ticker, every 5s
      eu .*12 x*3 .*21 x*3 .*11`,
  "an opening just too long ago to be judged again": `40 instants every 5s
      rules retraction_every_ms=20000 retraction_ms=60000 quorum_min_regions=1
      regions eu us
      okx rest:ticker, every 5s
      eu .*14 x*26
      us _*13 .@65 .@60 .@55`,
  "a run longer than seven days": `10 instants every 5s
      regions eu
      okx rest:ticker, every 1800s
      eu from -606600s . x*337`,
  "a run that is too short, and began before those that count": `20 instants every 5s
      regions eu us ap
      okx rest:ticker, every 5s
      eu .*12 x*4 .*4
      us .*13 x*3 .*4
      ap .*8 x _*6 x .*4`,
  "an end seen by the one region that saw only the escalation": `60 instants every 5s
      rules quorum_min_regions=1
      regions eu ap
      okx rest:ticker, every 5s
      eu .*12 x*8
      ap _*16 x*6 .*38`,
  "an end seen by an impaired region only": `60 instants every 5s
      rules window_ms=20000 window_cadences=4 recovery_hold_ms=10000 quorum_min_regions=1 retraction_every_ms=600000
      regions eu us
      ${endpoints([
        { eu: ".*12 x*4 .*44", us: "_*20 .*40" },
        ...["v1", "v2", "v3"].map(() => ({ eu: ".*17 x*20 .*23", us: ".*60" })),
      ])}`,
  "the only remaining region is blocked for good": `100 instants every 5s
      regions eu us ap
      okx rest:ticker, every 5s
      eu from -600s .*140 _*40 .*40
      us from -600s x*220
      ap from -600s .*145 _*30 .*45`,
  "exactly a fifth of three windows, and exactly a tenth of one": `4 instants every 5s
      regions eu
      okx rest:ticker, every 5s
      eu from -175s x .*3 x .*3 x .*3 x .*5 x .*5 x .*4 x .*4 _ .*4
      okx rest:book, every 5s
      eu from -175s x .*2 x .*2 x .*2 x .*5 x .*6 _*2 x .*2 x .*2 x .*2 x .*4`,
  "late samples of earlier windows show that it had not failed in part": `20 instants every 5s
      regions eu
      okx rest:ticker, every 5s
      eu from -175s x .*3 x .*3 x .*3 x .*2 .*9@115 x .*3 x .*3 x .*3 .*19
      okx rest:book, every 5s
      eu from -175s x .*3 x .*3 x .*3 x .*2 _*9 x .*3 x .*3 x .*3 .*19`,
  "late samples reduce one window's failures below a tenth": `20 instants every 5s
      rules retraction_every_ms=60000
      regions eu
      okx rest:ticker, every 5s
      eu from -175s x .*2 x .*2 x .*2 x .*2 x .*9 .@100 _ x .*2 x .*2 x .*2 x .*2 .*19`,
  "a silence exactly as long as the newest sample may be old, and longer ones": `30 instants every 5s
      regions eu
      okx rest:ticker, every 5s
      eu x*2 _*11 x*3
      okx rest:book, every 5s
      eu x*2 _*12 x*3
      okx ws:trades, every 5s
      eu x*2 u*12 x*3`,
  "a machine that is reported at this very instant": `40 instants every 5s
      regions eu us
      eu runs on m1 from -60s
      us runs on m1 from 70s
      ${endpoints(turningBad)}`,
  "a machine that is reported a millisecond too late": `40 instants every 5s
      regions eu us
      eu runs on m1 from -60s
      us runs on m1 from 70.001s
      ${endpoints(turningBad)}`,
  "suspect trouble that has lasted exactly long enough": `60 instants every 5s
      rules impaired_within_ms=60000
      regions eu us
      eu runs on m1 from -60s
      us runs on m1 from -60s
      ${endpoints(turningBad)}
      ${endpoints(allGood, "book")}
      ${endpoints(allGood, "trades")}`,
  "a region that has been bad exactly long enough for an outlier": `100 instants every 5s
      rules outlier_after_ms=120000 impaired_within_ms=60000
      regions eu us ap
      okx rest:moment, every 5s
      eu x*100
      us .*30 x*4 .*66
      ap .*100
      okx rest:joined, every 5s
      eu x*100
      us .*30 x*70
      ap .*100
      okx rest:well, every 5s
      eu x*40 .*60
      us .*100
      ap .*100
      okx rest:silent, every 5s
      eu x*40 _*30 x*30
      us .*100
      ap .*100
      okx rest:agreed, every 5s
      eu x*100
      us .*20 x*10 .*70
      ap .*100
      okx rest:alone, every 5s
      eu x*40
      ap .*100`,
  "an outlier with the rule book's own numbers": `160 instants every 5s
      regions eu us ap
      okx rest:ticker, every 5s
      eu x*160
      us .*130 x*6 .*24
      ap .*160`,
  "bad samples at an impairment's first and last instant, and next to them": `60 instants every 5s
      regions eu us
      ${endpoints(["v0", "v1", "v2"].map(() => ({ eu: ".*12 x*20 .*28", us: ".*60" })))}
      v3 rest:ticker, every 30s
      eu from -180s .*8 x*5 .*3
      us from -180s .*16
      v3 rest:book, every 30s
      eu from -180s .*8 . x*3 .*4
      us from -180s .*16
      v3 rest:trades, every 30s at 25000ms
      eu from -180s .*7 x*6 .*3
      us from -180s .*16`,
  "others see the same after all, and one of them recovers later": `60 instants every 5s
      rules impaired_min_venues=3
      regions eu us
      ${endpoints([0, 1, 2].map((i) => ({ eu: ".*12 x*20 .*28", us: `.*17 x*${20 - i} .*${23 + i}` })))}`,
  "unknown, or known only now and then, for exactly as long as closes an incident": `60 instants every 5s
      rules unmeasured_close_ms=60000
      regions eu
      okx rest:ticker, every 5s
      eu .*12 x*4 _*5 .*4
      okx rest:book, every 5s
      eu .*12 x*4 _*5 .*4 x*2 _*3 .*4`,
  "unknown to all, or to all witnesses, for exactly as long as closes an incident": `60 instants every 5s
      rules unmeasured_close_ms=60000 flap_hold_ms=90000
      regions eu us ap
      okx rest:ticker, every 5s
      eu .*12 x*4
      us .*12 x*4
      okx rest:book, every 5s
      eu .*12 x*4 _*40
      us .*12 x*4 _*4 .*40
      ap _*20 .*40
      okx rest:trades, every 5s
      eu .*12 x*40
      us .*12 x*4
      ap _*16 .*40`,
};

/** The engine is called at these seconds. */
const worldsWithPauses: Record<string, { comesBy: number[]; text: string }> = {
  "an incident is retracted while nothing is measured, after a pause": {
    // the third sample of eu arrives just in time for a vote, those of us just in time for a retraction
    comesBy: [...Array.from({ length: 40 }, (_, i) => i * 10), 1200],
    text: `121 instants every 10s
      rules quorum_min_regions=1
      regions eu us
      okx rest:ticker, every 60s at 55000ms
      eu x*3@115
      us .*3@700`,
  },
  "an endpoint of every five minutes opens and closes long after its last sample": {
    comesBy: [...Array.from({ length: 61 }, (_, i) => i * 20), 5400],
    text: `271 instants every 20s
      rules unmeasured_close_ms=1200000
      regions eu us
      okx rest:ticker, every 300s
      eu from -3000s .*11 x*3
      us from -3000s .*11 x*3`,
  },
  "an incident stays open when some instants were missed for good, and closes after its hold": {
    comesBy: [...Array.from({ length: 25 }, (_, i) => i * 5), 400, 420],
    text: `85 instants every 5s
      rules catch_up_ms=200000
      away from 125s to 200s
      regions eu us
      okx rest:ticker, every 5s
      eu .*12 x*10 .*78
      us .*12 x*10 .*78`,
  },
  "states start again when some instants were missed for good": {
    comesBy: [...Array.from({ length: 13 }, (_, i) => i * 5), 300],
    text: `61 instants every 5s
      rules catch_up_ms=180000
      away from 65s to 120s
      regions eu
      okx rest:ticker, every 5s
      eu .*60`,
  },
};
