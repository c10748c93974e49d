import { makeClockWatch } from "../../../probe/measure/clock-error.js";
import { version } from "../../../shared/config/package.js";
import { makeLog } from "../../../shared/log/log.js";
import { watchedVenues } from "../../../shared/registry/chain-venues.js";
import { needsCredentials, withCredentials } from "../../../shared/registry/credentials.js";
import { loadRegistry } from "../../../shared/registry/load-registry.js";
import type { Registry, Venue } from "../../../shared/registry/registry.js";
import { didYouMean } from "../../../shared/text/nearest-word.js";
import { plainText } from "../../../shared/text/untrusted-text.js";
import type { Given, Options } from "../command.js";
import { endWithAnswer } from "../exit.js";
import { type MeasuredPart, partJson, partText } from "../measured-once.js";
import { plainTable } from "../print.js";
import { serviceAt, urlOption } from "../service.js";
import { stateCodes } from "../status.js";
import { answered, type DeclaredTransfers, type Evidence } from "./evidence.js";
import { examine, type Examined } from "./examine.js";
import { type CheckVerdict, type Culprit, verdictOf } from "./verdict.js";

export const help = `Says whether a venue is down, or it is just you. It asks a running venuewatch what the regions see,
and meanwhile measures the venue and four others once from this machine, as a probe does. It names the culprit within a
few seconds, or within ten if one of them is silent. The endpoints of the venue are those of the registry (REGISTRY).

The exit code is the verdict: 0 nothing is wrong, 1 the venue is degraded, 2 it is in outage, 3 it cannot be determined;
20 only this country or network is affected, 21 your requests are limited, 22 this machine's network, 23 its resolver,
24 something intercepts TLS, 25 its clock. A wrong command line or setting is 64, a bug 70. docs/check.md has the
rules.`;

export const words = ["VENUE"];

export const options = {
  url: urlOption,
  json: { type: "boolean", help: "print JSON, with all evidence" },
} satisfies Options;

/** The measurements of a venue that answers take no longer. */
const serviceWithinMs = 3_500;

export async function run({ values, words: [venue = ""] }: Given): Promise<void> {
  const clock = makeClockWatch();
  const { service, settings } = serviceAt(values["url"], {
    ...{ program: "check", timeoutMs: serviceWithinMs },
    onAnswer: ({ date, age }, askedAtMs, answeredAtMs) =>
      clock.answered("the service", date, age, askedAtMs, answeredAtMs),
  });
  const loaded = await loadRegistry(settings.registry, settings.probesPerAddress ?? 1);
  const registry = withoutCredentialed(loaded, venue);
  const examined = await examine({
    ...{ venue, registry, service, clock, log: makeLog("check", "error") },
    userAgent: `venuewatch/${version} (+${settings.siteUrl}; check)`,
  });
  const verdict = verdictOf(examined.evidence);
  const json = reportJson(service.url, verdict, examined);
  const output = values["json"] === true ? `${JSON.stringify(json, null, 2)}\n` : reportText(verdict, examined);
  await endWithAnswer(exitCodeOf(verdict, examined.evidence), output, remarkOn(venue, loaded, examined));
}

/** The registry without other venues that need credentials, which this machine may not have. */
function withoutCredentialed(registry: Registry, wanted: string): Registry {
  const isWanted = ({ id, formerIds = [] }: Venue) => [id, ...formerIds].includes(wanted);
  const venues = registry.venues.filter((venue) => isWanted(venue) || !needsCredentials(venue));
  return withCredentials({ ...registry, venues });
}

/** Advice for a better question; null if there is none. */
function remarkOn(venue: string, registry: Registry, { evidence, isUnwatched, isAway }: Examined): string | null {
  const watched = watchedVenues(registry);
  const chain = watched.find(({ id }) => id === venue)?.heads;
  if (chain) return `${venue} is read at its providers, so check one of them: ${chain.providers.join(", ")}`;
  const isUnknown = evidence.here.length === 0 && isUnwatched !== false;
  const ids = watched.map(({ id }) => id);
  if (isUnknown) return `the registry has no venue ${JSON.stringify(venue)}${didYouMean(venue, ids)}`;
  return isAway ? "the service cannot be reached; name another place with --url" : null;
}

// A verdict and its evidence, as text for people and as JSON.

/**
 * What the service says of the venue has the codes of `status`; from 20 on it is not the venue. Node itself ends with
 * codes up to 13, and a shell uses those from 126 on.
 */
const culpritExitCodes: Record<Exclude<Culprit, "venue">, number> = {
  ...{ nobody: stateCodes.operational, unknown: stateCodes.unknown },
  ...{ place: 20, "rate-limit": 21, network: 22, resolver: 23, interception: 24, clock: 25 },
};

