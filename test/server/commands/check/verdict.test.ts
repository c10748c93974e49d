/** The rules of `venuewatch check` on scripted and on random evidence. */
import { readFileSync } from "node:fs";
import t from "tap";
import { answered, type Evidence, isBad, isGood, type Quorum } from "../../../../server/commands/check/evidence.js";
import { exitCodeOf } from "../../../../server/commands/check/report.js";
import { culprits, rules, tolerableClockErrorMs, verdictOf } from "../../../../server/commands/check/verdict.js";
import { packagedFile } from "../../../../shared/config/package.js";
import { faults } from "../../../../shared/measurement/sample.js";
import { bad, confirmed, controls, evidence, part, refused, silent, untried } from "../../../support/evidence.js";
import { Dice } from "../../../support/random-worlds/dice.js";

const away = bad("rest:time", "timeout");
const nothing = [away, bad("ws:conn", "timeout")];
const unresolved = untried("rest:time", "resolver");
const ofQuorum = (component: string, more: Partial<{ state: "outage" | "degraded"; agreeing: number }>) =>
  confirmed({
    state: more.state ?? "operational",
    components: [{ component, state: more.state ?? "operational", agreeing: more.agreeing ?? 3, reporting: 3 }],
  });
const outage = ofQuorum("rest:time", { state: "outage", agreeing: 2 });
const minuteAhead = { errorMs: 60_000, withinMs: 300 };

interface Case {
  what: string;
  spoiled: Partial<Evidence>;
  /** Rule and exit code. */
  gives: [rule: string, code: number];
  says?: RegExp;
}

