/**
 * Who is to blame: one rule for each culprit; the first that applies decides. docs/check.md explains them.
 *
 * Three principles hold for all of them, and a test for random evidence:
 *
 * - What a quorum of regions sees is never blamed on the user. So the first rule is the venue's.
 * - A part that fails here is blamed on the user only if a quorum confirms that this very part works.
 * - Without a quorum nobody is blamed, except a venue that itself says that it does not trade, and this machine where
 *   it reaches none of several hosts, trusts none of them, or has another time than most: hosts that have nothing to do
 *   with each other then take the place of the regions.
 */
import type { MeasuredPart } from "../measured-once.js";
import {
  answered,
  type ClockOffset,
  componentsIn,
  type Evidence,
  isBad,
  isGood,
  type OddAddress,
  type Quorum,
  type QuorumComponent,
  type RefusedCertificate,
  ofTheService,
} from "./evidence.js";

/**
 * - `venue` a quorum of regions sees it, too, or the venue itself says that it does not trade
 * - `clock` this machine's clock is wrong
 * - `interception` something between here and the venue answers TLS in its place
 * - `resolver` this machine's resolver does not lead to the venue
 * - `network` this machine reaches no other host, either
 * - `rate-limit` the venue limits the requests of this address
 * - `place` the venue, or the way to it, treats this country or network differently from others
 * - `nobody` everything is good, here and elsewhere
 * - `unknown` it cannot be determined
 */
export type Culprit =
  "venue" | "clock" | "interception" | "resolver" | "network" | "rate-limit" | "place" | "nobody" | "unknown";

export interface CheckVerdict {
  culprit: Culprit;
  /** One sentence, without its full stop. */
  summary: string;
  /** What to do. */
  advice: string;
}

interface Rule {
  culprit: Culprit;
  when: (evidence: Evidence) => boolean;
  says: (evidence: Evidence) => [summary: string, advice: string];
}

export const culpritRules: readonly Rule[] = [
  {
    culprit: "venue",
    when: (e) => isConfirmedBad(e) || e.here.some(({ fault }) => fault === "halted"),
    says: venueText,
  },
  {
    culprit: "clock",
    when: (e) =>
      (isOff(e.clock) &&
        ((e.here.length > 0 && e.here.every(isGood)) || (refusedAlone(e).length > 0 && isExplainedByClock(e)))) ||
      (e.clock === null && everyCertificateRefused(e) && isOfOtherTime(e.refusedCertificate)),
    says: (e) => [
      `it is this machine's clock${e.clock ? `, which is ${offText(e.clock)}` : ""}: ` +
        (e.here.every(isGood)
          ? "venues refuse signed requests of another time"
          : "by its time the venue's certificate is not valid"),
      "synchronise this machine with a time server",
    ],
  },
  {
    culprit: "interception",
    when: (e) => (refusedAlone(e).length > 0 || everyCertificateRefused(e)) && isForged(e.refusedCertificate),
    says: ({ refusedCertificate: refused }) => [
      `something between this machine and the venue answers in its place: it presents a certificate of ${refused!.issuer} for ${refused!.host} (${refused!.code})`,
      "look for a proxy, a virus scanner or a portal that intercepts TLS; trust it, or exclude the venue from it",
    ],
  },
  {
    culprit: "resolver",
    when: (e) => noNameResolves(e) || oddAddressOf(e) !== undefined || (failsAlone(e, isUnresolved) && !isCutOff(e)),
    says: (e) => [
      `it is this machine's resolver${resolverText(e)}`,
      "check /etc/hosts and /etc/resolv.conf, whether the name server filters names, and whether this machine is online",
    ],
  },
  {
    culprit: "network",
    when: (e) => isCutOff(e) || failsAlone(e, isWithoutSocket),
    says: networkText,
  },
  {
    culprit: "rate-limit",
    when: (e) => failsAlone(e, ({ fault }) => fault === "limited"),
    says: (e) => [
      `the venue limits the requests of this address (${statusesOf(e, "limited")}), and serves others`,
      "send fewer requests, and wait as long as Retry-After says: more requests may prolong it",
    ],
  },
  {
    culprit: "place",
    when: (e) =>
      failsAlone(e, isRefused) ||
      dissentOn(e) !== null ||
      (failsAlone(e, isUnreachedOrRefused) && e.controls.some(({ measured }) => answered(measured))),
    says: placeText,
  },
  {
    culprit: "nobody",
    when: (e) => isTrusted(e.quorum) && e.here.every(isGood),
    says: ({ here }) => [
      here.length > 0
        ? "nothing is wrong: the venue answers here, and the regions see no trouble"
        : "the regions see no trouble; it was not measured from here, because the registry (REGISTRY) has no endpoint of it",
      "if your requests fail all the same, look at their keys, rights and parameters",
    ],
  },
  {
    culprit: "unknown",
    when: () => true,
    says: (e) => [unknownText(e), "check again in a minute, or ask another service"],
  },
];

