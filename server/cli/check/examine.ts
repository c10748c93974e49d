/** Gathers the evidence: asks the service, and measures the venue and other venues from here. */
import { setMaxListeners } from "node:events";
import { isIP, type LookupFunction } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { connect, type PeerCertificate, type TLSSocket } from "node:tls";
import { VenuewatchError } from "@venuewatch/client";
import { makeChainHeads } from "../../../probe/measure/chain.js";
import type { ClockWatch } from "../../../probe/measure/clock-error.js";
import { type Measurement, nothingMeasured } from "../../../probe/measure/measurement.js";
import { makeAgeVerdict } from "../../../probe/measure/rest/age-verdict.js";
import { makeRest, type Measure, type Rest } from "../../../probe/measure/rest/rest.js";
import { makeResolver, type Resolver } from "../../../probe/network/resolver.js";
import { isLocalhost, kindOfAddress } from "../../../shared/http/safe-address.js";
import type { Log } from "../../../shared/log/log.js";
import { readChains } from "../../../shared/registry/chain-venues.js";
import { hostsOf } from "../../../shared/registry/components.js";
import type { Registry, RestEndpoint, Venue } from "../../../shared/registry/registry.js";
import { withoutEnded } from "../../../shared/registry/venue-end.js";
import { plainText } from "../../../shared/text/untrusted-text.js";
import type { TransfersBody, VenueBody, VenueStateBody } from "../../web/agents/agent-source.js";
import { quotedError, quotedTexts } from "../../web/agents/quoted.js";
import { endpointsOnce, isSkipped, type MeasuredPart, socketsOnce } from "../measured-once.js";
import type { RemoteService } from "../service.js";
import {
  type DeclaredTransfers,
  type Evidence,
  type Quorum,
  type Control,
  type OddAddress,
  type RefusedCertificate,
  ofTheService,
} from "./evidence.js";

export interface Examination {
  /** As the user gave it. */
  venue: string;
  registry: Registry;
  service: RemoteService;
  /** Compares this machine's clock with all hosts that answer. */
  clock: ClockWatch;
  userAgent: string;
  log: Log;
  /** Less time for the measurements, for tests. */
  withinMs?: number;
  /** Default: the system's. */
  lookup?: LookupFunction | undefined;
}

export interface Examined extends Omit<Asked, "quorum"> {
  evidence: Evidence;
  /** Parts of the venue that were not tried, because others of the host failed, or for lack of time. */
  skipped: readonly MeasuredPart[];
}

/**
 * After this time no measurement starts, and running ones are given up, which is no fault of the venue. The probe waits
 * ten seconds for a socket and half as long for an answer: with less time, the silence of a firewall would be no fault.
 */
const measureWithinMs = 10_500;

/** The system's look-ups cannot be cancelled: this long after the measurements we stop waiting for them. */
const lookupsLaterMs = 500;

/** Reading a refused certificate comes after the measurements. */
const certificateWithinMs = 1_000;

export async function examine(examination: Examination): Promise<Examined> {
  const { registry, service, clock, lookup, withinMs = measureWithinMs } = examination;
  const asked = examination.venue;
  const venue = registry.venues.find(({ id, formerIds = [] }) => [id, ...formerIds].includes(asked)) ?? null;
  const controls = controlsFor(withoutEnded(registry, Date.now()), venue);
  const resolver = makeResolver([...(venue ? hostsOf(venue) : []), ...controls.flatMap(hostsOf)], lookup);
  const rest = makeRest({ userAgent: examination.userAgent, resolver, clock });
  try {
    const [said, own, others, oddAddresses] = await Promise.all([
      askService(service, asked),
      venue ? measuredHere(venue, { ...examination, withinMs, rest, resolver }) : [],
      measuredControls(controls, rest, withinMs),
      venue ? oddAddressesOf(venue, resolver.lookup, withinMs) : [],
    ]);
    const here = own.filter((part) => !isSkipped(part));
    const evidence: Evidence = {
      ...{ venue: asked, quorum: said.quorum },
      ...{ here, controls: others, oddAddresses },
      refusedCertificate: await certificateRefusedIn(here, resolver.lookup),
      clock: clock.read(),
      at: new Date(),
    };
    const { isUnwatched, isAway, typicalMs, transfers } = said;
    return { evidence, skipped: own.filter(isSkipped), isUnwatched, isAway, typicalMs, transfers };
  } finally {
    await rest.close();
  }
}

/** Four, so that three are left to compare clocks with while one has trouble of its own. */
const mostControls = 4;

