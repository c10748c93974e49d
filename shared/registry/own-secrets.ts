/**
 * The parts of an operator's registry that may be secret. Credentials should be placeholders (credentials.ts), but a
 * key may also be in the text of an address, a header, a body or a message.
 */

import { shortestHidden, withoutHidden } from "../text/hidden-text.js";
import { maskedAddress } from "../text/masked-text.js";
import { placeholders } from "./credentials.js";
import { mapTexts } from "./map-texts.js";
import { cutAddress, isOfCatalogue, isWordOfCatalogue, publicAddress, wordsOf } from "./public-address.js";
import type { PlaceInRegistry } from "./registry-problem.js";

/** Content that the venue gets: nothing in its form tells what is secret. */
const contentFields: ReadonlySet<string | number> = new Set(["body", "subscribe", "message", "text"]);

/** Fields whose texts only the venue gets. Everything else in a registry may be published. */
const sentFields: ReadonlySet<string | number> = new Set([
  ...["url", "alternatives", "api", "headers", ...contentFields],
]);

const addressFields: ReadonlySet<string> = new Set(["url", "alternatives", "api", "page", "origin", "sources"]);

const address = /\b(?:https?|wss?):[/\\]{1,2}[^\s"'<>]+/gi;
const secretName = /key(?!alive)|token|secret|pass|pwd|auth|sig|credential|bearer|jwt/i;

/**
 * A copy without secrets, in which texts of the catalogue stay whole. The registry's secrets must be hidden already.
 */
export function withoutOwnSecrets<Value>(value: Value): Value {
  return mapTexts(value, masked) as Value;
}

function masked(text: string, place: PlaceInRegistry): string {
  if (isOfCatalogue(text) || text.replace(placeholders, "") === "") return text;
  if (isSecretPlace(place)) return "***";
  return withoutHidden(text.replace(address, publicAddress));
}

/** Masks a text of an invalid registry: an address may be malformed, and in any place. */
export function maskedFound(text: string, place: PlaceInRegistry): string {
  if (isOfCatalogue(text)) return text;
  if (isSecretPlace(place)) return "***";
  if (place.some((key) => contentFields.has(key))) return "…";
  const isAddress = addressFields.has(nameAt(place)) || /[/\\]{2}/.test(text);
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
  const words = new Set(published.flatMap(wordsOf));
  const isPublic = (part: string) => wordsOf(part).every((word) => words.has(word) || isWordOfCatalogue(word));
  return [...new Set(parts)].filter((part) => part.length >= shortestHidden && !isPublic(part));
}

/** @param text for an address, the part that follows its host */
function secretPartsOf(text: string, place: PlaceInRegistry): string[] {
  const isHeader = place.includes("headers");
  const whole = isHeader || text.includes("?") ? [text.replace(/^[/?]+/, "")] : [];
  const parts = text.split(/[/?&#;,\s]+/).flatMap((item) => {
    const [, name = nameAt(place), value = item] = /^([\w.-]+)=(.+)$/.exec(item) ?? [];
    const found = [item, value, decoded(value)].flatMap((one) => [one, ...one.split(/[^\w-]+/)]);
    return isHeader || secretName.test(name) ? found : found.filter(looksLikeKey);
  });
  return [...whole, ...parts];
}

/** Neither one word nor several: those would be hidden in texts where they are no secret. */
function looksLikeKey(part: string): boolean {
  return /[0-9]|[a-z]{20}/i.test(part);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
