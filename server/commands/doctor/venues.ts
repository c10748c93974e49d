/** Whether each venue of the registry can be measured from here: by the probe's own code, once. */
import { setMaxListeners } from "node:events";
import { isIP } from "node:net";
import { lookup } from "node:dns/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { type ClockWatch, makeClockWatch } from "../../../probe/network/clock-error.js";
import { isUnmeasured, type MeasurementOutcome } from "../../../probe/rest/measurement.js";
import { makeResolver, type Resolver } from "../../../probe/network/resolver.js";
import { makeRest, type Rest } from "../../../probe/rest/rest.js";
import { openSocket } from "../../../probe/stream/socket.js";
import { isBeyondBearing } from "../../../probe/network/troubles.js";
import { hostsOf, type Registry, type Venue } from "../../../shared/registry/registry.js";
import { type Finding, failure, ok, warning } from "./finding.js";

export interface Reached {
  findings: Finding[];
  clock: Finding;
}

/** Handshakes at one instant disturb each other. */
const betweenVenuesMs = 50;

/** Beyond it nothing more is begun: what is under way has its own, shorter limits. */
const allWithinMs = 15_000;

/** Authorities' clients renew 30 days before the end. */
const soonDays = 14;
const dayMs = 86_400_000;

/** Seen on one endpoint, it is so on all of its host: that is not asked in vain again. */
const ofTheHost = new Set(["dns", "connect", "tls", "timeout"]);

export async function venuesReached({ venues }: Registry, userAgent: string): Promise<Reached> {
  const clock = makeClockWatch();
  const resolver = makeResolver(venues.flatMap(hostsOf));
  const rest = makeRest({ userAgent, resolver, clock });
  const deadline = AbortSignal.timeout(allWithinMs);
  setMaxListeners(venues.length, deadline);
  try {
    const tried = await Promise.all(
      venues.map(async (venue, place) => {
        await sleep(place * betweenVenuesMs);
        const [answers, upgrades] = await Promise.all([
          endpointsOf(venue, rest, deadline),
          socketsOf(venue, userAgent, resolver),
        ]);
        return [...answers, ...upgrades];
      }),
    );
    const findings = venues.map((venue, at) => findingOf(venue, tried[at]!));
    return {
      findings: [networkFound(tried), ...findings],
      clock: clockFound(clock),
    };
  } finally {
    await rest.close();
  }
}

/** What came of one endpoint or socket. */
interface Tried {
  what: string;
  /** Null: good. */
  fault: string | null;
  /** Our own trouble, or not tried: says nothing of the venue. */
  untold: boolean;
  tookMs: number | null;
  expiresAt: Date | null;
}

/** One after the other, the first of each host over a connection of its own. */
async function endpointsOf({ rest: endpoints }: Venue, rest: Rest, deadline: AbortSignal): Promise<Tried[]> {
  const tried: Tried[] = [];
  const dead = new Map<string, string>();
  for (const endpoint of endpoints) {
    const what = `rest:${endpoint.name}`;
    const { host } = new URL(endpoint.url);
    const died = dead.get(host);
    if (died !== undefined) {
      tried.push(untold(what, `not asked after ${died}`));
      continue;
    }
    if (deadline.aborted) {
      tried.push(untold(what, "not asked for want of time"));
      continue;
    }
    const outcome = await rest.endpoint(endpoint)(deadline, true);
    const one = triedOf(what, outcome);
    tried.push(one);
    if (isUnmeasured(outcome) || ofTheHost.has(outcome.fault ?? "")) dead.set(host, what);
  }
  return tried;
}

function triedOf(what: string, outcome: MeasurementOutcome): Tried {
  if (isUnmeasured(outcome)) return untold(what, `not measured (${outcome.unmeasured})`);
  const { fault, httpStatus, latencyUs, certificateExpiresAt } = outcome;
  const status = httpStatus === null ? "" : ` (status ${httpStatus})`;
  return {
    what,
    fault: fault && `${fault}${status}`,
    untold: false,
    tookMs: latencyUs === null ? null : latencyUs / 1000,
    expiresAt: certificateExpiresAt,
  };
}

function untold(what: string, why: string): Tried {
  return { what, fault: why, untold: true, tookMs: null, expiresAt: null };
}

function socketsOf({ socket }: Venue, userAgent: string, resolver: Resolver): Promise<Tried[]> {
  if (!socket) return Promise.resolve([]);
  const urls = [socket.url, ...socket.streams.flatMap(({ url }) => url ?? [])];
  return Promise.all([...new Set(urls)].map((url) => upgraded(url, userAgent, resolver)));
}

function upgraded(url: string, userAgent: string, resolver: Resolver): Promise<Tried> {
  return new Promise((resolve) => {
    const what = `socket ${new URL(url).host}`;
    const socket = openSocket({
      ...{ url, userAgent, resolver, onHeard() {}, onMessage() {} },
      onOpen() {
        const { latencyUs, connection } = socket.opened!;
        socket.close();
        resolve({
          ...{ what, fault: null, untold: false, tookMs: latencyUs / 1000 },
          expiresAt: connection.certificateExpiresAt,
        });
      },
      onDown({ cause, detail }) {
        if ("unmeasured" in cause) return resolve(untold(what, `${cause.unmeasured}, ${detail}`));
        resolve({
          ...{ what, untold: false, tookMs: null, expiresAt: null },
          fault: `${cause.fault}, ${detail}`,
        });
      },
    });
  });
}