/** Pure: the same evidence gives the same verdict. */
export function verdictOf(evidence: Evidence): CheckVerdict {
  const { culprit, says } = culpritRules.find(({ when }) => when(evidence))!;
  const [summary, advice] = says(evidence);
  return { culprit, summary, advice };
}

function venueText(e: Evidence): [string, string] {
  const limited = limitedToAll(e);
  if (limited.length > 0)
    return [
      `the venue limits requests, those of the service included, and is not down: ${agreedText(limited)}`,
      "send fewer requests, and wait as long as Retry-After says",
    ];
  const halted = e.here.filter(({ fault }) => fault === "halted").map(({ component }) => component);
  return [
    isConfirmedBad(e)
      ? `it is the venue: ${regionsText(e.quorum)}`
      : `the venue itself says that it does not trade (${halted.join(", ")})`,
    "wait, or use another venue; its status page, and its page of the service, may say more",
  ];
}

function regionsText(quorum: Quorum): string {
  if (quorum.kind !== "confirmed") return "";
  const bad = quorum.components.filter(({ state }) => state === "outage" || state === "degraded");
  const state = quorum.state === "operational" ? "a component fails" : `it is in state ${quorum.state}`;
  return `${state} since ${quorum.since}${bad.length === 0 ? "" : `: ${agreedText(bad)}`}`;
}

function agreedText(components: Extract<Quorum, { kind: "confirmed" }>["components"]): string {
  return firstThree(
    components.map(
      ({ component, state, agreeing, counted }) => `${component} ${state}, as ${agreeing} of ${counted} regions agree`,
    ),
    "; ",
  );
}

function offText({ errorMs }: ClockOffset): string {
  const seconds = Math.abs(errorMs) / 1000;
  return `${seconds < 100 ? seconds.toFixed(1) : Math.round(seconds)} s ${errorMs > 0 ? "ahead" : "behind"}`;
}

function resolverText(e: Evidence): string {
  const odd = oddAddressOf(e);
  if (odd) return `, which leads ${odd.name} to ${odd.address}, and that is ${odd.kind}`;
  return noNameResolves(e)
    ? ": no name resolves here"
    : ": it does not know the venue's name, which resolves elsewhere";
}

function isWithoutSocket({ unmeasured }: MeasuredPart): boolean {
  return unmeasured === "sockets";
}

function networkText(e: Evidence): [string, string] {
  const { length: away } = e.controls.filter(({ measured }) => !answered(measured));
  return isCutOff(e)
    ? [
        `it is this machine's network: ${away} of ${e.controls.length} other venues cannot be reached from here, either`,
        "check this machine's connection, its firewall and its proxy",
      ]
    : [
        "it is this machine: it has no socket, port or memory left",
        "close programs with many connections, or raise the limit of open files",
      ];
}

function isRefused({ fault }: MeasuredPart): boolean {
  return fault === "blocked";
}

function placeText(e: Evidence): [string, string] {
  if (failsAlone(e, isRefused))
    return [
      `the venue refuses this country or network (${statusesOf(e, "blocked")}), and serves others`,
      "use it from another place or address, as far as its terms allow that",
    ];
  const dissent = dissentOn(e);
  return [
    dissent
      ? `the venue may not serve every place: ${dissent.regions} of ${dissent.of} regions ${dissent.regions === 1 ? "does" : "do"} not agree that ${dissent.component} works, while most regions see no trouble`
      : `the venue, or the way to it, fails this country or network alone (${faultsOf(e)}): the regions see no trouble, and other venues answer here`,
    "check a firewall or proxy in between, or use it from another place; if it began within the last minute, the regions may not have confirmed it yet: check again",
  ];
}

function unknownText(e: Evidence): string {
  const because = `is unknown, because ${reasonOf(e)}`;
  if (e.here.some(isBad)) return `it fails here (${faultsOf(e)}); whether only here ${because}`;
  const isGoodHere = e.here.some(isGood);
  if (isTrusted(e.quorum))
    return `${isGoodHere ? "it answers here, and " : ""}the regions see no trouble, but ${reasonOf(e)}`;
  return isGoodHere
    ? `it answers here; whether it also does elsewhere ${because}`
    : `it could not be measured from here, and ${reasonOf(e)}`;
}

