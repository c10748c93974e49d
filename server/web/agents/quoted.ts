/**
 * Texts of others, as agents and terminals get them. A model reads everything as one text, so a name or a title could
 * pretend to be an instruction, or hide one in characters that people do not see.
 */
import { plainText, webAddress } from "../../../shared/text/untrusted-text.js";

/**
 * Characters without a shape of their own, except the joiners of emoji and Indic scripts: tags and selectors can spell
 * out whole sentences invisibly.
 */
const invisibleCharacters = /(?![\u200c\u200d])[\p{Cf}\p{Co}\p{Cn}\p{Cs}]|[\u{e0100}-\u{e01ef}]/gu;

/** A field of one line, without characters that control the text around it. */
export function quoted(text: string, most: number): string {
  return plainText(text.replace(invisibleCharacters, ""), most);
}

/** A venue or a region as sentences name it: the quotes show where its name ends. */
export function namedVenue({ id, name }: { id: string; name: string }): string {
  return `"${quoted(name, mostName).replaceAll('"', "'")}" (${id})`;
}

/** The longest name that a registry may have. */
export const mostName = 100;

/** The longest text of a notice's title, and of what a caller sent. */
export const mostTitle = 200;

/** The longest text of why something is unknown or failed. */
export const mostDetail = 600;

const mostAddress = 300;

/** A link that a venue gave: null unless it is a plain web address. */
export function quotedAddress(url: string | null): string | null {
  const address = webAddress(url);
  return address !== null && /^[\x21-\x7e]+$/.test(address) && address.length <= mostAddress ? address : null;
}

/** @param name of the field that is the body */
export function quotedTexts<Body>(body: Body, name = ""): Body {
  if (typeof body === "string") return quotedField(name, body) as Body;
  if (Array.isArray(body)) return body.map((one: unknown) => quotedTexts(one, name)) as Body;
  if (typeof body !== "object" || body === null) return body;
  return Object.fromEntries(Object.entries(body).map(([key, value]) => [key, quotedTexts(value, key)])) as Body;
}

function quotedField(name: string, text: string): string | null {
  if (name === "url" || name === "page") return quotedAddress(text);
  return quoted(text, name === "name" || name === "label" ? mostName : name === "detail" ? mostDetail : mostTitle);
}

/** Why something failed, of which a server may have written parts. */
export function quotedError({ message }: Error): string {
  return quoted(message, mostDetail);
}
