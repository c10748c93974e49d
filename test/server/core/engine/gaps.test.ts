/** All probes are away for a while: no new trouble shows, and nobody is alerted. */
import t from "tap";
import { migratedDatabase } from "../../../support/database.js";
import { play } from "../../../support/scenario-play.js";
import { parseScenario } from "../../../support/scenario.js";

const database = migratedDatabase(t);

const awayFromS = 300;
const backForS = 420;

/** Samples of one component, slot by slot; repeated. Each comes two seconds after its slot. */
const components: [venue: string, component: string, cadenceS: number, pattern: string][] = [
  ["okx", "rest:ticker", 5, "x"],
  ["okx", "rest:book", 10, "."],
  ["okx", "rest:time", 20, "."],
  ["okx", "rest:status", 60, "."],
  ["okx", "ws:conn", 5, "."],
  ["okx", "ws:trades", 5, "."],
  // degraded: a third fails, and an outage as soon as good samples leave its window
  ["kraken", "rest:ticker", 5, "x . ."],
  ["kraken", "rest:book", 7, ". . . . . ."],
  ["kraken", "rest:time", 30, "."],
  // most of them are slow
  ["bybit", "rest:ticker", 5, ". s s"],
  ["bybit", "rest:book", 12, "."],
  // fails now and then, too seldom to be degraded
  ["gate", "rest:ticker", 5, "x . . . . . . . . ."],
  ["gate", "rest:book", 10, ". x . . . . . . ."],
];

const worse = ["operational", "degraded", "outage"];

const gapsS = [15, 20, 31, 46, 50, 59, 61, 100, 240, 600];
/** All of them in the long run; else one, because a gap takes half a minute. */
const playedS = process.env.SCENARIOS === "all" ? gapsS : [61];

for (const gapS of playedS)
  void t.test(`after ${gapS} s without a sample, states are unknown at worst, and then as before`, async (t) => {
    const { pool } = await database;
    const lines = components.map(([venue, component, cadenceS, pattern], i) => {
      const letters = pattern.split(" ");
      const slots = Math.floor((awayFromS + gapS + backForS) / cadenceS);
      const samples = Array.from({ length: slots }, (_, slot) => {
        const isAway = slot * cadenceS > awayFromS && slot * cadenceS < awayFromS + gapS;
        return isAway ? "_" : `${letters[slot % letters.length]}@2`;
      });
      const from = i === 0 ? ", from 2026-01-15T12:00:00Z" : "";
      return [
        `venue ${venue}, ${component}, every ${cadenceS}s${from}`,
        ...["eu-central", "us-east", "ap-southeast"].map((region) => `${region} ${samples.join(" ")}`),
      ].join("\n");
    });
    const text = ["It shows.\n", "also seen: venues", ...lines, ""].join("\n");
    const events = (await play(pool, parseScenario(text, "gap.txt"))).map(eventOf);

    const before = events.filter(({ atS }) => atS <= awayFromS);
    const after = events.filter(({ atS }) => atS > awayFromS);
    t.ok(before.some(({ what }) => what.startsWith("alert opened okx")));
    t.strictSame(
      after.filter(({ state }) => state === null).map(({ what }) => what),
      [],
      "no incident opens, gets worse or ends, and no alert is written",
    );
    for (const whose of new Set(before.flatMap((event) => (event.state === null ? [] : event.whose)))) {
      const had = before.findLast((event) => event.whose === whose)!.state;
      const states = after.filter((event) => event.whose === whose).map(({ state }) => state);
      t.ok(
        states.filter((state) => state === "unknown").length <= 1,
        `${whose} is unknown once at most: ${states.join(", ")}`,
      );
      t.ok(
        states.every((state) => state === "unknown" || worse.indexOf(state!) <= worse.indexOf(had!)),
        `${whose} was ${had} and is never worse: ${states.join(", ")}`,
      );
      if (states.length > 0) t.equal(states.at(-1), had, `${whose} is as before`);
    }
  });

/** A line such as "+118s okx rest:ticker unknown, 3 report, quorum 2". */
function eventOf(line: string) {
  const [, at, what] = /^\+(\d+)s +(.*)$/.exec(line)!;
  const [, whose, state] = /^(venue \w+|\w+ \w+:\w+) (operational|degraded|outage|unknown)\b/.exec(what!) ?? [];
  return { atS: Number(at), what: what!, whose: whose ?? "", state: state ?? null };
}