function reasonOf(e: Evidence): string {
  const { quorum, here } = e;
  if (quorum.kind === "silent") return quorum.reason;
  // a server that fails is in trouble itself, more often everywhere than for one place
  if (failsAlone(e, answersBadly)) return "the regions, which see no trouble, may not have confirmed it yet";
  if (failsAlone(e, isBad)) return "no other venue of the registry answers here for comparison";
  const bad = here.find(isBad);
  if (bad === undefined) {
    const { component, unmeasured } = here.find((part) => part.unmeasured !== null)!;
    return `${component} could not be measured (${unmeasured})`;
  }
  const own = quorum.components.filter(({ component }) => componentsIn(bad).includes(component));
  const [because] = own.flatMap(({ unknownBecause }) => unknownBecause ?? []);
  const known = because && ofTheService(because.reason, bad.component);
  if (known) return known;
  return `the regions ${own.length > 0 ? "have too little evidence of" : "do not know"} ${bad.component}`;
}

function faultsOf({ here }: Evidence): string {
  return firstThree(
    here.filter(isBad).map(({ component, fault }) => `${component} ${fault}`),
    ", ",
  );
}

/** The first three. */
function firstThree(parts: readonly string[], between: string): string {
  const more = parts.length > 3 ? ` and ${parts.length - 3} more` : "";
  return parts.slice(0, 3).join(between) + more;
}

function statusesOf({ here }: Evidence, fault: string): string {
  const parts = here.filter((part) => part.fault === fault);
  return [...new Set(parts.map(statusOf))].join(", ");
}

/** An answer of any status may say in its words that requests are limited, or the country refused. */
function statusOf({ fault, httpStatus }: MeasuredPart): string {
  if (httpStatus === null) return "no status";
  const usual: Partial<Record<string, number[]>> = { blocked: [403, 451], limited: [402, 418, 429] };
  const isByStatus = usual[fault ?? ""]?.includes(httpStatus) ?? true;
  return `status ${httpStatus}${isByStatus ? "" : ", in the words of its answer"}`;
}

// What the evidence shows, for the rules above.

/** Below this, a wrong clock harms nobody: venues accept signed requests that are a second off. */
export const harmlessClockErrorMs = 1_000;

/** By the state of the venue, or of a component that fails here. */
function isConfirmedBad({ quorum, here }: Evidence): boolean {
  if (quorum.kind !== "confirmed") return false;
  const failing = new Set(here.filter(isBad).flatMap(componentsIn));
  const isBadHere = quorum.components.some(
    ({ component, state }) => failing.has(component) && (state === "outage" || state === "degraded"),
  );
  return quorum.state !== "operational" || isBadHere;
}

/** The components by which the venue is in trouble, if its only trouble is that it limits requests. */
function limitedToAll(e: Evidence): QuorumComponent[] {
  if (e.quorum.kind !== "confirmed" || !isConfirmedBad(e)) return [];
  const bad = e.quorum.components.filter(({ state }) => state === "outage" || state === "degraded");
  return bad.every(({ fault }) => fault === "limited") ? bad : [];
}

/** Whether a quorum confirms that the venue works. That it does not is for the first rule, before others ask. */
function isTrusted(quorum: Quorum): boolean {
  return quorum.kind === "confirmed" && quorum.state === "operational";
}

/** The component of a part, or one that shares its socket, if a quorum confirms that it works; else null. */
function confirmedIn({ quorum }: Evidence, part: MeasuredPart): QuorumComponent | null {
  if (quorum.kind !== "confirmed" || !isTrusted(quorum)) return null;
  const own = quorum.components.filter(({ component }) => componentsIn(part).includes(component));
  return own.find(({ state }) => state === "operational") ?? null;
}

/** The parts for which this holds here, while a quorum confirms that they work. */
function aloneHere(e: Evidence, holds: (part: MeasuredPart) => boolean): MeasuredPart[] {
  return e.here.filter((part) => holds(part) && confirmedIn(e, part) !== null);
}

function failsAlone(e: Evidence, holds: (part: MeasuredPart) => boolean): boolean {
  return aloneHere(e, holds).length > 0;
}

/** Without a quorum, this many unrelated hosts must fail alike. */
const fewestWithoutQuorum = 3;

