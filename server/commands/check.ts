import type { Given, Options } from "../cli/command.js";
import { endWithAnswer } from "../cli/exit-codes.js";
import { didYouMean } from "../../shared/text/nearest-word.js";
import { makeClockWatch } from "../../probe/network/clock-error.js";
import { version } from "../../shared/config/package.js";
import { makeLog } from "../../shared/log/log.js";
import { needsCredentials, withCredentials } from "../../shared/registry/credentials.js";
import { watchedVenues } from "../../shared/registry/chain-venues.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import type { Registry, Venue } from "../../shared/registry/registry.js";
import { examine, type Examined } from "./check/examine.js";
import { exitCodeOf, reportJson, reportText } from "./check/report.js";
import { verdictOf } from "./check/verdict.js";
import { serviceAt, url } from "./service-option.js";

export const help = `Says whether a venue is down, or it is just you. It asks a running venuewatch what the regions see,
and meanwhile measures the venue and four others once from this machine, as a probe does. It names the culprit within a
few seconds, or within ten if one of them is silent. The endpoints of the venue are those of the registry (REGISTRY).

The exit code is the verdict: 0 nothing is wrong, 1 the venue is degraded, 2 it is in outage, 3 it cannot be determined;
20 only this country or network is affected, 21 your requests are limited, 22 this machine's network, 23 its resolver,
24 something intercepts TLS, 25 its clock. A wrong command line or setting is 64, a bug 70. docs/check.md has the
rules.`;

export const words = ["VENUE"];

export const options = {
  url,
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
  const registry = askable(loaded, venue);
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
function askable(registry: Registry, wanted: string): Registry {
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
