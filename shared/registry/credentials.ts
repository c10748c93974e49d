/**
 * Credentials of the registry: `{CREDENTIAL_NAME}` in an address behind its host, in a header, in a body or in a
 * message stands for the setting with that name. Only code that asks venues reads their values.
 */

import { WrongValue } from "../config/setting-values.js";
import { credentialIn } from "../config/settings.js";
import { UserError } from "../process/user-error.js";
import { hide } from "../text/hidden-text.js";
import { mapTexts } from "./map-texts.js";
import { must, type PlaceInRegistry, placeText, type RegistryProblem } from "./registry-problem.js";
import type { Registry, RestEndpoint, SocketConfig, Venue } from "./registry.js";

export const placeholders = /\{(CREDENTIAL(?:_[A-Z0-9]+)+)\}/g;

/** Also mistyped ones. */
const attempts = /\$?\{\s*credential_[^}]*\}?/gi;

const addressFields: ReadonlySet<unknown> = new Set(["url", "alternatives"]);
const otherFields: ReadonlySet<unknown> = new Set(["headers", "body", "subscribe", "message", "text"]);

/** Problems of placeholders in a venue: malformed ones, and those that would be published or be a part of a host. */
export function credentialRules(venue: object): RegistryProblem[] {
  const problems: RegistryProblem[] = [];
  mapTexts(venue, (text, place) => {
    for (const [found] of text.matchAll(attempts)) problems.push(...placeholderRules(found, text, place));
    return text;
  });
  return problems;
}

function placeholderRules(found: string, text: string, place: PlaceInRegistry): RegistryProblem[] {
  const isExact = found.replace(placeholders, "") === "" && !found.endsWith("_FILE}");
  const isAddress = isInAddress(place);
  const host = isAddress ? /^[^/?#]*(?:\/\/[^/?#]*)?/.exec(text)![0] : "";
  return [
    ...must(isExact, place, "a credential as {CREDENTIAL_NAME}: in capitals, without $, not ending with _FILE"),
    ...must(
      isAddress || place.some((key) => otherFields.has(key)),
      place,
      "no credential, as only addresses to measure, headers, bodies and messages may have one",
    ),
    ...must(!host.includes(found), place, "a credential only behind the host and a / or ?"),
  ];
}

function isInAddress(place: PlaceInRegistry): boolean {
  return place.some((key) => addressFields.has(key)) && !place.some((key) => otherFields.has(key));
}

/** Set by the probe, or of the connection itself. */
const ownHeaders =
  /^(host|user-agent|accept|accept-encoding|content-.*|connection|keep-alive|upgrade|te|trailer|transfer-encoding|expect|sec-websocket-.*)$/i;

/** The schema checks the form. */
export function headersRules(headers: Record<string, string> | undefined): RegistryProblem[] {
  const names = Object.keys(headers ?? {});
  return names.flatMap((name, index) => [
    ...must(!ownHeaders.test(name), ["headers", name], "no such header, as the probe sets it"),
    ...must(
      names.findIndex((other) => other.toLowerCase() === name.toLowerCase()) === index,
      ["headers", name],
      "each header once, in capitals or not",
    ),
  ]);
}

/** Whether a venue cannot be asked without credentials. */
export function needsCredentials(venue: Venue): boolean {
  return JSON.stringify(venue).search(placeholders) >= 0;
}

/**
 * The registry with the credentials in place of their placeholders; in an address they are percent-encoded. From then
 * on they are hidden in this process.
 *
 * @throws UserError with every credential that is missing or wrong, one per line, and never with a value
 */
export function withCredentials(registry: Registry, read: (name: string) => string = credentialIn): Registry {
  const problems: string[] = [];
  const values = new Set<string>();

  function valueOf(name: string, place: PlaceInRegistry): string {
    try {
      const value = read(name);
      values.add(value);
      return isInAddress(place) ? encodeURIComponent(value) : value;
    } catch (error) {
      if (!(error instanceof WrongValue)) throw error;
      problems.push(`${placeText(place, registry)}: ${error.message}`);
      return "";
    }
  }

  const fill = (text: string, place: PlaceInRegistry) =>
    text.replace(placeholders, (_, name: string) => valueOf(name, place));
  const venues = registry.venues.map((venue, index) =>
    needsCredentials(venue) ? (mapTexts(venue, fill, ["venues", index]) as Venue) : venue,
  );
  if (problems.length > 0) throw new UserError(["wrong credentials of the registry:", ...problems].join("\n  "));
  hide(values);
  return { ...registry, venues };
}

/** The headers of an endpoint or socket for one of its addresses. Hosts of others must not get its credentials. */
export function headersAt(
  address: string,
  { url, headers = {} }: Pick<RestEndpoint | SocketConfig, "url" | "headers">,
): Record<string, string> {
  return new URL(address).origin === new URL(url).origin ? headers : {};
}