const cases: Case[] = [
  { what: "all is well", spoiled: {}, gives: ["nothing-wrong", 0] },
  {
    what: "an outage that is seen here, too",
    spoiled: { quorum: outage, here: nothing },
    gives: ["venue", 2],
    says: /^it is the venue: it is in state outage since \S+: rest:time outage, as 2 of 3 regions agree$/,
  },
  { what: "an outage while it works here", spoiled: { quorum: outage }, gives: ["venue", 2] },
  {
    what: "an outage while nothing is reached here",
    spoiled: { quorum: outage, here: nothing, controls: controls(away) },
    gives: ["venue", 2],
  },
  {
    what: "an outage while this address is limited",
    spoiled: { quorum: outage, here: [bad("rest:time", "limited", 429)] },
    gives: ["venue", 2],
  },
  { what: "an outage and a wrong clock", spoiled: { quorum: outage, clock: minuteAhead }, gives: ["venue", 2] },
  {
    what: "a degraded venue",
    spoiled: { quorum: ofQuorum("ws:conn", { state: "degraded" }) },
    gives: ["venue", 1],
  },
  {
    what: "a bad component of a venue that is not called degraded yet",
    spoiled: {
      quorum: confirmed({ components: [{ component: "ws:conn", state: "outage", agreeing: 2, reporting: 3 }] }),
      here: [part("rest:time"), bad("ws:conn", "handshake", 403)],
    },
    gives: ["venue", 1],
  },
  { what: "403 here", spoiled: { here: [bad("rest:time", "blocked", 403)] }, gives: ["refused-here", 20], says: /403/ },
  { what: "451 here", spoiled: { here: [bad("rest:time", "blocked", 451)] }, gives: ["refused-here", 20], says: /451/ },
  { what: "429 here", spoiled: { here: [bad("rest:time", "limited", 429)] }, gives: ["rate-limit", 21], says: /429/ },
  { what: "418 here", spoiled: { here: [bad("rest:time", "limited", 418)] }, gives: ["rate-limit", 21], says: /418/ },
  { what: "503 here alone", spoiled: { here: [bad("rest:time", "http", 503)] }, gives: ["only-here", 20] },
  {
    what: "a refused connection here alone",
    spoiled: { here: [bad("rest:time", "connect")] },
    gives: ["only-here", 20],
  },
  {
    what: "data that stand still here alone",
    spoiled: { here: [bad("rest:time", "stale", 200)] },
    gives: ["only-here", 20],
  },
  {
    what: "a socket that a firewall blocks",
    spoiled: { here: [part("rest:time"), bad("ws:conn", "timeout")], controls: [] },
    gives: ["only-here", 20],
    says: /ws:conn timeout/,
  },
  {
    what: "a fault that one region sees, too",
    spoiled: { here: [away], quorum: { ...ofQuorum("rest:time", { agreeing: 2 }), dissenting: ["us-east"] } },
    gives: ["some-regions", 20],
    says: /us-east sees trouble, too/,
  },
  {
    what: "a fault that one region sees, whose name is not known",
    spoiled: { here: [away], quorum: { ...ofQuorum("rest:time", { agreeing: 2 }), dissenting: null } },
    gives: ["some-regions", 20],
    says: /not all regions agree \(1 without\)/,
  },
  {
    what: "a fault here, while a region has too few samples to vote",
    spoiled: { here: [away], quorum: ofQuorum("rest:time", { agreeing: 2 }) },
    gives: ["only-here", 20],
  },
  { what: "no way out", spoiled: { here: nothing, controls: controls(away) }, gives: ["nothing-answers", 22] },
  {
    what: "no way out, and the service is away",
    spoiled: { quorum: silent, here: nothing, controls: controls(away) },
    gives: ["nothing-answers", 22],
  },
  {
    what: "most others away",
    spoiled: { here: nothing, controls: controls(away).with(1, { venue: "beta", measured: part("rest:time") }) },
    gives: ["most-controls-away", 22],
    says: /3 of 4 other venues/,
  },
  { what: "no socket left", spoiled: { here: [untried("rest:time", "sockets")] }, gives: ["no-socket", 22] },
  {
    what: "a dead resolver",
    spoiled: { quorum: silent, here: [unresolved], controls: controls(unresolved) },
    gives: ["no-name-resolves", 23],
  },
  {
    what: "a resolver without this name",
    spoiled: { here: [bad("rest:time", "dns")] },
    gives: ["name-does-not-resolve", 23],
  },
  {
    what: "a resolver that lies",
    spoiled: {
      here: [bad("rest:time", "connect")],
      oddAddresses: [{ name: "api.example.org", address: "127.0.0.1", kind: "loopback" }],
    },
    gives: ["odd-address", 23],
    says: /leads api\.example\.org to 127\.0\.0\.1, and that is loopback/,
  },
  {
    what: "an internal name that works",
    spoiled: { oddAddresses: [{ name: "node.internal", address: "10.0.0.1", kind: "private" }] },
    gives: ["nothing-wrong", 0],
  },
  {
    what: "a certificate of somebody else",
    spoiled: { here: [bad("rest:time", "tls")], refusedCertificate: refused("SELF_SIGNED_CERT_IN_CHAIN") },
    gives: ["refused-certificate", 24],
    says: /Box of the office for api\.example\.org \(SELF_SIGNED_CERT_IN_CHAIN\)/,
  },
  {
    what: "a proxy before everything, the service included",
    spoiled: {
      quorum: silent,
      here: [bad("rest:time", "tls")],
      controls: controls(bad("rest:time", "tls")),
      refusedCertificate: refused("UNABLE_TO_GET_ISSUER_CERT_LOCALLY"),
      clock: null,
    },
    gives: ["refused-certificate", 24],
  },
  {
    what: "a certificate that ended at one server of the venue",
    spoiled: { here: [bad("rest:time", "tls")], refusedCertificate: refused("CERT_HAS_EXPIRED") },
    gives: ["only-here", 20],
  },
  {
    what: "a certificate that is not valid yet by a clock that is wrong",
    spoiled: {
      here: [bad("rest:time", "tls")],
      refusedCertificate: refused("CERT_NOT_YET_VALID"),
      at: new Date("2025-12-01"),
      clock: { errorMs: Date.parse("2025-12-01") - Date.parse("2026-02-01"), withinMs: 300 },
    },
    gives: ["certificate-and-clock", 25],
    says: /behind: so the venue's certificate seems invalid$/,
  },
  {
    what: "a clock that is wrong by years",
    spoiled: {
      quorum: silent,
      here: [bad("rest:time", "tls")],
      controls: controls(bad("rest:time", "tls")),
      refusedCertificate: refused("CERT_NOT_YET_VALID"),
      clock: null,
    },
    gives: ["no-certificate-valid-now", 25],
  },
  {
    what: "a clock that is a minute ahead",
    spoiled: { clock: minuteAhead },
    gives: ["wrong-clock", 25],
    says: /60\.0 s ahead/,
  },
  {
    what: "a clock that may be right",
    spoiled: { clock: { errorMs: tolerableClockErrorMs + 200, withinMs: 300 } },
    gives: ["nothing-wrong", 0],
  },
  { what: "a clock that cannot be compared", spoiled: { clock: null }, gives: ["nothing-wrong", 0] },
  { what: "a venue that the registry lacks", spoiled: { here: [] }, gives: ["not-in-registry", 0] },
  { what: "an outage of such a venue", spoiled: { here: [], quorum: outage }, gives: ["venue", 2] },
  {
    what: "a service that is away, while it works here",
    spoiled: { quorum: silent },
    gives: ["good-here", 3],
    says: /because the service is away$/,
  },
  {
    what: "a service that is away, and 503 here",
    spoiled: { quorum: silent, here: [bad("rest:time", "http", 503)] },
    gives: ["bad-here", 3],
  },
  {
    what: "a service that is away, a wrong clock, and 503 here, which no clock explains",
    spoiled: { quorum: silent, here: [bad("rest:time", "http", 503)], clock: minuteAhead },
    gives: ["bad-here", 3],
  },
  {
    what: "a service that is away, and 429 here",
    spoiled: { quorum: silent, here: [bad("rest:time", "limited", 429)] },
    gives: ["bad-here", 3],
  },
  {
    what: "nothing to compare with",
    spoiled: { here: nothing, controls: [] },
    gives: ["bad-here", 3],
    says: /no other venue/,
  },
  { what: "nothing at all", spoiled: { quorum: silent, here: [] }, gives: ["not-measured", 3] },
  {
    what: "a part that could not be measured",
    spoiled: { here: [part("rest:time"), untried("ws:conn", "starved")] },
    gives: ["good-here", 3],
    says: /because ws:conn could not be measured \(starved\)$/,
  },
];

