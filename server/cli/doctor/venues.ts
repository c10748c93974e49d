/** Measures each venue of the registry once, with the probe's own code. */
import { lookup } from "node:dns/promises";
import { setMaxListeners } from "node:events";
import { isIP } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type ClockWatch, exceedsTolerance, makeClockWatch } from "../../../probe/measure/clock-error.js";
import { makeRest } from "../../../probe/measure/rest/rest.js";
import { makeResolver } from "../../../probe/network/resolver.js";
import { unmeasuredReasons } from "../../../shared/measurement/sample.js";
import { hostsOf } from "../../../shared/registry/components.js";
import type { Registry, Venue } from "../../../shared/registry/registry.js";
import { endpointsOnce, type MeasuredPart, socketsOnce } from "../measured-once.js";
import { type Finding, failure, ok, warning } from "./finding.js";

export interface Reached {
  findings: Finding[];
  clock: Finding;
}

/** Simultaneous handshakes would disturb each other. */
const betweenVenuesMs = 50;

/** After this no measurement is started; each has its own, shorter timeout. */
const startWithinMs = 15_000;

/** ACME clients usually renew 30 days before the end. */
const warnExpiryDays = 14;
const dayMs = 86_400_000;

export async function venuesReached({ venues }: Registry, userAgent: string): Promise<Reached> {
  const clock = makeClockWatch();
  const resolver = makeResolver(venues.flatMap(hostsOf));
  const rest = makeRest({ userAgent, resolver, clock });
  const deadline = AbortSignal.timeout(startWithinMs);
  setMaxListeners(venues.length, deadline);
  try {
    const tried = await Promise.all(
      venues.map(async (venue, place) => {
        await sleep(place * betweenVenuesMs);
        const [answers, upgrades] = await Promise.all([
          endpointsOnce(venue.rest, (endpoint) => rest.endpoint(endpoint), deadline),
          socketsOnce(venue, userAgent, resolver),
        ]);
        return [...answers, ...upgrades].map(triedOf);
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

/** The result for one endpoint or socket. */
interface Tried {
  what: string;
  /** Null: good. */
  fault: string | null;
  /** A trouble of our own, or not tried: says nothing about the venue. */
  inconclusive: boolean;
  tookMs: number | null;
  expiresAt: Date | null;
}

function triedOf({ component, url, fault, unmeasured, httpStatus, detail, tookMs, ...more }: MeasuredPart): Tried {
  const isRest = component.startsWith("rest:");
  const what = isRest ? component : `socket ${new URL(url).host}`;
  const why = isRest ? (httpStatus === null ? "" : ` (status ${httpStatus})`) : `, ${detail}`;
  const expiresAt = more.certificateExpiresAt;
  if (unmeasured === null) return { what, fault: fault && `${fault}${why}`, inconclusive: false, tookMs, expiresAt };
  const isReason = unmeasuredReasons.some((reason) => reason === unmeasured);
  const said = isRest ? (isReason ? `not measured (${unmeasured})` : unmeasured) : `${unmeasured}${why}`;
  return { what, fault: said, inconclusive: true, tookMs, expiresAt };
}

function findingOf(venue: Venue, tried: Tried[]): Finding {
  const failed = tried.filter(({ fault }) => fault !== null);
  const until = tried.flatMap(({ expiresAt }) => (expiresAt ? [+expiresAt] : [])).sort((a, b) => a - b)[0];
  const leftMs = until === undefined ? null : until - Date.now();
  const found = [
    ...(failed.length < tried.length
      ? [`${tried.length - failed.length} of ${tried.length} are good, ${slowestText(tried)}`]
      : []),
    ...failed.map(({ what, fault }) => `${what}: ${fault}`),
    ...(leftMs === null ? [] : [`certificate ${daysText(leftMs)}`]),
  ].join("; ");
  const check = `venue ${venue.id}`;
  const faults = failed.filter(({ inconclusive }) => !inconclusive).map(({ fault }) => /^\w+/.exec(fault!)![0]);
  if (faults.length > 0) return failure(check, found, adviceOn(faults, venue));
  if (failed.length > 0) return warning(check, found, "correct the trouble of this machine, then run doctor again");
  return leftMs !== null && leftMs < warnExpiryDays * dayMs
    ? warning(check, found, "nothing to do here: the venue should renew its certificate soon")
    : ok(check, found);
}

function slowestText(tried: Tried[]): string {
  const took = tried.flatMap(({ tookMs }) => tookMs ?? []);
  return `the slowest in ${Math.round(Math.max(...took))} ms`;
}

function daysText(leftMs: number): string {
  const days = Math.floor(Math.abs(leftMs) / dayMs);
  return leftMs < 0 ? `expired ${days} days ago` : `valid for ${days} more days`;
}

const adviceOnFault: Record<string, string> = {
  dns: "check whether its name resolves elsewhere; if so, check this machine's resolver, else correct the registry",
  connect: "check for a firewall in between; if it is reachable elsewhere, ask the venue",
  tls: "check its certificate with a browser; exclude it from a proxy that intercepts TLS",
  blocked:
    "it refuses this address or country: measure it from another region or address, or give the region other hosts of the venue in the registry",
  limited:
    "this address sends it too many requests: set PROBES_PER_ADDRESS to the number of probes on it, lengthen cadences, or wait",
  halted: "the venue itself says that it does not trade: read its notices",
  http: "read the venue's notices; if it has moved, correct the registry",
  body: "read the venue's notices; if its answer changed, correct the registry",
  handshake: "read the venue's notices; if its socket has moved, correct the registry",
};

/**
 * What to do about each of the faults.
 *
 * @param venue where the faults are; undefined: the registry no longer has it
 */
export function adviceOn(faults: readonly string[], venue: Venue | undefined): string {
  const words = faults.map((fault) => {
    const advice =
      adviceOnFault[fault] ?? "read the venue's notices; if it works elsewhere, check the network path to it";
    const block = fault === "blocked" ? venue?.blockedIn : undefined;
    return block ? `${advice}; it does not serve ${block.countries.join(", ")} (${block.source})` : advice;
  });
  return [...new Set(words)].join("; ");
}

/** If no venue at all is reached, the fault is most likely here. */
function networkFound(tried: Tried[][]): Finding {
  const reached = tried.filter((of) => of.some(({ fault }) => fault === null));
  const found = `${reached.length} of ${tried.length} venues answer`;
  return reached.length > 0 || tried.length === 0
    ? ok("network", found)
    : failure("network", found, "first check the resolver and this machine's Internet connection");
}

const lookupTimeoutMs = 5_000;
const maxNamed = 5;

/** Resolves all names of the registry. */
export async function resolverFound({ venues }: Registry): Promise<Finding> {
  const hosts = [...new Set(venues.flatMap(hostsOf))].filter((host) => !isIP(host));
  if (hosts.length === 0) return ok("resolver", "not needed: the registry has addresses only");
  const startedMs = performance.now();
  const failed = (
    await Promise.all(
      hosts.map((host) =>
        Promise.race([
          lookup(host).then(
            () => null,
            ({ code }: NodeJS.ErrnoException) => `${host} (${code})`,
          ),
          sleep(lookupTimeoutMs, `${host} (no answer)`, { ref: false }),
        ]),
      ),
    )
  ).filter((one) => one !== null);
  const tookMs = Math.round(performance.now() - startedMs);
  const found = `${hosts.length - failed.length} of ${hosts.length} names resolve, in ${tookMs} ms`;
  if (failed.length === 0) return ok("resolver", found);
  const more = failed.length - maxNamed;
  const named = `${found}; these do not: ${failed.slice(0, maxNamed).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  return failed.length === hosts.length
    ? failure("resolver", named, "check /etc/resolv.conf and the network")
    : warning("resolver", named, "check whether these resolve elsewhere; if not, correct the registry");
}

function clockFound(watch: ClockWatch): Finding {
  const reading = watch.read();
  if (reading === null)
    return warning(
      "clock",
      "fewer than three venues agree on the time",
      "correct the venues that do not answer; until then a wrong clock is not detected",
    );
  const { errorMs, withinMs } = reading;
  const found = `this clock is ${Math.round(errorMs)} ± ${Math.ceil(withinMs)} ms ahead of the venues'`;
  const advice = "synchronise this machine with a time server (chrony, systemd-timesyncd)";
  if (exceedsTolerance(reading)) return failure("clock", `${found}: no sample would be recorded`, advice);
  return Math.abs(errorMs) - withinMs > 500 ? warning("clock", found, advice) : ok("clock", found);
}
