/** The rules of `venuewatch check` on scripted and on random evidence. */
import { readFileSync } from "node:fs";
import t from "tap";
import {
  answered,
  componentsIn,
  type Evidence,
  isBad,
  isGood,
  type Quorum,
} from "../../../../server/cli/check/evidence.js";
import type { MeasuredPart } from "../../../../server/cli/measured-once.js";
import { exitCodeOf } from "../../../../server/cli/check/check.js";
import { culpritRules, harmlessClockErrorMs, verdictOf } from "../../../../server/cli/check/verdict.js";
import { packagedFile } from "../../../../shared/config/package.js";
import { faults } from "../../../../shared/measurement/sample.js";
import { confirmed, controls, evidence, part, refused, silent } from "../../../support/evidence.js";
import { Dice } from "../../../support/random-worlds/dice.js";
import { ofQuorum, outage, verdictCases } from "../../../support/verdict-cases.js";

const culprits = culpritRules.map(({ culprit }) => culprit);

void t.test("each scripted cause has its culprit and exit code", (t) => {
  for (const { what, spoiled, gives, summary } of verdictCases) {
    const given = evidence(spoiled);
    const verdict = verdictOf(given);
    t.strictSame([verdict.culprit, exitCodeOf(verdict, given)], gives, what);
    if (summary) t.match(verdict.summary, summary, what);
    t.match(verdict.summary, /^[a-z][^\n]{10,300}[^.\n]$/, "one sentence");
  }
  const decided = verdictCases.map(({ gives: [culprit] }) => culprit);
  t.strictSame(new Set(decided), new Set(culprits), "every rule decides some case");
  t.end();
});

void t.test("nobody is blamed against the quorum, whatever the evidence", (t) => {
  const dice = new Dice(Number(process.env["CHECK_SEED"] ?? 1));
  const reached = new Set<string>();
  for (let run = 0; run < 12_000; run += 1) {
    const given = randomEvidence(dice);
    const { quorum, here, clock } = given;
    const verdict = verdictOf(given);
    const { culprit } = verdict;
    reached.add(culprit);
    const fail = (claim: string) => t.fail(`${claim}: ${culprit}`, { given, verdict });
    const saysItself = here.some(({ fault }) => fault === "halted");
    const isOfUser = !["nobody", "venue", "unknown"].includes(culprit);
    const all = [...here, ...given.controls.map(({ measured }) => measured)];

    if (quorum.kind === "confirmed") {
      const confirms = quorum.components.filter(({ state }) => state === "outage" || state === "degraded");
      const seenHere = here.some(
        (part) => isBad(part) && confirms.some(({ component }) => componentsIn(part).includes(component)),
      );
      if ((quorum.state !== "operational" || seenHere || saysItself) !== (culprit === "venue"))
        fail("the venue, if a quorum says so, or itself");
      const works = (part: MeasuredPart) =>
        quorum.components.some(
          ({ component, state }) => componentsIn(part).includes(component) && state === "operational",
        );
      const alone = here.filter((part) => !isGood(part) && works(part));
      const isOfHosts = given.controls.length >= 3 && !all.some(answered);
      const isOfParts = isOfUser && !here.every(isGood);
      if (isOfParts && !isOfHosts && alone.length === 0) fail("for a part that no quorum confirms");
      const isRefusal = verdict.summary.startsWith("the venue refuses");
      const told = culprit === "rate-limit" ? "limited" : isRefusal ? "blocked" : undefined;
      if (told !== undefined && !alone.some(({ fault }) => fault === told)) fail("for a fault of another part");
    } else {
      if (["nobody", "place", "rate-limit"].includes(culprit)) fail("without a quorum");
      if ((culprit === "venue") !== saysItself) fail("the venue, only if itself says so");
      if (isOfUser && culprit !== "clock" && all.some(answered)) fail("without a quorum, while something answers");
      if (isOfUser && culprit !== "clock" && given.controls.length < 3) fail("without a quorum, by few others");
    }
    if (culprit === "nobody" && here.some((part) => !isGood(part))) fail("nobody, while something fails here");
    if (culprit === "clock" && clock && Math.abs(clock.errorMs) - clock.withinMs <= harmlessClockErrorMs)
      fail("a clock that may be right");
    if (isOfUser && culprit !== "clock" && here.every(isGood)) fail("while nothing fails here");
    if (isOfUser && here.length === 0) fail("while nothing was measured");
  }
  t.strictSame(reached, new Set(culprits), "the evidence is wild enough for every rule");
  t.end();
});