function findingOf({ id }: Venue, tried: Tried[]): Finding {
  const failed = tried.filter(({ fault }) => fault !== null);
  const until = tried.flatMap(({ expiresAt }) => (expiresAt ? [+expiresAt] : [])).sort((a, b) => a - b)[0];
  const leftMs = until === undefined ? null : until - Date.now();
  const found = [
    ...(failed.length < tried.length
      ? [`${tried.length - failed.length} of ${tried.length} answer well, ${slowest(tried)}`]
      : []),
    ...failed.map(({ what, fault }) => `${what}: ${fault}`),
    ...(leftMs === null ? [] : [`certificate ${lasting(leftMs)}`]),
  ].join("; ");
  const check = `venue ${id}`;
  if (failed.some((one) => !one.untold)) return failure(check, found, adviceOn(failed));
  if (failed.length > 0) return warning(check, found, "look after what is ours, and ask again");
  return leftMs !== null && leftMs < soonDays * dayMs
    ? warning(check, found, "nothing here: the venue should renew it soon")
    : ok(check, found);
}

function slowest(tried: Tried[]): string {
  const took = tried.flatMap(({ tookMs }) => tookMs ?? []);
  return `the slowest in ${Math.round(Math.max(...took))} ms`;
}

function lasting(leftMs: number): string {
  const days = Math.floor(Math.abs(leftMs) / dayMs);
  return leftMs < 0 ? `expired ${days} days ago` : `for ${days} days more`;
}

/** By the first word of a fault. */
const advices: Record<string, string> = {
  dns: "look whether its name resolves elsewhere; if so, look after this machine's resolver, else correct the registry",
  connect: "look whether a firewall stands between; if others reach it, ask the venue",
  tls: "look at its certificate with a browser; where a proxy opens connections on the way, have it leave these alone",
  blocked: "it refuses this address or country: measure it from another region, or through another address",
  limited: "something else asks it from this address: ask less, or wait",
  http: "read the venue's notices; if it has moved, correct the registry",
  body: "read the venue's notices; if its answer has changed, correct the registry",
  handshake: "read the venue's notices; if its socket has moved, correct the registry",
};

function adviceOn(failed: Tried[]): string {
  const word = /^\w+/.exec(failed.find(({ untold }) => !untold)!.fault!)![0];
  return advices[word] ?? "read the venue's notices; if it is well elsewhere, look after the way there";
}

/** Where no venue at all is reached, it is hardly their fault. */
function networkFound(tried: Tried[][]): Finding {
  const reached = tried.filter((of) => of.some(({ fault }) => fault === null));
  const found = `${reached.length} of ${tried.length} venues answer`;
  return reached.length > 0 || tried.length === 0
    ? ok("network", found)
    : failure("network", found, "look after the resolver and this machine's way to the Internet first");
}

const patienceMs = 5_000;
const mostNamed = 5;

/** Of the registry's names. */
export async function resolverFound({ venues }: Registry): Promise<Finding> {
  const hosts = [...new Set(venues.flatMap(hostsOf))].filter((host) => !isIP(host));
  if (hosts.length === 0) return ok("resolver", "not needed: the registry has addresses only");
  const begunMs = performance.now();
  const failed = (
    await Promise.all(
      hosts.map((host) =>
        Promise.race([
          lookup(host).then(
            () => null,
            ({ code }: NodeJS.ErrnoException) => `${host} (${code})`,
          ),
          sleep(patienceMs, `${host} (no answer)`, { ref: false }),
        ]),
      ),
    )
  ).filter((one) => one !== null);
  const tookMs = Math.round(performance.now() - begunMs);
  const found = `${hosts.length - failed.length} of ${hosts.length} names resolve, in ${tookMs} ms`;
  if (failed.length === 0) return ok("resolver", found);
  const more = failed.length - mostNamed;
  const named = `${found}; not ${failed.slice(0, mostNamed).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  return failed.length === hosts.length
    ? failure("resolver", named, "look after /etc/resolv.conf and the network")
    : warning("resolver", named, "look whether these resolve elsewhere; if not, correct the registry");
}

function clockFound(watch: ClockWatch): Finding {
  const reading = watch.read();
  if (reading === null)
    return warning(
      "clock",
      "fewer than three venues agree on what time it is",
      "see which venues answer; until then a wrong clock shows nowhere",
    );
  const { errorMs, withinMs } = reading;
  const found = `this clock is ${Math.round(errorMs)} ms ahead of the venues', give or take ${Math.ceil(withinMs)}`;
  const advice = "let this machine follow a time server (chrony, systemd-timesyncd)";
  if (isBeyondBearing(reading)) return failure("clock", `${found}: nothing would be recorded`, advice);
  return Math.abs(errorMs) - withinMs > 500 ? warning("clock", found, advice) : ok("clock", found);
}
