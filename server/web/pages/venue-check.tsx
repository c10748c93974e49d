/** "Is it only me?": how readers ask the venue from where they are, by the command or by their browser. */
import { isOfCatalogue, publicAddress } from "../../../shared/registry/addresses.js";
import type { Fault } from "../../../shared/measurement/sample.js";
import type { RestEndpoint, Venue } from "../../../shared/registry/registry.js";
import { isolated, nameList } from "./format.js";
import { plural, t } from "./language.js";
import { CopyButton } from "./parts.js";
import type { VenueDetail } from "./venue-measurements.js";
import { faultMeanings, stateWords } from "./words.js";

/** An endpoint as browser/check.ts asks it. */
interface AskedEndpoint {
  component: string;
  label: string;
  url: string;
  method: "GET" | "POST";
  body: unknown;
  expectStatus: number;
  timeoutMs: number;
  /** Before the next request to the venue, by its own limits. */
  pauseMs: number;
  /** Its median from the page's region. */
  p50Ms: number | null;
}

/** Enough to tell; each takes a second at venues that allow one request a second. */
const mostEndpoints = 6;

/** A browser sends no headers of ours, and gets no address or body that may hold an operator's key. */
function endpointsFor({ rest }: Venue): RestEndpoint[] {
  return rest.filter((endpoint) => endpoint.headers === undefined && isPublic(endpoint)).slice(0, mostEndpoints);
}

function isPublic({ url, body }: RestEndpoint): boolean {
  return publicAddress(url) === url && textsIn(body).every(isOfCatalogue);
}

function textsIn(part: unknown): string[] {
  if (typeof part === "string") return [part];
  return typeof part === "object" && part !== null ? Object.values(part).flatMap(textsIn) : [];
}

/** What the venue's page may connect to besides its own origin; nothing is asked before a reader wants it. */
export function originsToCheck(venue: Venue): string[] {
  return [...new Set(endpointsFor(venue).map(({ url }) => new URL(url).origin))];
}

export interface CheckSectionProps {
  config: Venue;
  detail: VenueDetail;
  baseUrl: string;
}

/** Nothing for a chain, which is read at its providers, and for what has ended. */
export function CheckSection({ config, detail, baseUrl }: CheckSectionProps) {
  if (config.rest.length === 0) return null;
  const name = isolated(config.name);
  const command = `npx venuewatch check ${config.id} --url ${baseUrl}`;
  const asked = endpointsFor(config);
  return (
    <section aria-labelledby="check">
      <h2 id="check">{t`Is it only you?`}</h2>
      <p>
        {t`This asks ${name} once from your machine as our probes do, compares, and names the culprit: the venue, or your place, network, resolver, clock or rate limit.`}
      </p>
      <pre tabIndex={0} role="region" aria-label={t`Command that checks the venue from your machine`}>
        <code>{command}</code>
      </pre>
      <p>
        <CopyButton label={t`Copy the command`} text={command} />
      </p>
      {asked.length > 0 && (
        <>
          <p>
            {t`A browser can ask as well, as far as ${name} lets web pages read its answers.`}{" "}
            {plural(
              asked.length,
              "It sends nothing before you want it, and then at most two requests to one endpoint at {1}.",
              "It sends nothing before you want it, and then at most two requests to each of {0} endpoints at {1}.",
              nameList(originsToCheck(config).map((origin) => new URL(origin).host)),
            )}
          </p>
          <CheckButton {...{ config, asked, detail }} />
        </>
      )}
    </section>
  );
}

/** Only for readers with JavaScript (browser/check.ts), as the copy button is. */
function CheckButton({ config, asked, detail }: Omit<CheckSectionProps, "baseUrl"> & { asked: RestEndpoint[] }) {
  return (
    <p>
      <button
        type="button"
        class="scripted"
        aria-label={t`Check from this browser`}
        data-check={JSON.stringify(asked.map((endpoint) => askedEndpoint(endpoint, config, detail)))}
        data-state={`/v1/targets/${config.id}/state`}
        data-words={JSON.stringify(wordsFor(config))}
      />
    </p>
  );
}

