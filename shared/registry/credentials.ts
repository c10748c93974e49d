/**
 * Credentials of the registry: `{CREDENTIAL_NAME}` in an address behind its host, in a header, in a body or in a
 * message stands for the setting with that name. Only code that asks venues reads their values.
 */
import { WrongValue } from "../config/setting-values.js";
import { credentialIn } from "../config/settings.js";
import { UserError } from "../process/user-error.js";
import { hideTexts, maskedAddress, shortestHidden, withoutHidden } from "../text/secrets.js";
import { cutAddress, isOfCatalogue, isWordOfCatalogue, publicAddress, catalogueWords } from "./addresses.js";
import { mapTexts, must, type PlaceInRegistry, placeText, type RegistryProblem } from "./registry-problem.js";
import type { Registry, RestEndpoint, SocketConfig, Venue } from "./registry.js";

const placeholders = /\{(CREDENTIAL(?:_[A-Z0-9]+)+)\}/g;

/** Also mistyped ones. */
const placeholderAttempts = /\$?\{\s*credential_[^}]*\}?/gi;

const addressFields: ReadonlySet<unknown> = new Set(["url", "alternatives"]);
const otherFields: ReadonlySet<unknown> = new Set(["headers", "body", "subscribe", "message", "text"]);

/** Problems of placeholders in a venue: malformed ones, and those that would be published or be a part of a host. */
export function credentialRules(venue: object): RegistryProblem[] {
  const problems: RegistryProblem[] = [];
  mapTexts(venue, (text, place) => {
    for (const [found] of text.matchAll(placeholderAttempts)) problems.push(...placeholderRules(found, text, place));
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
  hideTexts(values);
  return { ...registry, venues };
}

/** The headers of an endpoint or socket for one of its addresses. Hosts of others must not get its credentials. */
export function headersAt(
  address: string,
  { url, headers = {} }: Pick<RestEndpoint | SocketConfig, "url" | "headers">,
): Record<string, string> {
  return new URL(address).origin === new URL(url).origin ? headers : {};
}

// The parts of an operator's registry that may be secret. Credentials should be placeholders (above), but a
// key may also be in the text of an address, a header, a body or a message.

/** Content that the venue gets: nothing in its form tells what is secret. */
const contentFields: ReadonlySet<string | number> = new Set(["body", "subscribe", "message", "text"]);

/** Fields whose texts only the venue gets. Everything else in a registry may be published. */
const sentFields: ReadonlySet<string | number> = new Set([
  ...["url", "alternatives", "api", "headers", ...contentFields],
]);

const urlFields: ReadonlySet<string> = new Set(["url", "alternatives", "api", "page", "origin", "sources"]);

const addressForm = /\b(?:https?|wss?):[/\\]{1,2}[^\s"'<>]+/gi;
const secretName = /key(?!alive)|token|secret|pass|pwd|auth|sig|credential|bearer|jwt/i;

/**
 * A copy without secrets, in which texts of the catalogue stay whole. The registry's secrets must be hidden already.
 */
export function withoutOwnSecrets<Value>(value: Value): Value {
  return mapTexts(value, maskedText) as Value;
}

function maskedText(text: string, place: PlaceInRegistry): string {
  if (isOfCatalogue(text) || text.replace(placeholders, "") === "") return text;
  if (isSecretPlace(place)) return "***";
  return withoutHidden(text.replace(addressForm, publicAddress));
}

/** Masks a text of an invalid registry: an address may be malformed, and in any place. */
export function maskedFound(text: string, place: PlaceInRegistry): string {
  if (isOfCatalogue(text)) return text;
  if (isSecretPlace(place)) return "***";
  if (place.some((key) => contentFields.has(key))) return "…";
  const isAddress = urlFields.has(nameAt(place)) || /[/\\]{2}/.test(text);
  return isAddress ? cutAddress(maskedAddress(text)) : maskedAddress(text);
}

/** Whether it is in a header, or named like a secret, or within something named so. */
function isSecretPlace(place: PlaceInRegistry): boolean {
  return place.some((key) => key === "headers" || secretName.test(String(key)));
}

/** `url`, also within a list of that name. */
function nameAt(place: PlaceInRegistry): string {
  return String(place.findLast((key) => typeof key === "string"));
}

/**
 * Texts of a valid registry that may be secrets: in texts that only the venue gets, the parts that look like keys or
 * are named like one, unless the catalogue or the rest of the registry also has their words.
 */
export function ownSecretsOf(registry: unknown): string[] {
  const parts: string[] = [];
  const published: string[] = [];
  mapTexts(registry, (text, place) => {
    const isSent = place.some((key) => sentFields.has(key));
    if (!isSent) published.push(text);
    else if (!isOfCatalogue(text)) {
      const host = /^\w+:\/\/[^/?#]*/.exec(text)?.[0] ?? "";
      published.push(host);
      parts.push(...secretPartsOf(text.slice(host.length).replace(placeholders, " "), place));
    }
    return text;
  });
  if (parts.length === 0) return [];
  const words = new Set(published.flatMap(catalogueWords));
  const isPublic = (part: string) => catalogueWords(part).every((word) => words.has(word) || isWordOfCatalogue(word));
  return [...new Set(parts)].filter((part) => part.length >= shortestHidden && !isPublic(part));
}

/** @param text for an address, the part that follows its host */
function secretPartsOf(text: string, place: PlaceInRegistry): string[] {
  const isHeader = place.includes("headers");
  const whole = isHeader || text.includes("?") ? [text.replace(/^[/?]+/, "")] : [];
  const parts = text.split(/[/?&#;,\s]+/).flatMap((item) => {
    const [, name = nameAt(place), value = item] = /^([\w.-]+)=(.+)$/.exec(item) ?? [];
    const found = [item, value, decodedText(value)].flatMap((one) => [one, ...one.split(/[^\w-]+/)]);
    return isHeader || secretName.test(name) ? found : found.filter(looksLikeKey);
  });
  return [...whole, ...parts];
}

/** Neither one word nor several: those would be hidden in texts where they are no secret. */
function looksLikeKey(part: string): boolean {
  return /[0-9]|[a-z]{20}/i.test(part);
}

function decodedText(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