/** Other venues from all over the registry, since neighbours there may share an operator. */
function controlsFor({ venues }: Registry, venue: Venue | null): Venue[] {
  const taken = new Set(venue ? hostsOf(venue) : []);
  const others = venues.filter((one) => one !== venue && one.rest.length > 0 && !hostsOf(one).some(isTaken));
  const step = Math.max(1, Math.floor(others.length / mostControls));
  return others.filter((_, at) => at % step === 0).slice(0, mostControls);

  // addresses of this machine differ only by their ports, which hosts lack
  function isTaken(host: string): boolean {
    return taken.has(host) && kindOfAddress(host) !== "loopback";
  }
}

interface Tools extends Pick<Examination, "registry" | "userAgent" | "log"> {
  rest: Rest;
  resolver: Resolver;
  withinMs: number;
}

async function measuredHere(venue: Venue, { registry, userAgent, log, ...tools }: Tools): Promise<MeasuredPart[]> {
  const { rest, resolver, withinMs } = tools;
  const heads = makeChainHeads(readChains(registry));
  const measureOf = (endpoint: RestEndpoint) =>
    rest.endpoint(endpoint, makeAgeVerdict({ venue, endpoint, clock: clockUnread, heads, counterpart: null, log }));
  const [answers, upgrades] = await Promise.all([
    endpointsOnce(
      venue.rest,
      (endpoint) => boundedMeasure(endpoint, measureOf(endpoint), withinMs),
      deadlineSignal(withinMs),
    ),
    socketsOnce(venue, userAgent, resolver, withinMs),
  ]);
  return [...answers, ...upgrades];
}

/**
 * No reading, so ages are judged by the server's own date: too few hosts have answered yet, and a reading is kept for a
 * second, so the final one would be just as poor.
 */
const clockUnread = { read: () => null };

function measuredControls(controls: readonly Venue[], rest: Rest, withinMs: number): Promise<Control[]> {
  return Promise.all(
    controls.map(async ({ id, rest: endpoints }): Promise<Control> => {
      const one = endpoints.slice(0, 1);
      const measureOf = (endpoint: RestEndpoint) => boundedMeasure(endpoint, rest.endpoint(endpoint), withinMs);
      const [measured] = await endpointsOnce(one, measureOf, deadlineSignal(withinMs));
      return { venue: id, measured: measured! };
    }),
  );
}

function deadlineSignal(withinMs: number): AbortSignal {
  const signal = AbortSignal.timeout(withinMs);
  setMaxListeners(0, signal);
  return signal;
}

/** A hanging look-up may outlive the deadline: then it is the name that got no answer. */
function boundedMeasure({ url }: RestEndpoint, measure: Measure, withinMs: number): Measure {
  const hung = { ...nothingMeasured, fault: isIP(new URL(url).hostname) ? "timeout" : "dns" } as const;
  return (signal, fresh) =>
    Promise.race([measure(signal, fresh), sleep<Measurement>(withinMs + lookupsLaterMs, hung, { ref: false })]);
}

/** The odd addresses of names that should be public. Names without an answer are left out. */
async function oddAddressesOf(venue: Venue, lookup: LookupFunction, withinMs: number): Promise<OddAddress[]> {
  const names = [...new Set(hostsOf(venue))].filter((host) => !isIP(host) && !isLocalhost(host));
  const found = await Promise.all(
    names.map(async (name) => {
      const addresses = await addressesOf(name, lookup, withinMs + lookupsLaterMs);
      return addresses.map((address) => ({ name, address, kind: kindOfAddress(address) }));
    }),
  );
  return found.flat().filter(({ kind }) => kind !== "public");
}

function addressesOf(name: string, lookup: LookupFunction, withinMs: number): Promise<string[]> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve([]), withinMs);
    lookup(name, { all: true }, (error, found) => {
      clearTimeout(timer);
      // the measurement reports the error
      if (error) return resolve([]);
      resolve(typeof found === "string" ? [found] : found.map(({ address }) => address));
    });
  });
}

/** Of the first part whose handshake failed. */
async function certificateRefusedIn(
  here: readonly MeasuredPart[],
  lookup: LookupFunction,
): Promise<RefusedCertificate | null> {
  const refused = here.find(({ fault, url }) => fault === "tls" && /^(?:https|wss):/.test(url));
  return refused ? refusedCertificate(new URL(refused.url), lookup, certificateWithinMs) : null;
}

/**
 * The certificate that a server presents, if this machine refuses it. The handshake is completed so that it can be
 * read; nothing is sent.
 *
 * @returns null if it is accepted, or none was presented in time
 */
function refusedCertificate(
  address: URL,
  lookup: LookupFunction,
  withinMs: number,
): Promise<RefusedCertificate | null> {
  const { hostname: host, port } = address;
  return new Promise((resolve) => {
    const socket = connect({
      ...{ host, port: Number(port) || 443, lookup, servername: isIP(host) ? "" : host },
      // only to read it
      rejectUnauthorized: false,
    });
    const timer = setTimeout(() => end(null), withinMs);
    // without a handshake there is no certificate
    socket.on("error", () => end(null));
    socket.once("secureConnect", () => end(refusalOf(socket, host)));

    function end(refused: RefusedCertificate | null) {
      clearTimeout(timer);
      socket.destroy();
      resolve(refused);
    }
  });
}