function nothingAnswers(e: Evidence): boolean {
  const fewest = failsAlone(e, isNotGood) ? 1 : fewestWithoutQuorum;
  return e.controls.length >= fewest && e.here.some(isNotGood) && !allParts(e).some(answered);
}

/** Neither the venue nor most of the others can be reached. */
function isCutOff(e: Evidence): boolean {
  const away = e.controls.filter(({ measured }) => !answered(measured)).length;
  const isMost = away >= 2 && away * 2 > e.controls.length;
  return nothingAnswers(e) || (isMost && failsAlone(e, isNotGood) && !e.here.some(answered));
}

function noNameResolves(e: Evidence): boolean {
  return nothingAnswers(e) && allParts(e).every(isUnresolved);
}

/** Whether the certificates of the venue and of several unrelated hosts are all refused. */
function everyCertificateRefused({ here, controls }: Evidence): boolean {
  const isRefused = ({ fault }: MeasuredPart) => fault === "tls";
  const isEveryControl = controls.every(({ measured }) => isRefused(measured));
  return here.some(isRefused) && !here.some(answered) && controls.length >= fewestWithoutQuorum && isEveryControl;
}

function allParts({ here, controls }: Evidence): MeasuredPart[] {
  return [...here, ...controls.map(({ measured }) => measured)];
}

function isNotGood(part: MeasuredPart): boolean {
  return !isGood(part);
}

function isUnresolved({ fault, unmeasured }: MeasuredPart): boolean {
  return fault === "dns" || unmeasured === "resolver";
}

/** The parts that fail here alone and at whose host this certificate was refused. */
function refusedAlone(e: Evidence): MeasuredPart[] {
  return aloneHere(e, (part) => part.fault === "tls" && hostOfPart(part) === e.refusedCertificate?.host);
}

/** The address of a name whose host was not reached. Behind a proxy that gives out odd addresses, hosts answer. */
function oddAddressOf(e: Evidence): OddAddress | undefined {
  const unreached = new Set(aloneHere(e, (part) => isBad(part) && !answered(part)).map(hostOfPart));
  const reached = new Set(e.here.filter(answered).map(hostOfPart));
  return e.oddAddresses.find(({ name }) => unreached.has(name) && !reached.has(name));
}

function hostOfPart({ url }: MeasuredPart): string {
  return new URL(url).hostname;
}

/** The venue's servers were reached, and are in trouble themselves. */
function answersBadly({ fault, httpStatus }: MeasuredPart): boolean {
  const isOfServer = fault === "http" || fault === "halted" || fault === "body" || fault === "stale";
  return isOfServer || (fault === "handshake" && httpStatus !== null && httpStatus >= 500);
}

function isUnreachedOrRefused(part: MeasuredPart): boolean {
  return isBad(part) && !answersBadly(part);
}

interface Dissent {
  component: string;
  /** At most this many: a vote that is unknown does not agree, either. */
  regions: number;
  of: number;
}

/** Regions that do not agree that what fails here is good; null: there is none, or they see no trouble. */
function dissentOn(e: Evidence): Dissent | null {
  if (e.quorum.kind !== "confirmed") return null;
  const most = e.quorum.dissenting?.length ?? Infinity;
  const dissents = aloneHere(e, isBad).map((part): Dissent => {
    const { component, agreeing, counted } = confirmedIn(e, part)!;
    return { component, regions: Math.min(counted - agreeing, most), of: counted };
  });
  const [first] = dissents.sort((a, b) => b.regions - a.regions);
  return first !== undefined && first.regions > 0 ? first : null;
}

function isOff(clock: ClockOffset | null): boolean {
  return clock !== null && Math.abs(clock.errorMs) - clock.withinMs > harmlessClockErrorMs;
}

/** By its dates alone. */
function isOfOtherTime(refused: RefusedCertificate | null): boolean {
  return refused !== null && ["CERT_NOT_YET_VALID", "CERT_HAS_EXPIRED"].includes(refused.code);
}

/** Not the venue's own: of an authority that is not trusted, or for another name. */
function isForged(refused: RefusedCertificate | null): boolean {
  return refused !== null && !isOfOtherTime(refused);
}

/** The certificate is valid now, but not by this machine's clock. */
function isExplainedByClock({ clock, refusedCertificate: refused, at }: Evidence): boolean {
  if (refused === null || !isOfOtherTime(refused)) return false;
  const trueMs = +at - clock!.errorMs;
  return +refused.validFrom <= trueMs && trueMs <= +refused.validUntil;
}
