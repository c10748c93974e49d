/**
 * Who is to blame: a table of rules, of which the first that applies decides. docs/check.md explains them.
 *
 * Three principles hold for all of them, and a test for random evidence:
 *
 * - What a quorum of regions sees is never blamed on the user. So the first rules are the venue's.
 * - A part that fails here is blamed on the user only if a quorum confirms that this very part works.
 * - Without a quorum nobody is blamed, except a venue that itself says that it does not trade, and this machine where
 *   it reaches none of several hosts, trusts none of them, or has another time than most: hosts that have nothing to do
 *   with each other then take the place of the regions.
 */

import { answered, type Evidence, isBad, isGood } from "./evidence.js";
import {
  isConfirmedBad,
  isTrusted,
  failsAlone,
  nothingAnswers,
  everyCertificateRefused,
  allParts,
  mostControlsAway,
  isNotGood,
  isUnresolved,
  refusedAlone,
  oddAddressOf,
  answersBadly,
  isUnreachedOrRefused,
  dissentOn,
  isOff,
  isOfOtherTime,
  isForged,
  isExplainedByClock,
  limitedToAll,
  refusedTwice,
} from "./conditions.js";
import {
  offText,
  regionsSay,
  limitedText,
  dissentText,
  partsWith,
  reasonOf,
  faultsOf,
  statusesOf,
} from "./verdict-text.js";

export const culprits = [
  ...(["nobody", "venue", "unknown"] as const),
  ...(["place", "rate-limit", "network", "resolver", "interception", "clock"] as const),
] as const;

/**
 * - `nobody` everything is good, here and elsewhere
 * - `venue` a quorum of regions sees it, too, or the venue itself says that it does not trade
 * - `unknown` it cannot be determined
 * - `place` the venue, or the way to it, treats this country or network differently from others
 * - `rate-limit` the venue limits the requests of this address
 * - `network` this machine reaches no other host, either
 * - `resolver` this machine's resolver does not lead to the venue
 * - `interception` something between here and the venue answers TLS in its place
 * - `clock` this machine's clock is wrong
 */
export type Culprit = (typeof culprits)[number];

export interface CheckVerdict {
  culprit: Culprit;
  /** The name of the rule in docs/check.md. */
  rule: string;
  /** One sentence, without its full stop. */
  summary: string;
  /** What to do; null: nothing. */
  advice: string | null;
}

interface Rule {
  rule: string;
  culprit: Culprit;
  when: (evidence: Evidence) => boolean;
  summary: (evidence: Evidence) => string;
  advice: string | null;
}

/** A short outage is confirmed by the regions about this long after its beginning. */
const ifYoung = "if it began within the last minute, the regions may not have confirmed it yet: check again";