export function exitCodeOf({ culprit }: Pick<CheckVerdict, "culprit">, { quorum }: Pick<Evidence, "quorum">): number {
  if (culprit !== "venue") return culpritExitCodes[culprit];
  return quorum.kind === "confirmed" && quorum.state === "outage" ? stateCodes.outage : stateCodes.degraded;
}

/** What `--json` prints. Fields are only added. */
export function reportJson(url: string, verdict: CheckVerdict, { evidence, typicalMs, transfers }: Examined): object {
  const { venue, quorum, here, controls, clock, ...more } = evidence;
  return {
    ...{ url, venue },
    ...{ verdict: verdict.culprit, exitCode: exitCodeOf(verdict, evidence) },
    ...{ summary: verdict.summary, advice: verdict.advice },
    service: quorum.kind === "confirmed" ? { ...quorum, problem: null } : { kind: quorum.kind, problem: quorum.reason },
    typicalMs,
    transfers,
    here: here.map(partJson),
    controls: controls.map(({ venue, measured }) => ({ venue, answered: answered(measured), ...partJson(measured) })),
    clock: clock && { errorMs: Math.round(clock.errorMs), withinMs: Math.ceil(clock.withinMs) },
    ...{ oddAddresses: more.oddAddresses, refusedCertificate: more.refusedCertificate, at: more.at },
  };
}

export function reportText(verdict: CheckVerdict, examined: Examined): string {
  const { evidence, skipped } = examined;
  const { venue, here, controls, clock } = evidence;
  const away = controls.filter(({ measured }) => !answered(measured));
  const lines: [string, string][] = [
    ["the service", serviceText(evidence)],
    ["from here", hereText(here, skipped, examined.typicalMs)],
    ["other venues", `${controls.length - away.length} of ${controls.length} answer here${awayText(away)}`],
    ["this clock", clockText(clock)],
    ...(examined.transfers === null ? [] : [["transfers", transfersText(examined.transfers)] as [string, string]]),
  ];
  return `${plainText(venue, 60)}: ${verdict.summary}\n→ ${verdict.advice}\n\n${plainTable(lines.map(([what, found]) => [`  ${what}`, found]))}`;
}

function serviceText({ quorum }: Evidence): string {
  if (quorum.kind === "silent") return `no state: ${quorum.reason}`;
  const { state, since, incidents } = quorum;
  const open = incidents.length === 0 ? "no open incident" : `open: ${incidents.join(", ")}`;
  return `${state} since ${since}; ${open}`;
}

function hereText(here: readonly MeasuredPart[], skipped: readonly MeasuredPart[], typicalMs: number | null): string {
  if (here.length === 0) return "not measured: the registry has no endpoint of it";
  const good = here.filter(({ fault, unmeasured }) => fault === null && unmeasured === null);
  const slowest = Math.max(...good.map(({ tookMs }) => tookMs ?? 0));
  const usual = typicalMs === null ? "" : `; in the regions it usually takes ${typicalMs} ms`;
  return [
    `${good.length} of ${here.length} are good${good.length === 0 ? "" : `, the slowest in ${Math.round(slowest)} ms${usual}`}`,
    ...here.filter((part) => !good.includes(part)).map(partText),
    ...(skipped.length === 0 ? [] : [`${skipped.length} not tried`]),
  ].join("; ");
}

function awayText(away: Evidence["controls"]): string {
  const named = away.map(({ venue, measured: { fault, unmeasured } }) => `${venue} ${fault ?? unmeasured}`);
  return named.length === 0 ? "" : `; not ${named.join(", ")}`;
}

/** A line has room for these. */
const mostPaused = 4;

function transfersText({ paused, unstable, because }: DeclaredTransfers): string {
  if (because !== null) return `not known: ${plainText(because, 120)}`;
  return [
    paused.length === 0 ? "none declared paused" : `declared paused: ${linesText(paused)}`,
    ...(unstable.length === 0 ? [] : [`not known, as it changes all the time: ${linesText(unstable)}`]),
  ].join("; ");
}

function linesText(lines: DeclaredTransfers["paused"]): string {
  const named = lines
    .slice(0, mostPaused)
    .map(({ direction, asset, network }) => `${direction}s of ${asset}${network === null ? "" : ` on ${network}`}`);
  const more = lines.length > mostPaused ? [`${lines.length - mostPaused} more`] : [];
  return [...named, ...more].join(", ");
}

function clockText(clock: Evidence["clock"]): string {
  if (clock === null) return "not known: fewer than three hosts agree on the time";
  const { errorMs, withinMs } = clock;
  const side = errorMs < 0 ? "behind" : "ahead of";
  return `${Math.abs(Math.round(errorMs))} ± ${Math.ceil(withinMs)} ms ${side} that of most hosts`;
}