void t.test("each scripted cause has its rule and exit code", (t) => {
  for (const { what, spoiled, gives, says } of cases) {
    const given = evidence(spoiled);
    const verdict = verdictOf(given);
    t.strictSame([verdict.rule, exitCodeOf(verdict, given)], gives, what);
    if (says) t.match(verdict.says, says, what);
    t.match(verdict.says, /^[a-z][^\n]{10,300}[^.\n]$/, "one sentence");
  }
  const decided = new Set(cases.map(({ gives: [rule] }) => rule));
  t.strictSame(
    rules.map(({ rule }) => rule).filter((rule) => !decided.has(rule)),
    [],
    "every rule decides some case",
  );
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
    reached.add(verdict.rule);
    const fail = (claim: string) => t.fail(`${claim}: ${culprit}`, { given, verdict });
    const isOfUser = !["nobody", "venue", "unknown"].includes(culprit);
    const all = [...here, ...given.controls.map(({ measured }) => measured)];

    if (quorum.kind === "confirmed") {
      const confirms = quorum.components.filter(({ state }) => state === "outage" || state === "degraded");
      const seenHere = here.some(
        (part) => isBad(part) && confirms.some(({ component }) => component === part.component),
      );
      if ((quorum.state !== "operational" || seenHere) !== (culprit === "venue"))
        fail("the venue, if a quorum says so");
    } else {
      if (["venue", "nobody", "place", "rate-limit"].includes(culprit)) fail("without a quorum");
      if (isOfUser && culprit !== "clock" && all.some(answered)) fail("without a quorum, while something answers");
      if (isOfUser && culprit !== "clock" && given.controls.length < 3) fail("without a quorum, by few others");
    }
    if (culprit === "nobody" && here.some((part) => !isGood(part))) fail("nobody, while something fails here");
    if (culprit === "clock" && clock && Math.abs(clock.errorMs) - clock.withinMs <= tolerableClockErrorMs)
      fail("a clock that may be right");
    if (isOfUser && culprit !== "clock" && here.every(isGood)) fail("while nothing fails here");
    if (!culprits.includes(culprit)) fail("a word of the list");
  }
  t.strictSame([...reached].sort(), rules.map(({ rule }) => rule).sort(), "the evidence is wild enough for every rule");
  t.end();
});