export const rules: readonly Rule[] = [
  {
    rule: "limits-everybody",
    culprit: "venue",
    when: (e) => limitedToAll(e).length > 0,
    summary: (e) => `the venue limits requests, those of the service included, and is not down: ${limitedText(e)}`,
    advice: "send fewer requests, and wait as long as Retry-After says",
  },
  {
    rule: "venue",
    culprit: "venue",
    when: (e) => isConfirmedBad(e),
    summary: (e) => `it is the venue: ${regionsSay(e.quorum)}`,
    advice: "wait, or use another venue; its page of the service shows the evidence",
  },
  {
    rule: "halted",
    culprit: "venue",
    when: (e) => e.here.some(({ fault }) => fault === "halted"),
    summary: (e) => `the venue itself says that it does not trade (${partsWith(e, "halted")})`,
    advice: "wait until it trades again; its own status page may say when",
  },
  {
    rule: "no-name-resolves",
    culprit: "resolver",
    when: (e) => nothingAnswers(e) && allParts(e).every(isUnresolved),
    summary: () => "it is this machine's resolver: no name resolves here",
    advice: "check /etc/resolv.conf, the name server, and whether this machine is online",
  },
  {
    rule: "certificate-and-clock",
    culprit: "clock",
    when: (e) => refusedAlone(e).length > 0 && isOff(e.clock) && isExplainedByClock(e),
    summary: (e) =>
      `it is this machine's clock, which is ${offText(e.clock!)}: so the venue's certificate seems invalid`,
    advice: "synchronise this machine with a time server",
  },
  {
    rule: "no-certificate-valid-now",
    culprit: "clock",
    when: (e) => everyCertificateRefused(e) && isOfOtherTime(e.refusedCertificate) && e.clock === null,
    summary: () => "it is this machine's clock: no venue's certificate is valid at its time",
    advice: "synchronise this machine with a time server",
  },
  {
    rule: "refused-certificate",
    culprit: "interception",
    when: (e) => (refusedAlone(e).length > 0 || everyCertificateRefused(e)) && isForged(e.refusedCertificate),
    summary: ({ refusedCertificate: refused }) =>
      `something between this machine and the venue answers in its place: it presents a certificate of ${refused!.issuer} for ${refused!.host} (${refused!.code})`,
    advice: "look for a proxy, a virus scanner or a portal that intercepts TLS; trust it, or exclude the venue from it",
  },
  {
    rule: "odd-address",
    culprit: "resolver",
    when: (e) => oddAddressOf(e) !== undefined,
    summary: (e) => {
      const { name, address, kind } = oddAddressOf(e)!;
      return `it is this machine's resolver, which leads ${name} to ${address}, and that is ${kind}`;
    },
    advice: "check /etc/hosts, and whether the name server filters names",
  },
  {
    rule: "nothing-answers",
    culprit: "network",
    when: nothingAnswers,
    summary: ({ controls }) =>
      `it is this machine's network: neither the venue nor ${controls.length} other venues can be reached from here`,
    advice: "check this machine's connection, its firewall and its proxy",
  },
  {
    rule: "most-controls-away",
    culprit: "network",
    when: (e) => failsAlone(e, isNotGood) && !e.here.some(answered) && mostControlsAway(e),
    summary: ({ controls }) =>
      `it is this machine's network: ${controls.filter(({ measured }) => !answered(measured)).length} of ${controls.length} other venues cannot be reached from here, either`,
    advice: "check this machine's connection, its firewall and its proxy",
  },
  {
    rule: "no-socket",
    culprit: "network",
    when: (e) => failsAlone(e, ({ unmeasured }) => unmeasured === "sockets"),
    summary: () => "it is this machine: it has no socket, port or memory left",
    advice: "close programs with many connections, or raise the limit of open files",
  },
  {
    rule: "name-does-not-resolve",
    culprit: "resolver",
    when: (e) => failsAlone(e, isUnresolved),
    summary: () => "it is this machine's resolver: it does not know the venue's name, which resolves elsewhere",
    advice: "ask another name server, and check whether this one filters names",
  },
  {
    rule: "rate-limit",
    culprit: "rate-limit",
    when: (e) => failsAlone(e, ({ fault }) => fault === "limited"),
    summary: (e) => `the venue limits the requests of this address (${statusesOf(e, "limited")}), and serves others`,
    advice: "send fewer requests, and wait as long as Retry-After says: more requests may prolong it",
  },
  {
    rule: "refused-here",
    culprit: "place",
    when: (e) => failsAlone(e, ({ fault }) => fault === "blocked"),
    summary: (e) => `the venue refuses this country or network (${statusesOf(e, "blocked")}), and serves others`,
    advice: "use it from another place or address, as far as its terms allow that",
  },
  {
    rule: "some-regions",
    culprit: "place",
    when: (e) => dissentOn(e) !== null,
    summary: (e) => `the venue may not serve every place: ${dissentText(e)}, while most regions see no trouble`,
    advice: `use it from another place; ${ifYoung}`,
  },
  {
    rule: "only-here",
    culprit: "place",
    when: (e) => failsAlone(e, isUnreachedOrRefused) && e.controls.some(({ measured }) => answered(measured)),
    summary: (e) =>
      `the venue, or the way to it, fails this country or network alone (${faultsOf(e)}): ` +
      "the regions see no trouble, and other venues answer here",
    advice: `check a firewall or proxy in between; ${ifYoung}`,
  },
  {
    rule: "answers-badly",
    culprit: "unknown",
    when: (e) => failsAlone(e, answersBadly),
    summary: (e) =>
      `its servers answer badly here (${faultsOf(e)}); whether only here is unknown, ` +
      "because the regions, which see no trouble, may not have confirmed it yet",
    advice: "check again in a minute: by then the regions have confirmed it, or it is only here",
  },
  {
    rule: "wrong-clock",
    culprit: "clock",
    when: (e) => e.here.length > 0 && e.here.every(isGood) && isOff(e.clock),
    summary: (e) =>
      `it is this machine's clock, which is ${offText(e.clock!)}: venues refuse signed requests of another time`,
    advice: "synchronise this machine with a time server",
  },
  {
    rule: "nothing-wrong",
    culprit: "nobody",
    when: (e) => isTrusted(e.quorum) && e.here.length > 0 && e.here.every(isGood),
    summary: () => "nothing is wrong: the venue answers here, and the regions see no trouble",
    advice: "if your requests fail all the same, look at their keys, rights and parameters",
  },
  {
    rule: "not-in-registry",
    culprit: "nobody",
    when: (e) => isTrusted(e.quorum) && e.here.length === 0,
    summary: () =>
      "the regions see no trouble; it was not measured from here, because the registry has no endpoint of it",
    advice: "set REGISTRY to the registry of that service to measure it from here, too; of a chain, check a provider",
  },
  {
    rule: "refused-twice",
    culprit: "unknown",
    when: refusedTwice,
    summary: (e) =>
      `the venue refuses this country or network (${statusesOf(e, "blocked")}), and the place of the service, too; ` +
      "whether it serves others is unknown",
    advice: "use it from another place or address, as far as its terms allow that",
  },
  {
    rule: "good-here",
    culprit: "unknown",
    when: (e) => e.here.some(isGood) && !e.here.some(isBad),
    summary: (e) =>
      isTrusted(e.quorum)
        ? `it answers here, and the regions see no trouble, but ${reasonOf(e)}`
        : `it answers here; whether it also does elsewhere is unknown, because ${reasonOf(e)}`,
    advice: null,
  },
  {
    rule: "bad-here",
    culprit: "unknown",
    when: (e) => e.here.some(isBad),
    summary: (e) => `it fails here (${faultsOf(e)}); whether only here is unknown, because ${reasonOf(e)}`,
    advice: "check again, or ask another service",
  },
  {
    rule: "not-measured",
    culprit: "unknown",
    when: () => true,
    summary: (e) =>
      isTrusted(e.quorum)
        ? `the regions see no trouble, but ${reasonOf(e)}`
        : `it could not be measured from here, and ${reasonOf(e)}`,
    advice: "check again",
  },
];

/** Pure: the same evidence gives the same verdict. */
export function verdictOf(evidence: Evidence): CheckVerdict {
  const { rule, culprit, summary, advice } = rules.find(({ when }) => when(evidence))!;
  return { culprit, rule, summary: summary(evidence), advice };
}