function refusalOf(socket: TLSSocket, host: string): RefusedCertificate | null {
  if (socket.authorized) return null;
  // contrary to the types, it is empty if there is no certificate
  const { issuer, valid_from: from, valid_to: until } = socket.getPeerCertificate() as Partial<PeerCertificate>;
  if (issuer === undefined || from === undefined || until === undefined) return null;
  // contrary to the types, the code of the verification, or the error of the check of names
  const error = socket.authorizationError as unknown as string | NodeJS.ErrnoException;
  const code = typeof error === "string" ? error : (error.code ?? "refused");
  const name = [issuer.CN, issuer.O].find((part) => part !== undefined);
  const validFrom = new Date(from);
  const validUntil = new Date(until);
  return { host, code: plainText(code, 60), issuer: plainText(String(name ?? "no name"), 100), validFrom, validUntil };
}

interface Asked {
  quorum: Quorum;
  /** Whether the service does not watch the venue; null: it did not say. */
  isUnwatched: boolean | null;
  isAway: boolean;
  /** Its typical REST latency in the regions, milliseconds; null: not known. */
  typicalMs: number | null;
  transfers: DeclaredTransfers | null;
}

/** What the service says of a venue. Never rejects because of the service. */
export async function askService(service: RemoteService, venue: string): Promise<Asked> {
  const [state, seen, declared] = await Promise.all([
    orError(service.state(venue)),
    orError(service.venue(venue)),
    orError(service.transfers({ venue })),
  ]);
  if (state instanceof VenuewatchError) {
    const isUnwatched = state.status === 404 && state.problem !== null ? true : null;
    const reason = isUnwatched ? `the service at ${service.url} does not watch it` : quotedError(state);
    const isAway = state.status === null;
    return { quorum: { kind: "silent", reason }, isUnwatched, isAway, typicalMs: null, transfers: null };
  }
  // without them, a vote that is unknown counts among those that do not agree
  const regions = seen instanceof VenuewatchError ? null : seen;
  const quorum = quorumOf(quotedTexts(state), regions);
  // an earlier release does not have them
  const transfers = declared instanceof VenuewatchError ? null : transfersOf(quotedTexts(declared));
  return { quorum, isUnwatched: false, isAway: false, typicalMs: regions?.typicalMs ?? null, transfers };
}

/** Null if the venue has no list, or nothing of it is known for sure. */
function transfersOf({ stale, sources: [source], transfers }: TransfersBody): DeclaredTransfers | null {
  if (stale || source === undefined) return null;
  if (source.state !== "readable")
    return { paused: [], unstable: [], because: source.because ?? "its list was not read yet" };
  const linesThat = (holds: (line: TransfersBody["transfers"][number]["deposit"]) => boolean) =>
    transfers.flatMap(({ asset, network, venueNetwork, ...line }) =>
      (["withdrawal", "deposit"] as const)
        .filter((direction) => holds(line[direction]))
        .map((direction) => ({ direction, asset, network: network ?? venueNetwork })),
    );
  const paused = linesThat(({ state }) => state === "paused");
  return { paused, unstable: linesThat(({ unstable }) => unstable), because: null };
}

async function orError<Body>(reading: Promise<Body>): Promise<Body | VenuewatchError> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof VenuewatchError) return error;
    throw error;
  }
}

function quorumOf(venue: VenueStateBody, seen: VenueBody | null): Quorum {
  const { state, since, components, stale, ageSeconds } = venue;
  if (stale) {
    const age = ageSeconds === null ? "" : `for ${ageSeconds} s`;
    return { kind: "silent", reason: `the service has decided nothing ${age || "yet"}, so its state is old` };
  }
  if (state === "unknown") return { kind: "silent", reason: unknownText(components) };
  const incidents = components.flatMap(({ incident }) => incident ?? []);
  return { kind: "confirmed", state, since, components, dissenting: dissentingIn(seen), incidents };
}

function unknownText(components: VenueStateBody["components"]): string {
  const [because] = components.flatMap(({ unknownBecause }) => unknownBecause ?? []);
  return (because && ofTheService(because.reason, "it")) ?? "the service's regions have too little evidence";
}

function dissentingIn(seen: VenueBody | null): string[] | null {
  if (seen === null) return null;
  const voters = seen.regions.compare.filter(({ reporting, impaired }) => reporting && !impaired);
  return voters.filter(({ state }) => state === "outage" || state === "degraded").map(({ region }) => region);
}