void t.test("docs/check.md lists exactly these rules, culprits and exit codes, in their order", (t) => {
  const page = readFileSync(packagedFile("docs/check.md"), "utf8");
  const rows = [...page.matchAll(/^\| `([a-z-]+)` +\| `([a-z-]+)` +\|/gm)].map(([, rule, culprit]) => [rule, culprit]);
  t.strictSame(
    rows,
    rules.map(({ rule, culprit }) => [rule, culprit]),
  );
  const codes = [...page.matchAll(/^\| (\d+) +\| `([a-z-]+)`/gm)].map(([, code, culprit]) => [Number(code), culprit]);
  const expected = culprits.flatMap((culprit) => {
    const of = (quorum: Quorum) => [exitCodeOf({ culprit }, { quorum }), culprit];
    return culprit === "venue" ? [of(ofQuorum("rest:time", { state: "degraded" })), of(outage)] : [of(confirmed())];
  });
  t.strictSame(codes, expected);
  t.end();
});

function randomEvidence(dice: Dice): Evidence {
  const components = ["rest:time", "rest:ticker", "ws:conn"];
  const states = ["operational", "operational", "operational", "degraded", "outage", "unknown"] as const;
  const codes = ["SELF_SIGNED_CERT_IN_CHAIN", "CERT_NOT_YET_VALID", "CERT_HAS_EXPIRED", "ERR_TLS_CERT_ALTNAME_INVALID"];
  /** Alike for all parts, as trouble of one cause is, or a mixture. */
  const common = dice.weighted([null, null, null, ...faults, "tls", "tls", "dns", "network", "resolver", "sockets"]);
  const isMute = dice.happens(0.5);
  const result = (component: string) => {
    const what = dice.happens(0.7) ? common : dice.weighted([null, ...faults, "starved"]);
    const fault = faults.find((fault) => fault === what) ?? null;
    const httpStatus = isMute ? null : dice.weighted([200, 403, 418, 429, 451, 503]);
    return part(component, { fault, unmeasured: fault === null ? what : null, httpStatus });
  };
  const reporting = dice.whole(0, 3);
  const quorum: Quorum = dice.happens(0.4)
    ? silent
    : {
        ...confirmed({ state: dice.weighted(["operational", "operational", "operational", "degraded", "outage"]) }),
        components: dice.some(components).map((component) => ({
          ...{ component, state: dice.weighted(states) },
          ...{ agreeing: dice.whole(0, reporting), reporting },
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
    oddAddresses: dice.happens(0.1) ? [{ name: "a.example.org", address: "10.0.0.1", kind: "private" }] : [],
    refusedCertificate: dice.happens(0.5) ? refused(dice.weighted(codes)) : null,
    clock: dice.happens(0.3) ? null : { errorMs: clockErrorMs, withinMs: dice.weighted([10, 400, 2_000]) },
    at: dice.weighted([new Date("2026-02-01"), new Date("2025-12-05")]),
  };
}