void t.test("docs/check.md lists exactly these rules and exit codes, in their order", (t) => {
  const page = readFileSync(packagedFile("docs/check.md"), "utf8");
  const rows = [...page.matchAll(/^\| `([a-z-]+)` +\| ([\d, ]+) \|/gm)].map(([, culprit, codes]) => [culprit, codes]);
  const expected = culprits.map((culprit) => {
    const codeOf = (quorum: Quorum) => exitCodeOf({ culprit }, { quorum });
    const quorums = culprit === "venue" ? [ofQuorum("rest:time", { state: "degraded" }), outage] : [confirmed()];
    return [culprit, quorums.map(codeOf).join(", ")];
  });
  t.strictSame(
    rows.map(([culprit, codes]) => [culprit, codes!.trim()]),
    expected,
  );
  t.end();
});

function randomEvidence(dice: Dice): Evidence {
  const components = ["rest:time", "rest:ticker", "ws:conn"];
  const states = ["operational", "operational", "operational", "degraded", "outage", "unknown"] as const;
  const codes = ["SELF_SIGNED_CERT_IN_CHAIN", "CERT_NOT_YET_VALID", "CERT_HAS_EXPIRED", "ERR_TLS_CERT_ALTNAME_INVALID"];
  /** The same for all parts, as with a single cause, or a mixture. */
  const common = dice.weighted([null, null, null, ...faults, "tls", "tls", "dns", "network", "resolver", "sockets"]);
  const isMute = dice.happens(0.5);
  const result = (component: string) => {
    const what = dice.happens(0.7) ? common : dice.weighted([null, ...faults, "starved"]);
    const fault = faults.find((fault) => fault === what) ?? null;
    const httpStatus = isMute ? null : dice.weighted([200, 403, 418, 429, 451, 503]);
    const sharedWith = component === "ws:conn" || !dice.happens(0.3) ? [] : ["ws:shared"];
    return part(component, { fault, unmeasured: fault === null ? what : null, httpStatus, sharedWith });
  };
  const counted = dice.whole(0, 3);
  const quorum: Quorum = dice.happens(0.4)
    ? silent
    : {
        ...confirmed({ state: dice.weighted(["operational", "operational", "operational", "degraded", "outage"]) }),
        components: dice.some([...components, "ws:shared"]).map((component) => ({
          ...{ component, state: dice.weighted(states) },
          ...{ agreeing: dice.whole(0, counted), counted },
          ...{ fault: dice.weighted([null, "limited", "timeout"]), unknownBecause: null },
        })),
        dissenting: dice.weighted([[], ["us-east"], null]),
      };
  const clockErrorMs = dice.weighted([0, 0, 900, -1500, 40_000, -5_000_000_000]);
  return {
    ...{ venue: "acme", quorum },
    here: dice.happens(0.1) ? [] : dice.some(components).map(result),
    controls: controls()
      .slice(0, dice.whole(0, 4))
      .map(({ venue }) => ({ venue, measured: result("rest:time") })),
    oddAddresses: dice.happens(0.1) ? [{ name: "rest-time.example.org", address: "10.0.0.1", kind: "private" }] : [],
    refusedCertificate: dice.happens(0.5) ? refused(dice.weighted(codes)) : null,
    clock: dice.happens(0.3) ? null : { errorMs: clockErrorMs, withinMs: dice.weighted([10, 400, 2_000]) },
    at: dice.weighted([new Date("2026-02-01"), new Date("2025-12-05")]),
  };
}