function askedEndpoint(endpoint: RestEndpoint, venue: Venue, { endpoints }: VenueDetail): AskedEndpoint {
  const { name, label, url, method, body = null, expectStatus, timeoutMs } = endpoint;
  const component = `rest:${name}`;
  const measured = endpoints.find((one) => one.component === component);
  return {
    ...{ component, label, url, method, body, expectStatus, timeoutMs, pauseMs: pauseOf(venue, endpoint) },
    p50Ms: measured?.p50Ms ?? null,
  };
}

const leastPauseMs = 200;
const mostPauseMs = 2_000;

/** The time between two requests that the venue's strictest limit of an address allows. */
function pauseOf({ limits = [] }: Venue, { name, url }: RestEndpoint): number {
  const { origin } = new URL(url);
  const pauses = limits
    .filter((limit) => limit.origin === origin && limit.per === "address" && (limit.endpoints?.includes(name) ?? true))
    .map(({ requests, periodMs }) => Math.ceil(periodMs / requests));
  return Math.min(mostPauseMs, Math.max(leastPauseMs, ...pauses));
}

/** Seen in the content of an answer alone, which a browser does not check. */
const unseenFaults: readonly Fault[] = ["body", "stale", "halted"];

/** What the script says, here with all other words. `{}` stands for a number or a text. */
function wordsFor({ name }: Venue) {
  const venue = isolated(name);
  return {
    columns: [t`Endpoint`, t`From this browser`, t`Our regions`],
    again: t`Check again`,
    asking: t`Asking ${"{}"} …`,
    good: t`answered in ${"{}"} ms`,
    status: t`answered with status ${"{}"}`,
    limited: t`limits your requests (status ${"{}"})`,
    blocked: t`refuses your country or address (status ${"{}"})`,
    silent: t`no answer in ${"{}"} s`,
    unreadable: t`is reached, but does not let web pages read its answer`,
    unreached: t`not reached`,
    states: stateWords,
    faults: faultMeanings,
    unseen: Object.fromEntries(unseenFaults.map((fault) => [fault, faultMeanings[fault]])),
    typical: t`typically ${"{}"} ms`,
    unknown: t`We cannot tell how our regions see it at the moment.`,
    verdicts: {
      bothGood: t`${venue} answers this browser, and works for our regions. What the answers contain was not checked from here.`,
      onlyHereGood: t`${venue} answers this browser at this moment, although our regions see trouble. What the answers contain was not checked from here.`,
      hidden: t`${venue} answers this browser, but our regions see trouble that a browser does not see: ${"{}"}.`,
      limited: t`${venue} limits your requests, which is no outage: wait before you check again.`,
      alsoBad: t`Our regions see trouble, too; the table has it.`,
      onlyHereBad: t`It fails from this browser while our regions see it work: your network, country, address, or an extension of the browser is the likelier cause. The command above names it.`,
      bothBad: t`It fails from this browser, as it does from our regions: it is not just you.`,
      partlyBad: t`Some of what fails from this browser fails for our regions, too, and some works for them. So there may be trouble on your side as well: the command above names it.`,
      part: t`${"{}"} of ${"{}"} endpoints failed from this browser.`,
      onlyHerePart: t`Our regions see no trouble there; the command above names the cause.`,
      bothPart: t`Our regions see trouble there, too: it is not just you.`,
      partlyPart: t`Our regions see trouble in some of them, too; the command above tells what is on your side.`,
      hereGood: t`${venue} answers this browser. What the answers contain was not checked from here.`,
      hereBad: t`It fails from this browser.`,
      unreadable: t`This browser reaches ${venue}, which does not let web pages read its answers. So it cannot tell whether they are good; the command above can.`,
      offline: t`This browser is offline.`,
    },
  };
}
