/** What the evidence shows, for the rules of verdict.ts. */
import type { MeasuredPart } from "../measured-once.js";
import {
  answered,
  type ClockOffset,
  type Evidence,
  isBad,
  isGood,
  type OddAddress,
  componentsIn,
  type Quorum,
  type QuorumComponent,
  type RefusedCertificate,
} from "./evidence.js";

/** Below this, a wrong clock harms nobody: venues accept signed requests that are a second off. */
export const tolerableClockErrorMs = 1_000;

/** By the state of the venue, or of a component that fails here. */
export function isConfirmedBad({ quorum, here }: Evidence): boolean {
  if (quorum.kind !== "confirmed") return false;
  const failing = new Set(here.filter(isBad).flatMap(componentsIn));
  const isBadHere = quorum.components.some(
    ({ component, state }) => failing.has(component) && (state === "outage" || state === "degraded"),
  );
  return quorum.state !== "operational" || isBadHere;
}

/** The components by which the venue is in trouble, if its only trouble is that it limits requests. */
export function limitedToAll(e: Evidence): QuorumComponent[] {
  if (e.quorum.kind !== "confirmed" || !isConfirmedBad(e)) return [];
  const bad = e.quorum.components.filter(({ state }) => state === "outage" || state === "degraded");
  return bad.every(({ fault }) => fault === "limited") ? bad : [];
}

/** Whether a quorum confirms that the venue works. That it does not is for the first rule, before others ask. */
export function isTrusted(quorum: Quorum): boolean {
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

export function failsAlone(e: Evidence, holds: (part: MeasuredPart) => boolean): boolean {
  return aloneHere(e, holds).length > 0;
}

/** Without a quorum, this many unrelated hosts must fail alike. */
const fewestWithoutQuorum = 3;

function nothingAnswers(e: Evidence): boolean {
  const fewest = failsAlone(e, isNotGood) ? 1 : fewestWithoutQuorum;
  return e.controls.length >= fewest && e.here.some(isNotGood) && !allParts(e).some(answered);
}

/** Neither the venue nor most of the others can be reached. */
export function isCutOff(e: Evidence): boolean {
  const away = e.controls.filter(({ measured }) => !answered(measured)).length;
  const isMost = away >= 2 && away * 2 > e.controls.length;
  return nothingAnswers(e) || (isMost && failsAlone(e, isNotGood) && !e.here.some(answered));
}

export function noNameResolves(e: Evidence): boolean {
  return nothingAnswers(e) && allParts(e).every(isUnresolved);
}

/** Whether the certificates of the venue and of several unrelated hosts are all refused. */
export function everyCertificateRefused({ here, controls }: Evidence): boolean {
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

export function isUnresolved({ fault, unmeasured }: MeasuredPart): boolean {
  return fault === "dns" || unmeasured === "resolver";
}

/** The parts that fail here alone and at whose host this certificate was refused. */
export function refusedAlone(e: Evidence): MeasuredPart[] {
  return aloneHere(e, (part) => part.fault === "tls" && hostOf(part) === e.refusedCertificate?.host);
}

/** The address of a name whose host was not reached. Behind a proxy that gives out odd addresses, hosts answer. */
export function oddAddressOf(e: Evidence): OddAddress | undefined {
  const unreached = new Set(aloneHere(e, (part) => isBad(part) && !answered(part)).map(hostOf));
  const reached = new Set(e.here.filter(answered).map(hostOf));
  return e.oddAddresses.find(({ name }) => unreached.has(name) && !reached.has(name));
}

function hostOf({ url }: MeasuredPart): string {
  return new URL(url).hostname;
}

/** The venue's servers were reached, and are in trouble themselves. */
export function answersBadly({ fault, httpStatus }: MeasuredPart): boolean {
  const isOfServer = fault === "http" || fault === "halted" || fault === "body" || fault === "stale";
  return isOfServer || (fault === "handshake" && httpStatus !== null && httpStatus >= 500);
}

export function isUnreachedOrRefused(part: MeasuredPart): boolean {
  return isBad(part) && !answersBadly(part);
}

interface Dissent {
  component: string;
  /** At most this many: a vote that is unknown does not agree, either. */
  regions: number;
  of: number;
}

/** Regions that do not agree that what fails here is good; null: there is none, or they see no trouble. */
export function dissentOn(e: Evidence): Dissent | null {
  if (e.quorum.kind !== "confirmed") return null;
  const most = e.quorum.dissenting?.length ?? Infinity;
  const dissents = aloneHere(e, isBad).map((part): Dissent => {
    const { component, agreeing, counted } = confirmedIn(e, part)!;
    return { component, regions: Math.min(counted - agreeing, most), of: counted };
  });
  const [first] = dissents.sort((a, b) => b.regions - a.regions);
  return first !== undefined && first.regions > 0 ? first : null;
}

export function isOff(clock: ClockOffset | null): boolean {
  return clock !== null && Math.abs(clock.errorMs) - clock.withinMs > tolerableClockErrorMs;
}

/** By its dates alone. */
export function isOfOtherTime(refused: RefusedCertificate | null): boolean {
  return refused !== null && ["CERT_NOT_YET_VALID", "CERT_HAS_EXPIRED"].includes(refused.code);
}

/** Not the venue's own: of an authority that is not trusted, or for another name. */
export function isForged(refused: RefusedCertificate | null): boolean {
  return refused !== null && !isOfOtherTime(refused);
}

/** The certificate is valid now, but not by this machine's clock. */
export function isExplainedByClock({ clock, refusedCertificate: refused, at }: Evidence): boolean {
  if (refused === null || !isOfOtherTime(refused)) return false;
  const trueMs = +at - clock!.errorMs;
  return +refused.validFrom <= trueMs && trueMs <= +refused.validUntil;
}
